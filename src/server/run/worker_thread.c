/* SPDX-License-Identifier: Apache-2.0 */
#include "server/run/worker_thread.h"

#include "base/code.h"
#include "base/heap.h"
#include "base/invariant.h"
#include "core/fd.h"
#include "core/thread.h"
#include "server/answer/reply.h"
#include "server/h1/conn.h"
#include "server/h1/job.h"
#include "server/carried/carried.h"
#include "server/run/server_int.h"
#include "server/backend/stream.h"

#include <stdio.h>

enum {
    TRIM_MS = 1000,  /* how long a peak's memory is kept */
    TRIM_SPARE = 16, /* blocks above the present need that start a trim */
    CROWD = 200,     /* connections that leave a heap of what transports and plugins had for them */
    HANDOFF_TAKES = 64, /* sockets taken from the acceptor in a turn */
};

static void on_trim(struct mk_timer *t)
{
    struct mk_worker_thread *w = MK_CONTAINER_OF(t, struct mk_worker_thread, trim);
    bool jobs = mk_pool_trim(&w->worker.jobs), conns = mk_pool_trim(&w->worker.conns);
    bool inputs = mk_pool_trim(&w->worker.inputs);

    if (jobs || conns || inputs) {
        mk_timer_set(&w->worker.loop.wheel, t, w->worker.loop.clock.mono_ms + TRIM_MS);
    } else if (w->leaves_much) {
        w->leaves_much = false;
        mk_heap_trim();
        mk_code_give_back();
    }
}

void mk_worker_thread_tidy_soon(struct mk_worker_thread *w)
{
    w->leaves_much = true;
    if (!mk_timer_is_set(&w->trim))
        mk_timer_set(&w->worker.loop.wheel, &w->trim, w->worker.loop.clock.mono_ms + TRIM_MS);
}

static void on_lend(struct mk_post *post)
{
    struct mk_worker_thread *w = MK_CONTAINER_OF(post, struct mk_worker_thread, lend.post);

    mk_ask_begin(&w->lend);
    if (!w->worker.stopping)
        mk_ports_lend(&w->worker);
}

int mk_worker_thread_init(struct mk_worker_thread *w, struct mk_server *server, unsigned index)
{
    int err;

    w->worker.server = server;
    w->worker.shared = &server->shared;
    w->worker.gather = &w->gather;
    w->worker.tickets = &w->tickets;
    w->worker.counters.reasons = w->reasons;
    w->worker.index = index;
    w->worker.next_id = ((uint64_t)index << 48) + 1;
    mk_pool_init(&w->worker.conns, sizeof(struct mk_conn));
    mk_pool_init(&w->worker.jobs, sizeof(struct mk_job));
    mk_pool_init(&w->worker.inputs, MK_INPUT_SIZE);
    mk_ports_init(&w->ports);
    mk_tickets_init(&w->tickets);
    mk_list_init(&w->worker.streams);
    mk_list_init(&w->worker.carried);
    mk_crowd_init(&w->crowd, &w->worker);
    mk_budget_init(&w->budget, &w->worker);
    mk_timer_init(&w->trim, on_trim);
    mk_ask_init(&w->lend, on_lend);
    err = mk_loop_init(&w->worker.loop);
    if (err < 0)
        return err;
    w->worker.loop.lookout = &server->sentry.lookout;
    w->worker.view = mk_view_new(&w->worker, server->snapshot, server->side);
    if (!w->worker.view) {
        mk_loop_fini(&w->worker.loop);
        return MK_E_NOMEM;
    }
    return 0;
}

static void close_waiting(struct mk_worker_thread *w)
{
    struct mk_handoff_item item;

    while (w->handoff && mk_handoff_take(w->handoff, &item))
        mk_fd_close(&item.fd);
}

MK_AT_START void mk_worker_thread_join(struct mk_worker_thread *w)
{
    if (w->started)
        pthread_join(w->thread, NULL);
    w->started = false;
    w->worker.ended = true;
}

