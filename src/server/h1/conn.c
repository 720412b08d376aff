/* SPDX-License-Identifier: Apache-2.0 */
#include "server/h1/conn.h"

#include "base/invariant.h"
#include "core/fd.h"
#include "server/h1/budget.h"
#include "server/h1/conn_state.h"
#include "server/h1/crowd.h"
#include "server/h1/endpoint.h"
#include "server/h1/h1.h"
#include "server/h1/take.h"
#include "server/h1/job.h"
#include "server/h1/out.h"
#include "server/worker/worker.h"
#include "server/h1/conn_stage.h"

#include <monkey/inspect.h>

enum { SHED_EACH = 2 }; /* connections that go for one that comes, when there is little room */

unsigned mk_conn_events(uint32_t bits)
{
    return (bits & EPOLLIN ? MK_IO_READ : 0U) | (bits & EPOLLOUT ? MK_IO_WRITE : 0U) |
           (bits & EPOLLERR ? MK_IO_ERROR : 0U) |
           (bits & (EPOLLHUP | EPOLLRDHUP) ? MK_IO_HANGUP : 0U);
}

/* @return whether the connection is still there. */
static bool tell_plugins(struct mk_conn *c, uint32_t events)
{
    unsigned told = mk_conn_events(events);

    if (told)
        mk_conn_tell_event(c, told);
    return !c->closed;
}

/* Both sides have ended where we, or the transport, ended ours first; what the peer sent before must be read, or it is reset. */
static bool reads_to_the_end(const struct mk_conn *c)
{
    return c->state == MK_H1_LINGER || c->state == MK_H1_IDLE || c->state == MK_H1_OFFER;
}

static void on_conn_event(struct mk_watch *w, uint32_t events)
{
    struct mk_conn *c = MK_CONTAINER_OF(w, struct mk_conn, watch);

    if (c->worker->view->snapshot->on_conn_event.count > 0 && !tell_plugins(c, events))
        return;
    if ((events & EPOLLERR) || ((events & EPOLLHUP) && !reads_to_the_end(c))) {
        mk_conn_close(c, c->state == MK_H1_IDLE || c->state == MK_H1_OFFER ? MK_CLOSE_PEER_LEFT
                                                                           : MK_CLOSE_PEER_CUT);
        return;
    }
    if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP) || c->link.waits_for)
        c->readable = true; /* also room for what its recv must send first */
    if (events & (EPOLLRDHUP | EPOLLHUP))
        c->hung_up = true;
    mk_conn_run(c);
}

static void on_conn_gone(struct mk_watch *w)
{
    struct mk_conn *c = MK_CONTAINER_OF(w, struct mk_conn, watch);

    mk_pool_put(&c->worker->conns, c);
}

static void on_conn_timer(struct mk_timer *t)
{
    struct mk_conn *c = MK_CONTAINER_OF(t, struct mk_conn, timer);

    mk_conn_tell_event(c, MK_IO_TIMEOUT);
    if (!c->closed && mk_h1_on_timeout(c))
        mk_conn_run(c);
}

static void say_busy(struct mk_conn *c)
{
    static const char answer[] = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\n"
                                 "Content-Length: 0\r\nConnection: close\r\n\r\n";
    char *to = mk_out_reserve(c, sizeof(answer) - 1);

    memcpy(to, answer, sizeof(answer) - 1);
    mk_out_commit(c, sizeof(answer) - 1);
    c->closing = c->must_linger = true;
    mk_conn_go(c, MK_H1_FLUSH);
}

bool mk_conn_open_link(struct mk_conn *c)
{
    const struct mk_view *view = c->worker->view;
    const struct mk_via *via = &c->endpoint->via[view->side];

    c->link.transport = via->transport;
    if (!via->transport->open ||
        via->transport->open(
            &c->link, mk_view_context(view, &view->snapshot->sites[0], via->plugin), NULL) == 0)
        return true;
    c->link.transport = &mk_transport_liana; /* the other has nothing to close */
    return false;
}

static void note_open(struct mk_conn *c)
{
    struct mk_log *log = mk_worker_log(c->worker);
    char ip[MK_ADDR_TEXT];

    if (MK_LIKELY(!mk_conn_is_traced(c)))
        return;
    (void)mk_peer_format(&c->peer, ip);
    mk_log(log, MK_LOG_TRACE, MK_LOG_CONN, "accepted conn=%llu peer=%s", (unsigned long long)c->id,
           ip);
}

void mk_conn_open(struct mk_worker *w, const struct mk_endpoint *endpoint, int fd,
                  const struct mk_peer *peer, bool busy)
{
    const struct mk_via *via = &endpoint->via[w->view->side];
    struct mk_conn *c;

    if (mk_crowd_is_near(w->shared))
        mk_crowd_shed(w, SHED_EACH);
    c = mk_pool_get(&w->conns);
    if (!c) {
        mk_fd_close(&fd);
        mk_shared_connection_ended(w->shared, peer);
        return;
    }
    *c = (struct mk_conn){
        .worker = w,
        .endpoint = endpoint,
        /* A PROXY header comes in the clear. */
        .link = {.transport = endpoint->proxy ? &mk_transport_liana : via->transport, .fd = fd},
        .id = w->next_id++,
        .peer = *peer,
        .state = endpoint->proxy ? MK_H1_PROXY
                 : via->protocol ? MK_H1_OFFER
                                 : MK_H1_IDLE,
        .timed_state = MK_H1_STATE_COUNT,
        .readable = true,
    };
    mk_watch_init(&c->watch, fd, on_conn_event, on_conn_gone);
    mk_timer_init(&c->timer, on_conn_timer);
    mk_list_init(&c->holding.link);
    note_open(c);
    mk_count(&w->counters.accepted, 1);
    atomic_fetch_add_explicit(&w->counters.connections, 1, memory_order_relaxed);
    if (!busy && !endpoint->proxy && !mk_conn_ask_accept(c)) {
        c->link.transport = &mk_transport_liana; /* its own has nothing to close yet */
        mk_conn_close(c, MK_CLOSE_DENIED);
        return;
    }
    if (via->transport->open && !endpoint->proxy && !mk_conn_open_link(c)) {
        mk_conn_close(c, MK_CLOSE_TRANSPORT);
        return;
    }
    if (busy)
        say_busy(c);
    mk_conn_run(c);
}

