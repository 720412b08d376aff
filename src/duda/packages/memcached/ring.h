/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_MEMCACHED_RING_H
#define MK_DUDA_MEMCACHED_RING_H

#include <stddef.h>
#include <stdint.h>

/*
 * Consistent hashing as ketama does it: each server has MEMC_POINTS points on a ring, and a key belongs to the next point.
 * A server that goes leaves its keys to the next servers, and moves no others.
 */

struct memc_ring;

/** FNV-1a of 32 bits with the final mix of MurmurHash3. */
uint32_t memc_hash(const void *bytes, size_t len);

/** @param names  of n servers, at most MEMC_SERVERS_MAX; not kept. @return owned by the caller; NULL: no memory */
struct memc_ring *memc_ring_new(const char *const *names, size_t n);

/** NULL is allowed. */
void memc_ring_free(struct memc_ring *ring);

/** @param alive  a bit for each server that may be chosen. @return the server of a key with this hash; -1: none is alive */
int memc_ring_find(const struct memc_ring *ring, uint32_t hash, uint64_t alive);

#endif