void mk_worker_thread_leave(struct mk_worker_thread *w)
{
    close_waiting(w);
    mk_streams_end(&w->worker); /* for a thread that was never started */
    mk_ports_free(&w->ports);
    mk_view_put(w->worker.view);
    w->worker.view = NULL;
}

void mk_worker_thread_fini(struct mk_worker_thread *w)
{
    mk_streams_free(&w->worker);
    mk_tickets_fini(&w->tickets);
    mk_job_close_input(&w->worker);
    mk_pool_fini(&w->worker.inputs);
    mk_pool_fini(&w->worker.jobs);
    mk_pool_fini(&w->worker.conns);
    mk_loop_fini(&w->worker.loop);
    mk_heap_free(w->handoff);
}

/* ---- the thread ---- */

static bool has_work(void *arg)
{
    struct mk_worker_thread *w = arg;

    if (w->handoff && mk_handoff_count(w->handoff) > 0)
        return true;
    return atomic_load(&w->worker.server->stop_at_ms) != w->stop_at_ms ||
           (w->worker.stopping &&
            atomic_load(&w->worker.server->acceptor_ended) != w->saw_acceptor_end);
}

static void take_sockets(struct mk_worker_thread *w)
{
    struct mk_handoff_item item;

    for (int i = 0; w->handoff && i < HANDOFF_TAKES && mk_handoff_take(w->handoff, &item); i++) {
        mk_conn_open(&w->worker, item.endpoint, item.fd, &item.peer, item.busy);
        if (mk_crowd_is_next_near(w->worker.shared))
            break;
    }
    if (w->handoff)
        mk_acceptor_taken(w->worker.server->acceptor, w->handoff);
}

MK_AT_START static void stop_one(void *block, void *arg)
{
    (void)arg;
    mk_conn_stop(block);
}

MK_AT_START static void cut_one(void *block, void *arg)
{
    (void)arg;
    mk_conn_close(block, MK_CLOSE_STOPPING);
}

MK_AT_START static void cut_all(struct mk_worker_thread *w)
{
    mk_pool_each(&w->worker.conns, cut_one, NULL);
    mk_carried_end_all(&w->worker);
}

MK_AT_START static void begin_stop(struct mk_worker_thread *w)
{
    w->worker.stopping = true;
    mk_ports_close(&w->ports);
    mk_pool_each(&w->worker.conns, stop_one, NULL);
}

/* @return whether the thread has nothing left to do. */
static bool advance_stop(struct mk_worker_thread *w)
{
    int64_t stop_at_ms = atomic_load(&w->worker.server->stop_at_ms);

    if (stop_at_ms == INT64_MAX)
        return false;
    w->stop_at_ms = stop_at_ms;
    if (!w->worker.stopping)
        begin_stop(w);
    if (w->worker.loop.clock.mono_ms >= stop_at_ms)
        cut_all(w);
    w->saw_acceptor_end = atomic_load(&w->worker.server->acceptor_ended);
    return !atomic_load(&w->worker.server->swapping) && w->worker.conns.used == 0 &&
           mk_list_is_empty(&w->worker.carried) && w->saw_acceptor_end &&
           !(w->handoff && mk_handoff_count(w->handoff) > 0);
}

static int wait_ms(const struct mk_worker_thread *w)
{
    int64_t left_ms;

    if (!w->worker.stopping)
        return -1;
    left_ms = w->stop_at_ms - w->worker.loop.clock.mono_ms;
    return left_ms < 10 ? 10 : left_ms > 1000 ? 1000 : (int)left_ms;
}

/* Of two times to wait, of which -1 is without end. */
static int shorter_ms(int a, int b)
{
    return a < 0 || (b >= 0 && b < a) ? b : a;
}

