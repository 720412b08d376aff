/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/backends/pool.h"

#include "kit/intake/uploads.h"

#include <stdlib.h>

static size_t room_for(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

/* Copy a text to where there is room. */
static const char *take_text(char **room, const char *text)
{
    size_t size = room_for(text);
    char *copy = *room;

    if (!text)
        return NULL;
    memcpy(copy, text, size);
    *room += size;
    return copy;
}

/* An idle connection of another worker is closed for each request that waits, so that no upload must end for it. */
static unsigned count_waiting(void *of)
{
    unsigned open, idle, waiting;

    mk_upstream_load(of, &open, &idle, &waiting);
    return waiting > idle ? waiting - idle : 0;
}

static void free_pool(struct backend_pool *pool)
{
    uploads_free(pool->uploads);
    mk_upstream_free(pool->upstream);
    free(pool);
}

struct backend_pool *backend_pool_new(struct mk_server *server,
                                      const struct mk_upstream_options *like)
{
    struct backend_pool *pool = malloc(sizeof(*pool) + room_for(like->host) + room_for(like->name) +
                                       room_for(like->transport) + room_for(like->protocol));
    char *room = (char *)(pool + 1);

    if (!pool)
        return NULL;
    *pool = (struct backend_pool){.options = *like};
    counted_init(&pool->refs, 1);
    pool->options.host = take_text(&room, like->host);
    pool->options.name = take_text(&room, like->name);
    pool->options.transport = take_text(&room, like->transport);
    pool->options.protocol = take_text(&room, like->protocol);
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

bool backend_pool_is(const struct backend_pool *pool, const struct mk_upstream_options *options)
{
    const struct mk_upstream_options *o = &pool->options;

    /* Whom a transport trusts is its own settings', which may have changed. */
    return mk_upstream_is_trusted(pool->upstream) && !o->transport && !options->transport &&
           is_text(o->host, options->host) && o->port == options->port &&
           is_text(o->name, options->name) && is_text(o->protocol, options->protocol) &&
           o->max_connections == options->max_connections && o->max_idle == options->max_idle &&
           o->max_waiting == options->max_waiting && o->connect_ms == options->connect_ms &&
           o->idle_ms == options->idle_ms && o->queue_ms == options->queue_ms &&
           o->max_uses == options->max_uses;
}

struct backend_pool *backend_pool_get(struct backend_pool *pool)
{
    counted_get(&pool->refs);
    return pool;
}

void backend_pool_put(struct backend_pool *pool)
{
    if (pool && counted_put(&pool->refs))
        free_pool(pool);
}
