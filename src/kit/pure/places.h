/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_PURE_PLACES_H
#define KIT_PURE_PLACES_H

#include <stdint.h>

/*
 * A number for each of many keys in memory that never grows. A key has a few places; if others have them all, the one with the
 * lowest number is forgotten: of buckets that is the fullest, so a flood of new keys forgives at most as much as the least
 * indebted of them owes. Who chooses keys must not choose hashes: these are keyed. One thread at a time for each set.
 */

enum { PLACES_WAYS = 8 };

struct place {
    uint64_t hash; /* of the key, by which it is known; 0: the place was never used */
    int64_t number;
};

/** The hash of a key as places know it. */
static inline uint64_t places_hash(uint64_t hash)
{
    return hash ? hash : 1;
}

/** The set of the places that a key may have, of nsets. */
static inline uint32_t places_set(uint64_t hash, uint32_t nsets)
{
    return (uint32_t)((hash >> 32) * nsets >> 32);
}

/**
 * @param places  PLACES_WAYS * nsets, zeroed at first
 * @return the place that has this hash, or the one that the key may take over: its number is the lowest of the set.
 */
struct place *places_get(struct place *places, uint32_t nsets, uint64_t hash);

#endif
