/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_H2_FAILING_H
#define TEST_H2_FAILING_H

#include <stdlib.h>

/* Allocations that fail: set fails_in to the number of the one that does. */

static unsigned fails_in; /* 0: none */

/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) -- the names that the linker's --wrap gives */
void *__real_malloc(size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_malloc(size_t size)
{
    return fails_in > 0 && --fails_in == 0 ? NULL : __real_malloc(size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails_in > 0 && --fails_in == 0 ? NULL : __real_realloc(old, size);
}
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

#endif