static void arm_trim(struct mk_worker_thread *w)
{
    w->leaves_much = w->leaves_much || w->worker.conns.peak > w->worker.conns.used + CROWD;
    if (mk_timer_is_set(&w->trim))
        return;
    if (w->worker.jobs.peak > w->worker.jobs.used + TRIM_SPARE ||
        w->worker.inputs.peak > w->worker.inputs.used + TRIM_SPARE ||
        w->worker.conns.peak > w->worker.conns.used + TRIM_SPARE)
        mk_timer_set(&w->worker.loop.wheel, &w->trim, w->worker.loop.clock.mono_ms + TRIM_MS);
}

/* No worker serves before the plugins are ready on all of them. */
static bool pass_gate(struct mk_worker_thread *w)
{
    struct mk_gate *gate = &w->worker.server->gate;

    w->begin_error = mk_view_begin(w->worker.view, &w->worker);
    sem_post(&gate->prepared);
    mk_sem_wait(&gate->go);
    return atomic_load(&gate->is_open);
}

static inline void turn(struct mk_worker_thread *w, int max_wait_ms)
{
    mk_loop_turn(&w->worker.loop, max_wait_ms, has_work, w);
    take_sockets(w);
    arm_trim(w);
    atomic_store_explicit(&w->worker.counters.turns, w->worker.loop.turns, memory_order_relaxed);
}

/* Apart from what comes before and after, which is code for the start. */
__attribute__((noinline, hot)) static void serve(struct mk_worker_thread *w)
{
    while (!advance_stop(w))
        turn(w, wait_ms(w));
}

MK_AT_START static void begin(struct mk_worker_thread *w)
{
    w->stop_at_ms = INT64_MAX;
    if (w->worker.index == 0)
        mk_worker_thread_tidy_soon(w);
}

MK_AT_START static void end(struct mk_worker_thread *w)
{
    mk_streams_end(&w->worker);
    mk_carried_end_all(&w->worker);
    mk_loop_turn(&w->worker.loop, 0, NULL, NULL); /* bury what was closed last */
    mk_server_thread_ended(w->worker.server);
}

MK_AT_START static void run(struct mk_worker_thread *w)
{
    if (!pass_gate(w)) {
        mk_view_end(w->worker.view);
        mk_server_thread_ended(w->worker.server);
        return;
    }
    begin(w);
    serve(w);
    end(w);
}

MK_AT_START static void *worker_main(void *arg)
{
    struct mk_worker_thread *w = arg;
    void *stack = mk_thread_enter();

    mk_worker_enter(&w->worker);
    run(w);
    mk_thread_leave(stack);
    return NULL;
}

int mk_worker_thread_start(struct mk_worker_thread *w, int cpu)
{
    char name[16];
    int err;

    (void)snprintf(name, sizeof(name), "mk-worker-%u", w->worker.index);
    err = mk_thread_start(&w->thread, name, cpu, worker_main, w);
    w->started = err == 0;
    return err;
}

/* ---- without a thread ---- */

MK_AT_START int mk_worker_thread_begin_here(struct mk_worker_thread *w)
{
    int err = mk_view_begin(w->worker.view, &w->worker);

    if (err < 0) {
        mk_view_end(w->worker.view);
        return err;
    }
    begin(w);
    mk_loop_rest(&w->worker.loop, has_work, w);
    return 0;
}

int mk_worker_thread_wait_ms(struct mk_worker_thread *w)
{
    return shorter_ms(mk_loop_wait_ms(&w->worker.loop), wait_ms(w));
}

bool mk_worker_thread_turn(struct mk_worker_thread *w, int max_wait_ms)
{
    bool goes_on = !advance_stop(w);

    if (goes_on) {
        turn(w, shorter_ms(wait_ms(w), max_wait_ms));
        goes_on = !advance_stop(w);
    }
    if (goes_on)
        mk_loop_rest(&w->worker.loop, has_work, w);
    else
        end(w);
    return goes_on;
}
