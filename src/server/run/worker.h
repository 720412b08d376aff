/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_RUN_WORKER_H
#define MK_SERVER_RUN_WORKER_H

#include "base/pool.h"
#include "core/loop.h"
#include "server/run/budget.h"
#include "server/run/crowd.h"
#include "server/files/files.h"
#include "server/run/handoff.h"
#include "server/run/listener.h"
#include "server/answer/out.h"
#include "setup/snapshot.h"
#include "server/request/ticket.h"

#include <monkey/server.h>

/*
 * A worker: one thread, one loop, and everything its connections need, so that no lock is taken on the
 * way of a request.
 */

/** A worker's own side of a snapshot: the open-file table and the contexts of plugins. Lives as long as a request needs it. */
struct mk_view {
    struct mk_snapshot *snapshot; /* a reference */
    unsigned users;               /* requests, and 1 while it is the worker's current one */
    bool side;                    /* which of a listener's transports belongs to it */
    struct mk_files files;
    struct mk_context *contexts; /* of the plugins: a row for each site */
    size_t nbegun;               /* plugins whose worker_start succeeded, from the first */
};

static inline const struct mk_context *mk_view_context(const struct mk_view *view,
                                                       const struct mk_site *site, unsigned plugin)
{
    return &view->contexts[site->index * view->snapshot->nplugins + plugin];
}

/** Counters that only their worker writes. */
struct mk_counters {
    _Atomic uint64_t accepted, requests, bytes_in, bytes_out, refused, turns;
    _Atomic uint64_t reasons[MK_REASON_COUNT]; /* by mk_reason_of_... */
    _Atomic uint32_t connections;              /* open now; also what Fair compares */
};

enum { MK_PLUGIN_WHY = 256 };

struct mk_worker {
    struct mk_loop loop;
    struct mk_server *server;
    struct mk_view *view; /* what new requests begin with */
    struct mk_pool conns, jobs;
    struct mk_counters counters;
    struct mk_conn *running; /* whose turn it is */
    struct mk_ports ports;
    struct mk_tickets tickets;
    struct mk_list streams;     /* taken or dialled, until their owners close them */
    struct mk_handoff *handoff; /* Fair: sockets from the acceptor; NULL otherwise */
    struct mk_crowd crowd;
    struct mk_budget budget;
    struct mk_timer trim; /* gives a peak's memory back */
    pthread_t thread;
    unsigned index;
    bool started, stopping, ended, saw_acceptor_end;
    bool leaves_much;   /* of memory, since it was last tidied: a crowd, or a configuration */
    int begin_error;    /* of mk_view_begin; read behind the gate */
    int64_t stop_at_ms; /* what the server said when the worker last looked */
    uint64_t next_id;
    int64_t stamp_s; /* second for which stamp was made */
    size_t stamp_len;
    const char *stamp_server; /* and the server name in it */
    char stamp[128];          /* "HTTP/1.1 200 OK", Date and Server lines */
    char why[MK_PLUGIN_WHY];  /* why a plugin could not start here */
    struct mk_gather gather;
};

static inline void mk_count(_Atomic uint64_t *counter, uint64_t n)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

/** The server's error log. */
struct mk_log *mk_worker_log(const struct mk_worker *w);

/** @return 0 or an error; nothing is left behind on failure. */
int mk_worker_init(struct mk_worker *w, struct mk_server *server, unsigned index) MK_MUST_USE;
int mk_worker_start(struct mk_worker *w, int cpu) MK_MUST_USE;
/** Give back what nobody needs any more, in a second. On its thread. */
void mk_worker_tidy_soon(struct mk_worker *w);
/** Wait for its thread, if it has one. */
void mk_worker_join(struct mk_worker *w);
/** Its thread has ended: let go of sockets that wait and of its configuration. Plugins may still post and be called. */
void mk_worker_leave(struct mk_worker *w);
/** At the very end, behind mk_worker_leave. */
void mk_worker_fini(struct mk_worker *w);

/** @return a view of a snapshot, of which it takes a reference; or NULL without memory. Any thread. */
struct mk_view *mk_view_new(struct mk_worker *w, struct mk_snapshot *snapshot) MK_MUST_USE;
/** The last one ends it: on its worker, or when that has ended. */
void mk_view_put(struct mk_view *view);

/** worker_start of each plugin, on the worker's thread before it serves. @return 0, or an error with nothing left begun; w->why. */
int mk_view_begin(struct mk_view *view, struct mk_worker *w) MK_MUST_USE;
/** worker_stop of those that began. */
void mk_view_end(struct mk_view *view);

#endif
