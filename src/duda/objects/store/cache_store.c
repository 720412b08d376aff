/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/store/cache_store.h"

#include "kit/pure/hash.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

struct entry {
    struct entry *same;          /* of its bucket */
    struct entry *newer, *older; /* by use */
    uint64_t ends_ms;            /* 0: never */
    uint64_t hash;
    size_t key_len, len;
    char bytes[]; /* the key with its end, then the value */
};

struct mk_duda_cache_store {
    size_t max, used;
    uint64_t ttl_ms, seed;
    struct entry *newest, *oldest;
    size_t nbuckets; /* a power of two */
    struct entry *buckets[];
};

struct mk_duda_cache_store *mk_duda_cache_new(size_t max, uint64_t ttl_ms)
{
    enum { TYPICAL = 256, FEW = 16, MANY = 65536 };
    struct mk_duda_cache_store *s;
    size_t n = FEW;

    if (max < MK_DUDA_CACHE_MIN)
        max = MK_DUDA_CACHE_MIN;
    while (n < MANY && n < max / TYPICAL)
        n *= 2;
    s = calloc(1, sizeof(*s) + n * sizeof(struct entry *));
    if (!s)
        return NULL;
    s->max = max;
    s->ttl_ms = ttl_ms;
    s->nbuckets = n;
    (void)!getrandom(&s->seed, sizeof(s->seed), GRND_NONBLOCK);
    return s;
}

void mk_duda_cache_free(struct mk_duda_cache_store *s)
{
    while (s && s->newest) {
        struct entry *older = s->newest->older;

        free(s->newest);
        s->newest = older;
    }
    free(s);
}

/* From a seed of the store's own: clients cannot aim at one bucket. */
static uint64_t hash_of(const struct mk_duda_cache_store *s, const char *key)
{
    const uint64_t hash = hash_64(HASH_START_64 ^ s->seed, key, strlen(key));

    return hash ^ (hash >> 32);
}

static struct entry **place_of(struct mk_duda_cache_store *s, const char *key, uint64_t hash)
{
    struct entry **at = &s->buckets[hash & (s->nbuckets - 1)];

    while (*at && ((*at)->hash != hash || strcmp((*at)->bytes, key) != 0))
        at = &(*at)->same;
    return at;
}

static size_t cost_of(size_t key_len, size_t len)
{
    return sizeof(struct entry) + key_len + 1 + len;
}

/* ---- the order of use ---- */

static void leave_order(struct mk_duda_cache_store *s, struct entry *e)
{
    if (e->newer)
        e->newer->older = e->older;
    else
        s->newest = e->older;
    if (e->older)
        e->older->newer = e->newer;
    else
        s->oldest = e->newer;
}

static void make_newest(struct mk_duda_cache_store *s, struct entry *e)
{
    e->newer = NULL;
    e->older = s->newest;
    if (s->newest)
        s->newest->newer = e;
    else
        s->oldest = e;
    s->newest = e;
}

/* ---- calls ---- */

static void drop_at(struct mk_duda_cache_store *s, struct entry **at)
{
    struct entry *e = *at;

    *at = e->same;
    leave_order(s, e);
    s->used -= cost_of(e->key_len, e->len);
    free(e);
}

bool mk_duda_cache_drop(struct mk_duda_cache_store *s, const char *key)
{
    struct entry **at = place_of(s, key, hash_of(s, key));

    if (!*at)
        return false;
    drop_at(s, at);
    return true;
}

static void make_room(struct mk_duda_cache_store *s, size_t cost)
{
    while (s->oldest && s->used + cost > s->max)
        drop_at(s, place_of(s, s->oldest->bytes, s->oldest->hash));
}

bool mk_duda_cache_set(struct mk_duda_cache_store *s, const char *key, const void *value,
                       size_t len, uint64_t now_ms)
{
    const size_t key_len = strlen(key), most = s->max / 4;
    struct entry *e = NULL, **at;

    (void)mk_duda_cache_drop(s, key);
    if (key_len < most && len < most && cost_of(key_len, len) <= most)
        e = malloc(cost_of(key_len, len));
    if (!e)
        return false;
    make_room(s, cost_of(key_len, len));
    e->hash = hash_of(s, key);
    e->key_len = key_len;
    e->len = len;
    e->ends_ms = s->ttl_ms ? now_ms + s->ttl_ms : 0;
    memcpy(e->bytes, key, key_len + 1);
    if (len > 0)
        memcpy(e->bytes + key_len + 1, value, len);
    at = &s->buckets[e->hash & (s->nbuckets - 1)];
    e->same = *at;
    *at = e;
    make_newest(s, e);
    s->used += cost_of(key_len, len);
    return true;
}

const void *mk_duda_cache_get(struct mk_duda_cache_store *s, const char *key, size_t *len,
                              uint64_t now_ms)
{
    struct entry **at = place_of(s, key, hash_of(s, key)), *e = *at;

    if (!e)
        return NULL;
    if (e->ends_ms && e->ends_ms <= now_ms) {
        drop_at(s, at);
        return NULL;
    }
    leave_order(s, e);
    make_newest(s, e);
    *len = e->len;
    return e->bytes + e->key_len + 1;
}
