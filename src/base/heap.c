/* SPDX-License-Identifier: Apache-2.0 */
#include "base/heap.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

static atomic_long fail_countdown = -1;
static atomic_long live;

static bool must_fail(void)
{
    if (atomic_load_explicit(&fail_countdown, memory_order_relaxed) < 0)
        return false;
    return atomic_fetch_sub_explicit(&fail_countdown, 1, memory_order_relaxed) == 0;
}

static void *counted(void *p)
{
    if (p)
        atomic_fetch_add_explicit(&live, 1, memory_order_relaxed);
    return p;
}

void *mk_heap_alloc(size_t size)
{
    return must_fail() ? NULL : counted(malloc(size));
}

void *mk_heap_zalloc(size_t count, size_t size)
{
    return must_fail() ? NULL : counted(calloc(count, size));
}

void *mk_heap_resize(void *p, size_t size)
{
    if (must_fail())
        return NULL;
    return p ? realloc(p, size) : counted(malloc(size));
}

char *mk_heap_strdup(struct mk_str s)
{
    char *copy = mk_heap_alloc(s.len + 1);

    if (!copy)
        return NULL;
    if (s.len > 0)
        memcpy(copy, s.p, s.len);
    copy[s.len] = '\0';
    return copy;
}

void *mk_heap_map(size_t size)
{
    char *p, *aligned;
    size_t before;

    if (must_fail())
        return NULL;
    p = mmap(NULL, size * 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    before = (size_t)(-(uintptr_t)p & (size - 1));
    aligned = p + before;
    if (before > 0)
        (void)munmap(p, before);
    if (before < size)
        (void)munmap(aligned + size, size - before);
    return counted(aligned);
}

void mk_heap_unmap(void *p, size_t size)
{
    atomic_fetch_sub_explicit(&live, 1, memory_order_relaxed);
    (void)munmap(p, size);
}

void mk_heap_free(void *p)
{
    if (p)
        atomic_fetch_sub_explicit(&live, 1, memory_order_relaxed);
    free(p);
}

void mk_heap_trim(void)
{
#ifdef __GLIBC__
    (void)malloc_trim(0);
#endif
}

void mk_heap_fail_after(long n)
{
    atomic_store(&fail_countdown, n);
}

long mk_heap_live(void)
{
    return atomic_load(&live);
}
