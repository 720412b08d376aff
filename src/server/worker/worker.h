/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_WORKER_WORKER_H
#define MK_SERVER_WORKER_WORKER_H

#include "base/pool.h"
#include "core/loop.h"
#include "server/worker/shared.h"
#include "server/worker/view.h"

/*
 * A worker: one thread, one loop, and everything its connections need, so that no lock is taken on the way of a
 * request. This is what all rooms see of it; its thread, and how connections reach it, are in
 * server/run/worker_thread.h. What a later room keeps for a worker is behind a pointer, in the same mapping.
 */

enum { MK_INPUT_SIZE = 4096 };

struct mk_budget;
struct mk_conn;
struct mk_crowd;
struct mk_gather;
struct mk_input;
struct mk_tickets;

/** Counters that only their worker writes. */
struct mk_counters {
    _Atomic uint64_t accepted, requests, bytes_in, bytes_out, refused, turns;
    _Atomic uint64_t *reasons;    /* MK_REASON_COUNT, by mk_reason_of_... */
    _Atomic uint32_t connections; /* open now; also what Fair compares */
};

struct mk_worker {
    struct mk_loop loop;
    struct mk_server *server;
    struct mk_shared *shared; /* of the server */
    struct mk_view *view;     /* what new requests begin with */
    struct mk_pool conns, jobs;
    struct mk_pool inputs; /* MK_INPUT_SIZE: buffers, and requests that HTTP/1 does not carry */
    struct mk_input *open_input; /* with room for the next job: server/h1/job.h; NULL: none */
    struct mk_counters counters;
    struct mk_conn *running;                    /* whose turn it is */
    struct mk_doing {                           /* read by the sentry, too */
        const struct mk_plugin *_Atomic plugin; /* whose hook runs; NULL: none */
        const char *_Atomic hook;               /* its name */
    } doing;
    const struct mk_errand
        *_Atomic errand;  /* of that plugin, or another one's callback; NULL: none */
    atomic_bool is_stuck; /* a callback does not return: it gets no connections. Its sentry's */
    struct mk_request
        *carried_turn; /* a request that no connection of HTTP/1 carries, whose turn it is */
    struct mk_gather *gather;
    struct mk_head_room *head_room; /* of large heads that are being written; NULL: none needs it */
    struct mk_tickets *tickets;
    struct mk_crowd *crowd;
    struct mk_budget *budget;
    /* Bytes that its connections hold (MaxMemory); written by its thread only. */
    _Atomic uint64_t held;
    int64_t promised;       /* bytes that peers may send for it to hold: by mk_worker_promise */
    struct mk_list streams; /* taken or dialled, until their owners close them */
    struct mk_list carried; /* requests that are being answered, but for those of HTTP/1 */
    /* A connection has ended. NULL while nobody waits for its place. */
    void (*on_room)(struct mk_worker *w);
    unsigned index;
    bool stopping, ended;
    uint64_t next_id;
    uint64_t nstreams; /* made so far */
    uint64_t nwaits;   /* for connections to backends, so far */
    int64_t stamp_s;   /* second for which stamp was made */
    size_t stamp_len;
    const char *stamp_server; /* and the server name in it */
    char stamp[128];          /* Date and Server lines */
    char why[MK_PLUGIN_WHY];  /* why a plugin could not start here */
};

static inline void mk_count(_Atomic uint64_t *counter, uint64_t n)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + n,
                          memory_order_relaxed);
}

/** The calling thread is this worker's from now on; NULL: nobody's. @return whose it was. */
struct mk_worker *mk_worker_enter(struct mk_worker *w);
/** @return the worker whose thread calls; NULL: none. */
struct mk_worker *mk_worker_here(void);
/** Is the calling thread one of the server's workers? */
bool mk_worker_is_of(const struct mk_server *server);

/** A hook of a plugin is about to be called; mk_worker_left when it has returned. */
static inline void mk_worker_calls(struct mk_worker *w, const struct mk_plugin *plugin,
                                   const char *hook)
{
    atomic_store_explicit(&w->doing.plugin, plugin, memory_order_relaxed);
    atomic_store_explicit(&w->doing.hook, hook, memory_order_relaxed);
}

static inline void mk_worker_left(struct mk_worker *w)
{
    atomic_store_explicit(&w->doing.plugin, NULL, memory_order_relaxed);
}

/**
 * @param hook  out: its name
 * @return the plugin whose hook runs; NULL: none. Any thread.
 * A copy that is no part of its callers might lie among the code for the start.
 */
__attribute__((always_inline)) static inline const struct mk_plugin *
mk_worker_doing(const struct mk_worker *w, const char **hook)
{
    *hook = atomic_load_explicit(&w->doing.hook, memory_order_relaxed);
    return atomic_load_explicit(&w->doing.plugin, memory_order_relaxed);
}

/** The server's error log. */
static inline struct mk_log *mk_worker_log(const struct mk_worker *w)
{
    return &w->shared->log;
}

#endif
