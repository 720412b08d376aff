/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BASE_POOL_H
#define MK_BASE_POOL_H

#include <monkey/types.h>

#include "base/list.h"

#include <stdbool.h>

enum { MK_POOL_SOME = 2 * 63 };

/*
 * Blocks of one size for one thread. They come in chunks mapped from the system, of which only
 * the pages in use cost memory; pages that a peak has left behind go back with mk_pool_trim.
 * The address sanitizer reports an access to a block that is not out, or behind its size.
 */
struct mk_pool {
    size_t size;       /* of a block, as asked for */
    size_t block_size; /* rounded up for alignment */
    size_t chunk_size; /* a power of two; chunks are aligned to it */
    struct mk_list free_chunks, full_chunks;
    size_t used; /* blocks handed out */
    size_t peak; /* most blocks out since the last trim */
};

/** @param block_size  at least 64. Allocates nothing yet. */
void mk_pool_init(struct mk_pool *p, size_t block_size);
/** All blocks must have been put back. */
void mk_pool_fini(struct mk_pool *p);

/** @return an uninitialised block, aligned to 64 bytes, or NULL. */
void *mk_pool_get(struct mk_pool *p) MK_MUST_USE;
void mk_pool_put(struct mk_pool *p, void *block);

/** Call fn for every block that is out. fn may neither get nor put blocks of this pool. */
void mk_pool_each(struct mk_pool *p, void (*fn)(void *block, void *arg), void *arg);

/** The same for at most MK_POOL_SOME blocks, other ones at each call until all had their turn. Costs no more for a large pool. */
void mk_pool_some(struct mk_pool *p, void (*fn)(void *block, void *arg), void *arg);

/**
 * Give back to the system what was not needed since the last call; call it at most once a second.
 * @return true: there may be more to give back at the next call.
 */
bool mk_pool_trim(struct mk_pool *p);

#endif
