/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_RUN_WORKER_THREAD_H
#define MK_SERVER_RUN_WORKER_THREAD_H

#include "base/invariant.h"
#include "server/h1/out.h"
#include "server/request/refusal.h"
#include "server/request/ticket.h"
#include "server/h1/budget.h"
#include "server/h1/crowd.h"
#include "server/run/handoff.h"
#include "server/run/listener.h"
#include "server/worker/worker.h"

#include <pthread.h>

/** A worker with all that is its own: one mapping, in which the gather buffer, whose pages cost nothing until used, is last. */
struct mk_worker_thread {
    struct mk_worker worker;
    struct mk_ports ports;
    struct mk_tickets tickets;
    struct mk_handoff *handoff; /* Fair: sockets from the acceptor; NULL otherwise */
    struct mk_crowd crowd;
    struct mk_budget budget;
    uint64_t turns;       /* as its sentry saw it last */
    unsigned ticks;       /* so many in the same turn */
    struct mk_ask lend;   /* look which workers are blocked: mk_ports_lend */
    struct mk_timer trim; /* gives a peak's memory back */
    pthread_t thread;
    bool started, saw_acceptor_end;
    bool leaves_much;   /* of memory, since it was last tidied: a crowd, or a configuration */
    int begin_error;    /* of mk_view_begin; read behind the gate */
    int64_t stop_at_ms; /* what the server said when the worker last looked */
    _Atomic uint64_t reasons[MK_REASON_COUNT];
    struct mk_gather gather;
};

static inline struct mk_worker_thread *mk_worker_thread_of(struct mk_worker *w)
{
    return MK_CONTAINER_OF(w, struct mk_worker_thread, worker);
}

/** @return 0 or an error; nothing is left behind on failure. */
int mk_worker_thread_init(struct mk_worker_thread *w, struct mk_server *server,
                          unsigned index) MK_MUST_USE;
int mk_worker_thread_start(struct mk_worker_thread *w, int cpu) MK_MUST_USE;

/* A worker of the caller's loop has no thread: these three take turns on the caller's, which has entered it. */

/** Begin to serve in place of mk_worker_thread_start. @return 0, or a plugin's error: worker.why. */
int mk_worker_thread_begin_here(struct mk_worker_thread *w) MK_MUST_USE;
/** Milliseconds until the next turn is due though the loop's epfd is not readable; -1: never. */
int mk_worker_thread_wait_ms(struct mk_worker_thread *w);
/** One turn. @return false: the worker has ended with it. */
bool mk_worker_thread_turn(struct mk_worker_thread *w, int max_wait_ms);

/** Give back what nobody needs any more, in a second. On its thread. */
void mk_worker_thread_tidy_soon(struct mk_worker_thread *w);
/** Wait for it, if it was started. */
void mk_worker_thread_join(struct mk_worker_thread *w);
/** It has ended: let go of sockets that wait and of its configuration. Plugins may still post and be called. */
void mk_worker_thread_leave(struct mk_worker_thread *w);
/** At the very end, behind mk_worker_thread_leave. */
void mk_worker_thread_fini(struct mk_worker_thread *w);

#endif
