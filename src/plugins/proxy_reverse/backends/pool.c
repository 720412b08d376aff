/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/pool.h"

#include "kit/intake/uploads.h"

#include <stdatomic.h>
#include <stdlib.h>

struct proxy_pool {
    _Atomic unsigned refs;
    struct mk_upstream *upstream;
    struct uploads *uploads;
    struct mk_upstream_options options; /* its texts are behind it */
};

/* Bytes as they are, which is what no transport means. */
static bool is_plain(const char *transport)
{
    return transport && strcmp(transport, "liana") == 0;
}

struct mk_upstream_options proxy_pool_options(const struct proxy_settings *set,
                                              const struct proxy_server *server)
{
    return (struct mk_upstream_options){
        .size = sizeof(struct mk_upstream_options),
        .host = server->host,
        .port = server->port,
        .transport = is_plain(set->transport) ? NULL : set->transport,
        .name = set->server_name ? set->server_name : server->host,
        .max_connections = (unsigned)set->max_connections,
        .max_idle = (unsigned)set->keep_alive,
        .max_waiting = (unsigned)set->queue,
        .connect_ms = (unsigned)set->connect_ms,
        .idle_ms = (unsigned)set->idle_ms,
        .queue_ms = (unsigned)set->queue_ms,
    };
}

static size_t room_for(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

/* Copy a text to where there is room. */
static const char *take_text(char **room, const char *text)
{
    char *copy = *room;

    if (!text)
        return NULL;
    memcpy(copy, text, strlen(text) + 1);
    *room += strlen(text) + 1;
    return copy;
}

static unsigned count_waiting(void *of)
{
    unsigned open, idle, waiting;

    mk_upstream_load(of, &open, &idle, &waiting);
    return waiting;
}

static void free_pool(struct proxy_pool *pool)
{
    uploads_free(pool->uploads);
    mk_upstream_free(pool->upstream);
    free(pool);
}

struct proxy_pool *proxy_pool_new(struct mk_server *server, const struct mk_upstream_options *like)
{
    struct proxy_pool *pool = malloc(sizeof(*pool) + room_for(like->host) + room_for(like->name) +
                                     room_for(like->transport));
    char *room = (char *)(pool + 1);

    if (!pool)
        return NULL;
    *pool = (struct proxy_pool){.refs = 1, .options = *like};
    pool->options.host = take_text(&room, like->host);
    pool->options.name = take_text(&room, like->name);
    pool->options.transport = take_text(&room, like->transport);
    pool->upstream = mk_upstream_new(server, &pool->options);
    if (pool->upstream)
        pool->uploads = uploads_new(count_waiting, pool->upstream);
    if (pool->uploads)
        return pool;
    free_pool(pool);
    return NULL;
}

static bool is_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

bool proxy_pool_is(const struct proxy_pool *pool, const struct mk_upstream_options *options)
{
    const struct mk_upstream_options *o = &pool->options;

    /* Whom a transport trusts is its own settings', which may have changed: its connections begin anew. */
    return mk_upstream_is_trusted(pool->upstream) && !o->transport && !options->transport &&
           is_text(o->host, options->host) && o->port == options->port &&
           is_text(o->name, options->name) && o->max_connections == options->max_connections &&
           o->max_idle == options->max_idle && o->max_waiting == options->max_waiting &&
           o->connect_ms == options->connect_ms && o->idle_ms == options->idle_ms &&
           o->queue_ms == options->queue_ms;
}

struct proxy_pool *proxy_pool_get(struct proxy_pool *pool)
{
    atomic_fetch_add_explicit(&pool->refs, 1, memory_order_relaxed);
    return pool;
}

void proxy_pool_put(struct proxy_pool *pool)
{
    if (!pool || atomic_fetch_sub(&pool->refs, 1) != 1)
        return;
    free_pool(pool);
}

struct mk_upstream *proxy_pool_upstream(const struct proxy_pool *pool)
{
    return pool->upstream;
}

struct uploads *proxy_pool_uploads(const struct proxy_pool *pool)
{
    return pool->uploads;
}
