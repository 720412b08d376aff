/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_CACHE_H
#define KIT_CACHE_H

#include <monkey/types.h>

#include <stdbool.h>
#include <stdint.h>

/* Values by key in bounded memory; the one that was not used for the longest time makes room. Any thread. */

enum { CACHE_MIN = 4096 }; /* bytes of the smallest one */

struct cache;

struct cache_limits {
    size_t bytes;   /* of keys, values and what they need; at least CACHE_MIN */
    size_t entries; /* 0: as many as the bytes hold */
};

/** What has happened so far, and what is there, expired values among it. */
struct cache_facts {
    size_t entries, bytes;
    uint64_t hits, misses;
    uint64_t displaced; /* values that made room for others */
};

/** @return NULL without memory. */
struct cache *cache_new(const struct cache_limits *limits);
/** NULL is allowed. */
void cache_free(struct cache *c);

/**
 * Keep a copy of a value in place of the key's old one, which goes in any case.
 * @param lasts_ms  it expires after so long, give or take a tick of the kernel; 0: never
 * @return 0; MK_E_LIMIT: key and value need more than a quarter of the bytes; MK_E_NOMEM.
 */
int cache_set(struct cache *c, struct mk_str key, struct mk_str value, uint64_t lasts_ms);

/** Takes a value, valid during the call, in which the cache is locked. */
typedef void (*cache_take_fn)(void *arg, struct mk_str value);
/** @return false: there is none, and take was not called. */
bool cache_get(struct cache *c, struct mk_str key, cache_take_fn take, void *arg);

/** @return false: there was none. */
bool cache_drop(struct cache *c, struct mk_str key);
/** Drop all. */
void cache_clear(struct cache *c);
void cache_facts(struct cache *c, struct cache_facts *facts);

#endif
