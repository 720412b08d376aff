/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_WEB_FAILING_H
#define TESTS_WEB_FAILING_H

#include <stdlib.h>
#include <threads.h>

/* Allocations of this thread that fail, as far as they do not pass the library's own heap. */

static thread_local unsigned fails_in; /* the number of the one that fails; 0: none */

/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) -- the names that the linker's --wrap gives */
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);

void *__wrap_malloc(size_t size)
{
    return fails_in > 0 && --fails_in == 0 ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails_in > 0 && --fails_in == 0 ? NULL : __real_calloc(n, size);
}
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

#endif
