/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_PURE_RING_H
#define KIT_PURE_RING_H

#include <stddef.h>
#include <stdint.h>

/*
 * Consistent hashing as ketama does it: each owner has points on a ring, and a key belongs to the next point. An owner that
 * goes leaves its keys to the next ones, and moves no others. Once it is sorted a ring does not change: any thread.
 */

struct ring;

enum { RING_OWNERS_MAX = UINT16_MAX };

/** @return a ring with room for so many points, owned by the caller; NULL: no memory. */
struct ring *ring_new(size_t npoints);
/** NULL is allowed. */
void ring_free(struct ring *ring);

/** One of the points there is room for. @param owner  less than RING_OWNERS_MAX */
void ring_add(struct ring *ring, uint32_t at, unsigned owner);
/** After the last point. Of points at the same place the one of the lowest owner comes first. */
void ring_sort(struct ring *ring);

/**
 * @param may  a bit for each owner that may be chosen, 64 a word, from the lowest
 * @return the owner of the first point at `at` or after it that may be chosen; -1: none may.
 */
int ring_find(const struct ring *ring, uint32_t at, const uint64_t *may);

#endif
