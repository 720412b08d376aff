/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/cache/cache.h"
#include "objects/objects.h"
#include "service/request.h"

/* Caches of a service. */

struct duda_cache {
    struct duda_cache *next;
    struct cache *store;
    uint64_t lasts_ms; /* of values that say nothing else; 0: for ever */
};

struct caches {
    struct duda_cache *first;
};

static duda_cache_t *create(size_t max, unsigned seconds)
{
    const struct cache_limits limits = {.bytes = max};
    struct mk_duda_service *s = mk_duda_here()->service;
    struct caches *caches = s ? mk_duda_state(s, MK_DUDA_PART_CACHE) : NULL;
    struct duda_cache *c = NULL;

    if (caches && mk_duda_is_set_up(s, "cache->create"))
        c = mk_duda_alloc(s, sizeof(*c));
    if (!c)
        return NULL;
    c->lasts_ms = (uint64_t)seconds * 1000;
    c->store = cache_new(&limits);
    if (!c->store)
        return NULL;
    c->next = caches->first;
    caches->first = c;
    return c;
}

static int keep(duda_cache_t *c, const char *key, struct mk_str value, uint64_t lasts_ms)
{
    if (!c || !key || (!value.p && value.len > 0))
        return -1;
    return cache_set(c->store, mk_str_from(key), value, lasts_ms) < 0 ? -1 : 0;
}

static int set(duda_cache_t *c, const char *key, const void *value, size_t len)
{
    return keep(c, key, (struct mk_str){value, len}, c ? c->lasts_ms : 0);
}

static int set_for(duda_cache_t *c, const char *key, const void *value, size_t len, unsigned ms)
{
    return keep(c, key, (struct mk_str){value, len}, ms);
}

struct copy {
    char *p;
    size_t len;
};

static void take(void *arg, struct mk_str value)
{
    struct copy *copy = arg;

    *copy = (struct copy){mk_duda_request_copy(NULL, value), value.len};
}

static void *get(duda_cache_t *c, const char *key, size_t *len)
{
    struct copy copy = {NULL, 0};

    if (!c || !key || !cache_get(c->store, mk_str_from(key), take, &copy))
        return NULL;
    if (copy.p && len)
        *len = copy.len;
    return copy.p;
}

static int drop(duda_cache_t *c, const char *key)
{
    return c && key && cache_drop(c->store, mk_str_from(key)) ? 0 : -1;
}

/* Threads of its own may use them until the process ends. */
static void end(struct mk_duda_service *s)
{
    struct caches *caches = mk_duda_state(s, MK_DUDA_PART_CACHE);

    for (struct duda_cache *c = s->is_outlived ? NULL : caches->first; c; c = c->next)
        cache_free(c->store);
}

const struct mk_duda_part mk_duda_cache_part = {.service_size = sizeof(struct caches), .exit = end};

const struct duda_api_cache mk_duda_cache = {
    .create = create, .set = set, .get = get, .drop = drop, .set_for = set_for};
