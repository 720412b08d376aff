/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LIMIT_TABLE_H
#define LIMIT_TABLE_H

#include "kit/pure/bucket.h"

#include <monkey/types.h>

#include <stddef.h>
#include <stdint.h>

/*
 * The account of a rule: a bucket or a number of requests for each key, for all workers. The memory is fixed when it is
 * made. A key has a few places; if others have them all, the one whose bucket is fullest is forgotten, so a flood of new
 * keys forgives a client at most as much as the least indebted of them owes. Keys are known by a keyed hash of 64 bits.
 * Any thread.
 */

enum { TABLE_SHARDS = 64 }; /* mutexes */

struct table;

struct table_counts {
    uint64_t allowed, refused;
    uint64_t evictions; /* keys that were forgotten before their bucket was full */
    uint64_t uncounted; /* requests for whose key there was no place */
    uint64_t keys;      /* places that have been used */
};

/**
 * @param nkeys  rounded up to a multiple of PLACES_WAYS, > 0
 * @param secret of the hash, so that no client chooses places
 * @return the table, or NULL without memory.
 */
struct table *limit_table_new(uint32_t nkeys, const uint64_t secret[2]);
/** NULL is allowed. */
void limit_table_free(struct table *t);
size_t limit_table_bytes(const struct table *t);

/** SipHash-2-4 of a key. */
uint64_t limit_table_hash(const struct table *t, const void *key, size_t len);

/** A request of this key comes. @return 0: it has a token; > 0: nanoseconds until there is one. */
int64_t limit_table_take(struct table *t, uint64_t hash, const struct bucket_rate *rate,
                         int64_t now_ns);

enum table_entry {
    TABLE_ENTERED,   /* until limit_table_leave */
    TABLE_REFUSED,   /* there are max requests of this key */
    TABLE_UNCOUNTED, /* requests of other keys have all its places; not to be left */
};
/** A request of this key begins. A table has either buckets or requests. */
enum table_entry limit_table_enter(struct table *t, uint64_t hash, uint32_t max);
/** A request that was TABLE_ENTERED has ended. */
void limit_table_leave(struct table *t, uint64_t hash);

/** Add up what was counted. */
void limit_table_count(struct table *t, struct table_counts *counts);

#endif
