/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_PURE_LRU_H
#define KIT_PURE_LRU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Entries of the caller's by hash, and in the order of their last use. A struct lru_entry is part of each; the caller compares
 * keys, counts what they need and frees them:
 *
 *     for (e = lru_first(l, hash); e; e = e->same) {
 *         if (e->hash == hash && is_key(e)) ...
 *
 * One thread at a time.
 */

struct lru_entry {
    struct lru_entry *same; /* the next of its bucket */
    struct lru_entry *newer, *older;
    uint64_t hash; /* of the key; where clients choose keys, a seeded one */
};

struct lru {
    struct lru_entry **buckets;
    size_t nbuckets, count;
    struct lru_entry *newest, *oldest;
};

/** @param nbuckets  a power of two. @return false: no memory */
bool lru_init(struct lru *l, size_t nbuckets);
/** Free the buckets, not the entries. All zero bytes are allowed. */
void lru_fini(struct lru *l);

/** Twice as many buckets if there are as many entries; without memory chains are longer. */
void lru_grow(struct lru *l);

/** @return the first entry whose hash may be this one; NULL: none. */
static inline struct lru_entry *lru_first(const struct lru *l, uint64_t hash)
{
    return l->buckets[hash & (l->nbuckets - 1)];
}

/** Add an entry, its hash set, as the newest. */
void lru_add(struct lru *l, struct lru_entry *entry);
/** Take an entry out. */
void lru_remove(struct lru *l, struct lru_entry *entry);
/** An entry is used now. */
void lru_use(struct lru *l, struct lru_entry *entry);

#endif
