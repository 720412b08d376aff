/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/backend.h"

#include "kit/intake/uploads.h"

#include <stdlib.h>

static unsigned count_waiting(void *of)
{
    unsigned open, idle, waiting;

    mk_upstream_load(of, &open, &idle, &waiting);
    return waiting;
}

static void free_backend(struct backend *b)
{
    uploads_free(b->uploads);
    mk_upstream_free(b->upstream);
    free(b);
}

struct backend *backend_new(struct mk_server *server, const struct backend_options *options)
{
    const struct mk_upstream_options upstream = {
        .size = sizeof(upstream),
        .host = options->host,
        .port = options->port,
        .max_connections = options->max_connections,
        .max_idle = options->max_connections,
        .max_waiting = options->max_waiting,
        .connect_ms = options->connect_ms,
        .idle_ms = options->idle_ms,
        .queue_ms = options->queue_ms,
        .max_uses = options->max_requests,
    };
    struct backend *b = calloc(1, sizeof(*b));

    if (!b)
        return NULL;
    counted_init(&b->refs, 1);
    b->max_connections = options->max_connections;
    b->upstream = mk_upstream_new(server, &upstream);
    b->uploads = b->upstream ? uploads_new(count_waiting, b->upstream) : NULL;
    if (!b->uploads) {
        free_backend(b);
        return NULL;
    }
    return b;
}

struct backend *backend_get(struct backend *b)
{
    counted_get(&b->refs);
    return b;
}

void backend_put(struct backend *b)
{
    if (!b || !counted_put(&b->refs))
        return;
    free_backend(b);
}

struct choice backend_choice(struct backend *b)
{
    return (struct choice){
        .busy = atomic_load_explicit(&b->busy, memory_order_relaxed),
        .max = b->max_connections,
        .offline_until_ms = atomic_load_explicit(&b->offline_until_ms, memory_order_relaxed),
    };
}

bool backend_failed(struct backend *b, int64_t now_ms, int64_t offline_ms)
{
    if (offline_ms == 0)
        return false;
    return atomic_exchange_explicit(&b->offline_until_ms, now_ms + offline_ms,
                                    memory_order_relaxed) == 0;
}

void backend_remember(struct backend *b, const struct backend *old)
{
    atomic_store_explicit(&b->offline_until_ms,
                          atomic_load_explicit(&old->offline_until_ms, memory_order_relaxed),
                          memory_order_relaxed);
}

bool backend_works(struct backend *b)
{
    if (atomic_load_explicit(&b->offline_until_ms, memory_order_relaxed) == 0)
        return false;
    return atomic_exchange_explicit(&b->offline_until_ms, 0, memory_order_relaxed) != 0;
}
