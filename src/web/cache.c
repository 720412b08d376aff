/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/web/cache.h>

#include "base/heap.h"
#include "kit/cache/cache.h"

#include <string.h>

/* The calls of <monkey/web/cache.h>: those of the kit, with options, a usual time and copies. */

_Static_assert((int)MK_CACHE_MIN == (int)CACHE_MIN, "the smallest cache is that of the kit");

enum { BYTES_USUAL = 1 << 20 };

struct mk_cache {
    struct cache *store;
    unsigned lasts_ms;
};

int mk_cache_new(struct mk_cache **cache, const struct mk_cache_options *options)
{
    struct mk_cache_options own = {0};
    struct mk_cache *c;

    if (!cache)
        return MK_E_INVALID;
    if (options)
        memcpy(&own, options, options->size < sizeof(own) ? options->size : sizeof(own));
    c = mk_heap_zalloc(1, sizeof(*c));
    if (!c)
        return MK_E_NOMEM;
    c->lasts_ms = own.lasts_ms;
    c->store = cache_new(
        &(struct cache_limits){own.bytes > 0 ? own.bytes : (size_t)BYTES_USUAL, own.entries});
    if (!c->store) {
        mk_heap_free(c);
        return MK_E_NOMEM;
    }
    *cache = c;
    return 0;
}

void mk_cache_free(struct mk_cache *cache)
{
    if (!cache)
        return;
    cache_free(cache->store);
    mk_heap_free(cache);
}

/* ---- in ---- */

static bool is_text(struct mk_str text)
{
    return text.p || text.len == 0;
}

int mk_cache_set(struct mk_cache *cache, struct mk_str key, struct mk_str value, unsigned lasts_ms)
{
    if (!cache || !key.p || !is_text(value))
        return MK_E_INVALID;
    return cache_set(cache->store, key, value, lasts_ms > 0 ? lasts_ms : cache->lasts_ms);
}

bool mk_cache_drop(struct mk_cache *cache, struct mk_str key)
{
    return cache && key.p && cache_drop(cache->store, key);
}

void mk_cache_clear(struct mk_cache *cache)
{
    if (cache)
        cache_clear(cache->store);
}

/* ---- out ---- */

struct room {
    char *p;
    size_t size, len;
};

static void copy(void *arg, struct mk_str value)
{
    struct room *room = arg;

    room->len = value.len;
    if (value.len > 0 && value.len <= room->size)
        memcpy(room->p, value.p, value.len);
}

ssize_t mk_cache_get(struct mk_cache *cache, struct mk_str key, char *dst, size_t size)
{
    struct room room = {dst, size, 0};

    if (!cache || !key.p || (!dst && size > 0))
        return MK_E_INVALID;
    return cache_get(cache->store, key, copy, &room) ? (ssize_t)room.len : MK_E_NOENT;
}

struct found {
    struct mk_request *r;
    struct mk_str text; /* p NULL: no memory */
};

static void copy_for_request(void *arg, struct mk_str value)
{
    struct found *found = arg;
    char *p = mk_request_alloc(found->r, value.len + 1);

    if (!p)
        return;
    if (value.len > 0)
        memcpy(p, value.p, value.len);
    p[value.len] = '\0';
    found->text = (struct mk_str){p, value.len};
}

int mk_cache_find(struct mk_cache *cache, struct mk_request *r, struct mk_str key,
                  struct mk_str *value)
{
    struct found found = {r, {NULL, 0}};

    if (!cache || !r || !key.p || !value)
        return MK_E_INVALID;
    if (!cache_get(cache->store, key, copy_for_request, &found))
        return MK_E_NOENT;
    if (!found.text.p)
        return MK_E_NOMEM;
    *value = found.text;
    return 0;
}

void mk_cache_facts(struct mk_cache *cache, struct mk_cache_facts *facts)
{
    struct cache_facts own = {0};
    struct mk_cache_facts said = {0};

    if (!facts)
        return;
    if (cache)
        cache_facts(cache->store, &own);
    said = (struct mk_cache_facts){.size = facts->size,
                                   .entries = own.entries,
                                   .bytes = own.bytes,
                                   .hits = own.hits,
                                   .misses = own.misses,
                                   .displaced = own.displaced};
    memcpy(facts, &said, facts->size < sizeof(said) ? facts->size : sizeof(said));
}
