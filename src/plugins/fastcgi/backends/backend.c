/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/backend.h"

#include <stdlib.h>

struct backend *fastcgi_backend_new(struct mk_server *server,
                                    const struct mk_upstream_options *options)
{
    struct backend *b = calloc(1, sizeof(*b));

    if (!b)
        return NULL;
    counted_init(&b->refs, 1);
    b->pool = backend_pool_new(server, options);
    if (b->pool)
        return b;
    free(b);
    return NULL;
}

struct backend *fastcgi_backend_get(struct backend *b)
{
    counted_get(&b->refs);
    return b;
}

void fastcgi_backend_put(struct backend *b)
{
    if (!b || !counted_put(&b->refs))
        return;
    backend_pool_put(b->pool);
    free(b);
}

struct choice fastcgi_backend_choice(struct backend *b)
{
    return (struct choice){
        .busy = atomic_load_explicit(&b->busy, memory_order_relaxed),
        .max = b->pool->options.max_connections,
        .offline_until_ms = atomic_load_explicit(&b->offline_until_ms, memory_order_relaxed),
    };
}

bool fastcgi_backend_failed(struct backend *b, int64_t now_ms, int64_t offline_ms)
{
    atomic_fetch_add_explicit(&b->failures, 1, memory_order_relaxed);
    if (offline_ms == 0)
        return false;
    return atomic_exchange_explicit(&b->offline_until_ms, now_ms + offline_ms,
                                    memory_order_relaxed) == 0;
}

void fastcgi_backend_remember(struct backend *b, const struct backend *old)
{
    atomic_store_explicit(&b->offline_until_ms,
                          atomic_load_explicit(&old->offline_until_ms, memory_order_relaxed),
                          memory_order_relaxed);
    atomic_store_explicit(&b->requests, atomic_load_explicit(&old->requests, memory_order_relaxed),
                          memory_order_relaxed);
    atomic_store_explicit(&b->failures, atomic_load_explicit(&old->failures, memory_order_relaxed),
                          memory_order_relaxed);
}

bool fastcgi_backend_works(struct backend *b)
{
    if (atomic_load_explicit(&b->offline_until_ms, memory_order_relaxed) == 0)
        return false;
    return atomic_exchange_explicit(&b->offline_until_ms, 0, memory_order_relaxed) != 0;
}
