/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/cache/cache.h"

#include "kit/clock/clock.h"
#include "kit/pure/hash.h"
#include "kit/pure/lru.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

struct entry {
    struct lru_entry use; /* first */
    uint64_t ends_ms;     /* UINT64_MAX: never */
    size_t key_len, len;
    char bytes[]; /* the key, then the value */
};

struct cache {
    pthread_mutex_t lock; /* of all that follows but limits and seed */
    struct cache_limits limits;
    uint64_t seed;
    size_t used;
    uint64_t hits, misses, displaced;
    struct lru map;
};

/* ---- life ---- */

struct cache *cache_new(const struct cache_limits *limits)
{
    enum { FEW = 16 };
    struct cache *c = calloc(1, sizeof(*c));

    if (!c || !lru_init(&c->map, FEW)) {
        free(c);
        return NULL;
    }
    c->limits = *limits;
    if (c->limits.bytes < CACHE_MIN)
        c->limits.bytes = CACHE_MIN;
    if (c->limits.entries == 0)
        c->limits.entries = SIZE_MAX;
    (void)!getrandom(&c->seed, sizeof(c->seed), GRND_NONBLOCK);
    (void)pthread_mutex_init(&c->lock, NULL); /* cannot fail on Linux */
    return c;
}

void cache_free(struct cache *c)
{
    if (!c)
        return;
    cache_clear(c);
    lru_fini(&c->map);
    (void)pthread_mutex_destroy(&c->lock);
    free(c);
}

/* ---- with the lock ---- */

/* From a seed of its own: clients cannot aim at one bucket. */
static uint64_t hash_of(const struct cache *c, struct mk_str key)
{
    return hash_mix_64(hash_64(HASH_START_64 ^ c->seed, key.p, key.len));
}

static struct entry *of_use(struct lru_entry *use)
{
    return (struct entry *)(void *)use;
}

static bool has_key(const struct entry *e, struct mk_str key)
{
    return e->key_len == key.len && (key.len == 0 || memcmp(e->bytes, key.p, key.len) == 0);
}

static size_t cost_of(size_t key_len, size_t len)
{
    return sizeof(struct entry) + key_len + len;
}

static void drop(struct cache *c, struct entry *e)
{
    lru_remove(&c->map, &e->use);
    c->used -= cost_of(e->key_len, e->len);
    free(e);
}

/* @return NULL: there is none, or it has expired and is dropped */
static struct entry *find(struct cache *c, struct mk_str key)
{
    const uint64_t hash = hash_of(c, key);
    struct lru_entry *use = lru_first(&c->map, hash);

    while (use && (use->hash != hash || !has_key(of_use(use), key)))
        use = use->same;
    if (use && of_use(use)->ends_ms <= (uint64_t)clock_tick_ms()) {
        drop(c, of_use(use));
        return NULL;
    }
    return of_use(use);
}

static void make_room(struct cache *c, size_t cost)
{
    while (c->map.oldest &&
           (c->used + cost > c->limits.bytes || c->map.count >= c->limits.entries)) {
        drop(c, of_use(c->map.oldest));
        c->displaced++;
    }
}

static void add(struct cache *c, struct entry *e)
{
    const size_t cost = cost_of(e->key_len, e->len);

    make_room(c, cost);
    lru_grow(&c->map);
    lru_add(&c->map, &e->use);
    c->used += cost;
}

/* ---- calls ---- */

static uint64_t end_of(uint64_t lasts_ms)
{
    const uint64_t now = (uint64_t)clock_tick_ms();

    return lasts_ms == 0 || lasts_ms > UINT64_MAX - now ? UINT64_MAX : now + lasts_ms;
}

static struct entry *new_entry(const struct cache *c, struct mk_str key, struct mk_str value,
                               uint64_t lasts_ms)
{
    struct entry *e = malloc(cost_of(key.len, value.len));

    if (!e)
        return NULL;
    *e = (struct entry){.use = {.hash = hash_of(c, key)},
                        .ends_ms = end_of(lasts_ms),
                        .key_len = key.len,
                        .len = value.len};
    if (key.len > 0)
        memcpy(e->bytes, key.p, key.len);
    if (value.len > 0)
        memcpy(e->bytes + key.len, value.p, value.len);
    return e;
}

int cache_set(struct cache *c, struct mk_str key, struct mk_str value, uint64_t lasts_ms)
{
    const size_t most = c->limits.bytes / 4;
    const bool fits = key.len < most && value.len < most && cost_of(key.len, value.len) <= most;
    struct entry *e = fits ? new_entry(c, key, value, lasts_ms) : NULL, *old;

    (void)pthread_mutex_lock(&c->lock);
    old = find(c, key);
    if (old)
        drop(c, old);
    if (e)
        add(c, e);
    (void)pthread_mutex_unlock(&c->lock);
    return e ? 0 : fits ? MK_E_NOMEM : MK_E_LIMIT;
}

bool cache_get(struct cache *c, struct mk_str key, cache_take_fn take, void *arg)
{
    struct entry *e;

    (void)pthread_mutex_lock(&c->lock);
    e = find(c, key);
    if (e) {
        lru_use(&c->map, &e->use);
        take(arg, (struct mk_str){e->bytes + e->key_len, e->len});
    }
    c->hits += e != NULL;
    c->misses += e == NULL;
    (void)pthread_mutex_unlock(&c->lock);
    return e != NULL;
}

bool cache_drop(struct cache *c, struct mk_str key)
{
    struct entry *e;

    (void)pthread_mutex_lock(&c->lock);
    e = find(c, key);
    if (e)
        drop(c, e);
    (void)pthread_mutex_unlock(&c->lock);
    return e != NULL;
}

void cache_clear(struct cache *c)
{
    (void)pthread_mutex_lock(&c->lock);
    while (c->map.oldest)
        drop(c, of_use(c->map.oldest));
    (void)pthread_mutex_unlock(&c->lock);
}

void cache_facts(struct cache *c, struct cache_facts *facts)
{
    (void)pthread_mutex_lock(&c->lock);
    *facts = (struct cache_facts){c->map.count, c->used, c->hits, c->misses, c->displaced};
    (void)pthread_mutex_unlock(&c->lock);
}
