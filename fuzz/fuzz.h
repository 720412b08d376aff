/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

/* What the targets share: the entry point, a check that stops, and copies without slack. */

#include <monkey/types.h>

#include <stdbool.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void require(bool holds)
{
    if (!holds)
        abort();
}

/** Bytes that steer a run, taken off the front of the input; zero when it is short. */
static inline unsigned take_byte(const uint8_t **data, size_t *size)
{
    if (*size == 0)
        return 0;
    (*size)--;
    return *(*data)++;
}

/** A copy of exactly len bytes, so that a sanitizer sees one byte read too far. */
static inline char *exact_copy(const void *bytes, size_t len)
{
    char *copy = malloc(len ? len : 1);

    require(copy != NULL);
    if (len > 0)
        memcpy(copy, bytes, len);
    return copy;
}

#endif