static void note_close(struct mk_conn *c, enum mk_close reason)
{
    struct mk_log *log = mk_worker_log(c->worker);
    char ip[MK_ADDR_TEXT];

    if (!mk_log_wants(log, MK_LOG_DEBUG, MK_LOG_CONN))
        return;
    (void)mk_peer_format(&c->peer, ip);
    mk_log_peer(
        log, MK_LOG_DEBUG, MK_LOG_CONN, "closed conn=%llu peer=%s state=%s reason=%s requests=%u",
        (unsigned long long)c->id, ip, mk_conn_state(c), mk_close_name(reason), c->requests);
}

void mk_conn_close(struct mk_conn *c, enum mk_close reason)
{
    struct mk_worker *w = c->worker;

    if (c->closed)
        return;
    c->closed = true;
    note_close(c, reason);
    mk_count(&w->counters.reasons[mk_reason_of_close(reason)], 1);
    mk_timer_cancel(&c->timer);
    mk_budget_leave(c);
    mk_out_drop(c);
    mk_h1_abandon(c, reason == MK_CLOSE_PEER_CUT || reason == MK_CLOSE_PEER_LEFT);
    mk_conn_tell_close(c);
    mk_job_put(c);
    mk_link_close(&c->link);
    mk_watch_close(&w->loop, &c->watch);
    atomic_fetch_sub_explicit(&w->counters.connections, 1, memory_order_relaxed);
    mk_shared_connection_ended(w->shared, &c->peer);
    if (w->on_room)
        w->on_room(w);
    if (c->stream)
        mk_take_end(c);
}

const char *mk_conn_state(const struct mk_conn *c)
{
    return mk_states_name(&mk_h1_states, c->state);
}

static void end_idle(struct mk_conn *c)
{
    mk_h1_end(c, MK_CLOSE_STOPPING);
    mk_watch_run_soon(&c->worker->loop, &c->watch);
}

void mk_conn_stop(struct mk_conn *c)
{
    if (c->closed)
        return;
    if (c->state == MK_H1_TAKEN)
        mk_take_stop(c);
    else if (c->state == MK_H1_IDLE && !c->job && c->requests > 0)
        end_idle(c);
    else if (c->state <= MK_H1_IDLE && !c->job)
        mk_conn_close(c, MK_CLOSE_STOPPING);
    else if (c->state == MK_H1_LINGER)
        mk_h1_hurry(c);
    else if (c->job && c->job->request.view)
        c->job->request.keep_alive = false;
    else if (c->state == MK_H1_FLUSH)
        c->closing = c->must_linger = true;
}

/* An edge-triggered registration for life; EPOLLOUT joins the first time the kernel refuses bytes. */
static bool watch(struct mk_conn *c)
{
    bool wants_out = c->wants_out || c->leftover_len > 0 || c->tail || mk_conn_is_answering(c) ||
                     c->state == MK_H1_TAKEN || (c->link.waits_for & MK_IO_WRITE);

    if (c->watch.in_epoll && wants_out == c->wants_out)
        return true;
    c->wants_out = wants_out;
    return mk_watch_open(&c->worker->loop, &c->watch,
                         EPOLLIN | EPOLLRDHUP | EPOLLET | (wants_out ? (uint32_t)EPOLLOUT : 0U)) ==
           0;
}

static void run_steps(struct mk_conn *c)
{
    struct mk_turn turn = {.bytes = MK_LIMIT_TURN_BYTES,
                           .requests = MK_LIMIT_TURN_REQUESTS,
                           .traced = mk_conn_is_traced(c)};

    for (;;) {
        switch (mk_h1_step(c, &turn)) {
        case MK_STEP_NEXT:
            break;
        case MK_STEP_WAIT:
            MK_ASSERT(c->worker->gather->bytes == 0 || c->worker->gather->owner != c);
            mk_h1_set_timeout(c);
            if (!watch(c))
                mk_conn_close(c, MK_CLOSE_NO_MEMORY);
            return;
        case MK_STEP_SOON:
            mk_h1_set_timeout(c);
            mk_watch_run_soon(&c->worker->loop, &c->watch);
            return;
        case MK_STEP_CLOSE:
            mk_conn_close(c, c->close_reason);
            return;
        }
    }
}

void mk_conn_run(struct mk_conn *c)
{
    c->worker->running = c;
    run_steps(c);
    c->worker->running = NULL;
    if (mk_conn_may_hold(c) && !c->closed && mk_budget_weigh(c))
        mk_budget_make_room(c->worker);
}
