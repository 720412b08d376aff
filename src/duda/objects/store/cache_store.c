/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/store/cache_store.h"

#include "kit/pure/hash.h"
#include "kit/pure/lru.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

struct entry {
    struct lru_entry use; /* first */
    uint64_t ends_ms;     /* 0: never */
    size_t key_len, len;
    char bytes[]; /* the key with its end, then the value */
};

struct mk_duda_cache_store {
    size_t max, used;
    uint64_t seed;
    struct lru map;
};

struct mk_duda_cache_store *mk_duda_cache_new(size_t max)
{
    enum { TYPICAL = 256, FEW = 16, MANY = 65536 };
    struct mk_duda_cache_store *s;
    size_t n = FEW;

    if (max < MK_DUDA_CACHE_MIN)
        max = MK_DUDA_CACHE_MIN;
    while (n < MANY && n < max / TYPICAL)
        n *= 2;
    s = calloc(1, sizeof(*s));
    if (!s || !lru_init(&s->map, n)) {
        free(s);
        return NULL;
    }
    s->max = max;
    (void)!getrandom(&s->seed, sizeof(s->seed), GRND_NONBLOCK);
    return s;
}

void mk_duda_cache_free(struct mk_duda_cache_store *s)
{
    struct lru_entry *use = s ? s->map.oldest : NULL;

    while (use) {
        struct lru_entry *newer = use->newer;

        free(use);
        use = newer;
    }
    if (s)
        lru_fini(&s->map);
    free(s);
}

/* From a seed of the store's own: clients cannot aim at one bucket. */
static uint64_t hash_of(const struct mk_duda_cache_store *s, const char *key)
{
    const uint64_t hash = hash_64(HASH_START_64 ^ s->seed, key, strlen(key));

    return hash ^ (hash >> 32);
}

static struct entry *of_use(struct lru_entry *use)
{
    return (struct entry *)use;
}

static struct entry *find(const struct mk_duda_cache_store *s, const char *key)
{
    const uint64_t hash = hash_of(s, key);
    struct lru_entry *use = lru_first(&s->map, hash);

    while (use && (use->hash != hash || strcmp(of_use(use)->bytes, key) != 0))
        use = use->same;
    return of_use(use);
}

static size_t cost_of(size_t key_len, size_t len)
{
    return sizeof(struct entry) + key_len + 1 + len;
}

/* ---- calls ---- */

static void drop(struct mk_duda_cache_store *s, struct entry *e)
{
    lru_remove(&s->map, &e->use);
    s->used -= cost_of(e->key_len, e->len);
    free(e);
}

bool mk_duda_cache_drop(struct mk_duda_cache_store *s, const char *key)
{
    struct entry *e = find(s, key);

    if (e)
        drop(s, e);
    return e != NULL;
}

static void make_room(struct mk_duda_cache_store *s, size_t cost)
{
    while (s->map.oldest && s->used + cost > s->max)
        drop(s, of_use(s->map.oldest));
}

bool mk_duda_cache_set(struct mk_duda_cache_store *s, const char *key, const void *value,
                       size_t len, uint64_t ends_ms)
{
    const size_t key_len = strlen(key), most = s->max / 4;
    struct entry *e = NULL;

    (void)mk_duda_cache_drop(s, key);
    if (key_len < most && len < most && cost_of(key_len, len) <= most)
        e = malloc(cost_of(key_len, len));
    if (!e)
        return false;
    make_room(s, cost_of(key_len, len));
    e->use.hash = hash_of(s, key);
    e->key_len = key_len;
    e->len = len;
    e->ends_ms = ends_ms;
    memcpy(e->bytes, key, key_len + 1);
    if (len > 0)
        memcpy(e->bytes + key_len + 1, value, len);
    lru_add(&s->map, &e->use);
    s->used += cost_of(key_len, len);
    return true;
}

const void *mk_duda_cache_get(struct mk_duda_cache_store *s, const char *key, size_t *len,
                              uint64_t now_ms)
{
    struct entry *e = find(s, key);

    if (!e)
        return NULL;
    if (e->ends_ms && e->ends_ms <= now_ms) {
        drop(s, e);
        return NULL;
    }
    lru_use(&s->map, &e->use);
    *len = e->len;
    return e->bytes + e->key_len + 1;
}
