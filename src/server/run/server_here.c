/* SPDX-License-Identifier: Apache-2.0 */
#include "base/code.h"
#include "core/thread.h"
#include "server/run/server_int.h"

/* A server whose one worker has no thread: it turns on a thread of the program, whose loop watches one descriptor. */

/* What this thread was before the worker's turn. */
struct visit {
    struct mk_worker *before;
    sigset_t signals;
};

static void enter(const struct mk_server *server, struct visit *v)
{
    v->before = mk_worker_enter(server->shared.workers[0]);
    mk_thread_hold_sigpipe(&v->signals);
}

static void leave(const struct visit *v)
{
    mk_thread_release_sigpipe(&v->signals);
    (void)mk_worker_enter(v->before);
}

MK_AT_START int mk_server_begin_here(struct mk_server *server)
{
    struct visit v;
    int err;

    server->shared.is_callers = true;
    server->shared.caller = pthread_self();
    atomic_store(&server->running, 1);
    atomic_store(&server->acceptor_ended, true);
    enter(server, &v);
    err = mk_worker_thread_begin_here(mk_server_thread(server, 0));
    leave(&v);
    return err;
}

void mk_server_call_here(struct mk_server *server, void (*fn)(struct mk_post *post),
                         struct mk_post *post)
{
    struct visit v;

    enter(server, &v);
    fn(post);
    leave(&v);
    mk_loop_wake(
        &server->shared.workers[0]->loop); /* it may have left something for its next turn */
}

static bool may_turn(const struct mk_server *server)
{
    return server && mk_shared_is_caller(&server->shared) && !mk_worker_is_of(server);
}

int mk_server_poll_fd(const struct mk_server *server)
{
    return server && server->shared.is_callers ? server->shared.workers[0]->loop.epfd
                                               : MK_E_INVALID;
}

int mk_server_wait_ms(struct mk_server *server)
{
    if (!may_turn(server) || atomic_load(&server->running) == 0)
        return -1;
    return mk_worker_thread_wait_ms(mk_server_thread(server, 0));
}

int mk_server_turn(struct mk_server *server, int max_wait_ms)
{
    struct visit v;
    bool goes_on;

    if (!may_turn(server))
        return MK_E_INVALID;
    if (atomic_load(&server->running) == 0)
        return 0;
    enter(server, &v);
    goes_on = mk_worker_thread_turn(mk_server_thread(server, 0), max_wait_ms);
    leave(&v);
    return goes_on;
}

int mk_server_turn_to_end(struct mk_server *server, int timeout_ms)
{
    struct mk_clock clock = {0};
    int64_t end_ms;

    mk_clock_update(&clock);
    end_ms = clock.mono_ms + timeout_ms;
    while (mk_server_turn(server, timeout_ms < 0 ? -1 : (int)(end_ms - clock.mono_ms)) > 0) {
        mk_clock_update(&clock);
        if (timeout_ms >= 0 && clock.mono_ms >= end_ms)
            return MK_E_TIMEOUT;
    }
    return 0;
}
