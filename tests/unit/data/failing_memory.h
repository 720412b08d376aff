/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FAILING_MEMORY_H
#define FAILING_MEMORY_H

#include <stddef.h>
#include <stdlib.h>

/* Allocations of what is tested fail from a number on: the linker leads those of the program itself here (--wrap). */

static long memory_left = -1; /* allocations until they fail; -1: none does */

static int is_memory_gone(void)
{
    if (memory_left > 0)
        memory_left--;
    else if (memory_left == 0)
        return 1;
    return 0;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
char *__wrap_strdup(const char *text);

void *__wrap_malloc(size_t size)
{
    return is_memory_gone() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return is_memory_gone() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
    return is_memory_gone() ? NULL : __real_realloc(p, size);
}

char *__wrap_strdup(const char *text)
{
    return is_memory_gone() ? NULL : __real_strdup(text);
}

#endif
