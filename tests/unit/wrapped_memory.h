/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_WRAPPED_MEMORY_H
#define TESTS_WRAPPED_MEMORY_H

#include <stdlib.h>

/*
 * Allocations that fail: the linker leads those of the program itself here (--wrap). Include it in one file of a program, behind
 * `static bool memory_fails(void)`, which is asked for each allocation. A program in which realloc is wrapped too defines
 * WRAPS_REALLOC.
 */

/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) -- the names that --wrap gives */
void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);

void *__wrap_malloc(size_t size)
{
    return memory_fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return memory_fails() ? NULL : __real_calloc(n, size);
}

#ifdef WRAPS_REALLOC
void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);

void *__wrap_realloc(void *old, size_t size)
{
    return memory_fails() ? NULL : __real_realloc(old, size);
}
#endif
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

#endif
