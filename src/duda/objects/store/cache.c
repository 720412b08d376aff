/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/store/cache_store.h"
#include "objects/objects.h"
#include "service/request.h"

#include <pthread.h>
#include <time.h>

/* Caches of a service, each with a lock. */

struct duda_cache {
    struct duda_cache *next;
    pthread_mutex_t lock;
    struct mk_duda_cache_store *store;
    uint64_t lasts_ms; /* of values that say nothing else; 0: for ever */
};

struct caches {
    struct duda_cache *first;
};

static uint64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static duda_cache_t *create(size_t max, unsigned seconds)
{
    struct mk_duda_service *s = mk_duda_here()->service;
    struct caches *caches = s ? mk_duda_state(s, MK_DUDA_PART_CACHE) : NULL;
    struct duda_cache *c = NULL;

    if (caches && mk_duda_is_set_up(s, "cache->create"))
        c = mk_duda_alloc(s, sizeof(*c));
    if (!c)
        return NULL;
    c->lasts_ms = (uint64_t)seconds * 1000;
    c->store = mk_duda_cache_new(max);
    if (!c->store || pthread_mutex_init(&c->lock, NULL) != 0) {
        mk_duda_cache_free(c->store);
        return NULL;
    }
    c->next = caches->first;
    caches->first = c;
    return c;
}

static int keep(duda_cache_t *c, const char *key, const void *value, size_t len, uint64_t lasts_ms)
{
    bool is_kept;

    if (!c || !key || (!value && len > 0))
        return -1;
    (void)pthread_mutex_lock(&c->lock);
    is_kept = mk_duda_cache_set(c->store, key, value, len, lasts_ms ? now_ms() + lasts_ms : 0);
    (void)pthread_mutex_unlock(&c->lock);
    return is_kept ? 0 : -1;
}

static int set(duda_cache_t *c, const char *key, const void *value, size_t len)
{
    return keep(c, key, value, len, c ? c->lasts_ms : 0);
}

static int set_for(duda_cache_t *c, const char *key, const void *value, size_t len, unsigned ms)
{
    return keep(c, key, value, len, ms);
}

static void *get(duda_cache_t *c, const char *key, size_t *len)
{
    struct mk_str value = {NULL, 0};
    char *copy;

    if (!c || !key)
        return NULL;
    (void)pthread_mutex_lock(&c->lock);
    value.p = mk_duda_cache_get(c->store, key, &value.len, now_ms());
    copy = value.p ? mk_duda_request_copy(NULL, value) : NULL;
    (void)pthread_mutex_unlock(&c->lock);
    if (copy && len)
        *len = value.len;
    return copy;
}

static int drop(duda_cache_t *c, const char *key)
{
    bool was_there;

    if (!c || !key)
        return -1;
    (void)pthread_mutex_lock(&c->lock);
    was_there = mk_duda_cache_drop(c->store, key);
    (void)pthread_mutex_unlock(&c->lock);
    return was_there ? 0 : -1;
}

/* Threads of its own may use them until the process ends. */
static void end(struct mk_duda_service *s)
{
    struct caches *caches = mk_duda_state(s, MK_DUDA_PART_CACHE);

    for (struct duda_cache *c = s->is_outlived ? NULL : caches->first; c; c = c->next) {
        mk_duda_cache_free(c->store);
        (void)pthread_mutex_destroy(&c->lock);
    }
}

const struct mk_duda_part mk_duda_cache_part = {.service_size = sizeof(struct caches), .exit = end};

const struct duda_api_cache mk_duda_cache = {
    .create = create, .set = set, .get = get, .drop = drop, .set_for = set_for};
