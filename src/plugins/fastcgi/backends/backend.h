/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FASTCGI_BACKEND_H
#define FASTCGI_BACKEND_H

#include "backends/choice.h"

#include "kit/backends/pool.h"

#include <stdatomic.h>

/*
 * What is known of one server while it runs: its connections, how much it has to do, and whether it is broken. It is free
 * of any configuration, so that a reload keeps it. Counted; everything may be called from any thread.
 */

struct backend {
    struct backend_pool *pool;
    struct counted refs;
    atomic_uint busy;                 /* requests that were given to it and have not ended */
    _Atomic int64_t offline_until_ms; /* 0: not known to be broken */
    _Atomic uint64_t requests,
        failures; /* attempts to get an answer, and of them those that failed */
};

/** @param options  of its connections, max_connections > 0. @return it, with one reference; NULL without memory. Control thread. */
struct backend *fastcgi_backend_new(struct mk_server *server,
                                    const struct mk_upstream_options *options);
struct backend *fastcgi_backend_get(struct backend *b);
/** NULL is allowed. */
void fastcgi_backend_put(struct backend *b);

struct choice fastcgi_backend_choice(struct backend *b);

/** It did not take or did not answer a request. @return whether this is news. */
bool fastcgi_backend_failed(struct backend *b, int64_t now_ms, int64_t offline_ms);
/** It is the same server as another, whose health and counters it takes over. */
void fastcgi_backend_remember(struct backend *b, const struct backend *old);
/** It answers. @return whether this is news. */
bool fastcgi_backend_works(struct backend *b);

#endif
