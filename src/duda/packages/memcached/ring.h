/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_MEMCACHED_RING_H
#define MK_DUDA_MEMCACHED_RING_H

#include "kit/pure/ring.h"

/** FNV-1a of 32 bits with the final mix of MurmurHash3. */
uint32_t memc_hash(const void *bytes, size_t len);

/**
 * A ring on which each server has MEMC_POINTS points.
 * @param names  of n servers, at most MEMC_SERVERS_MAX; not kept
 * @return owned by the caller; NULL: no memory
 */
struct ring *memc_ring_new(const char *const *names, size_t n);

#endif
