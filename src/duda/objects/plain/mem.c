/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/objects.h"

/* The allocator of the process, so that services may mix it with malloc() and free() of their own. */

static void *mem_alloc(const size_t size)
{
    return malloc(size);
}

static void *mem_alloc_z(const size_t size)
{
    return calloc(1, size);
}

static void *mem_realloc(void *ptr, const size_t size)
{
    return realloc(ptr, size);
}

static void mem_free(void *ptr)
{
    free(ptr);
}

const struct duda_api_mem mk_duda_mem = {
    .alloc = mem_alloc,
    .alloc_z = mem_alloc_z,
    .realloc = mem_realloc,
    .free = mem_free,
};
