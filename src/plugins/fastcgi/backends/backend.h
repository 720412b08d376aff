/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FASTCGI_BACKEND_H
#define FASTCGI_BACKEND_H

#include "backends/choice.h"

#include "kit/counted/counted.h"

#include <monkey/upstream.h>

#include <stdatomic.h>

/*
 * What is known of one server while it runs: its connections, how much it has to do, and whether it is broken. It is free
 * of any configuration, so that a reload keeps it. Counted; everything may be called from any thread.
 */

/** Those of a [FASTCGI_SERVER]; two that are equal are the same server. */
struct backend_options {
    const char *host; /* as for mk_resolve */
    unsigned port;
    unsigned max_connections, max_requests, max_waiting;
    unsigned connect_ms, queue_ms, idle_ms;
};

struct backend {
    struct mk_upstream *upstream;
    struct uploads *uploads; /* that hold its connections */
    unsigned max_connections;
    struct counted refs;
    atomic_uint busy;                 /* requests that were given to it and have not ended */
    _Atomic int64_t offline_until_ms; /* 0: not known to be broken */
};

/** @return it, with one reference; NULL without memory. Control thread. */
struct backend *backend_new(struct mk_server *server, const struct backend_options *options);
struct backend *backend_get(struct backend *b);
/** NULL is allowed. */
void backend_put(struct backend *b);

struct choice backend_choice(struct backend *b);

/** It did not take or did not answer a request. @return whether this is news. */
bool backend_failed(struct backend *b, int64_t now_ms, int64_t offline_ms);
/** It is the same server as another, whose health it takes over. */
void backend_remember(struct backend *b, const struct backend *old);
/** It answers. @return whether this is news. */
bool backend_works(struct backend *b);

#endif
