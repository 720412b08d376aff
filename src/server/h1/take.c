/* SPDX-License-Identifier: Apache-2.0 */
#include "server/h1/take.h"

#include "base/invariant.h"
#include "server/h1/hold.h"
#include "server/h1/conn_state.h"
#include "server/h1/h1.h"
#include "server/h1/h1_wire.h"
#include "server/h1/job.h"
#include "server/h1/conn_stage.h"
#include "server/backend/stream.h"
#include "server/worker/worker.h"

/* A client's connection that a handler took over. */

/* ---- in place of HTTP ---- */

static void on_taken_event(struct mk_watch *w, uint32_t bits)
{
    struct mk_conn *c = MK_CONTAINER_OF(w, struct mk_conn, watch);
    struct mk_stream *s = c->stream;

    if (bits == MK_RUN)
        return;
    mk_conn_tell_event(c, mk_conn_events(bits));
    if (c->stream != s || c->closed)
        return;
    if (bits & (EPOLLIN | EPOLLRDHUP | EPOLLHUP) || c->link.waits_for)
        c->readable = true;
    if (bits & (EPOLLRDHUP | EPOLLHUP))
        c->hung_up = true;
    mk_stream_on_epoll(s, bits);
}

void mk_take_begin(struct mk_conn *c)
{
    struct mk_stream *s = c->stream;

    s->conn_on_event = c->watch.on_event;
    c->watch.on_event = on_taken_event;
    mk_timer_cancel(&c->timer);
    c->timed_state = MK_H1_TAKEN;
    if (c->job && mk_job_input(c->job) == 0)
        mk_job_put(c);
    mk_stream_begin(s);
    mk_watch_run_soon(&c->worker->loop, &s->watch);
    if (c->worker->stopping)
        mk_take_stop(c);
}

void mk_take_stop(struct mk_conn *c)
{
    if (c->stream->state == MK_STREAM_OPEN)
        mk_stream_tell_soon(c->stream, MK_IO_HANGUP);
}

void mk_take_end(struct mk_conn *c)
{
    struct mk_stream *s = c->stream;

    c->stream = NULL;
    s->conn = NULL;
    mk_stream_break(s, MK_IO_ERROR);
}

/* Its owner is done with it: it ends as after a last answer. */
static void release(struct mk_stream *s)
{
    struct mk_conn *c = s->conn;

    s->conn = NULL;
    c->stream = NULL;
    if (c->closed)
        return;
    c->closing = true;
    if (c->state != MK_H1_TAKEN) { /* its head has not left; what follows is no HTTP */
        if (c->job && c->job->request.view)
            c->job->request.keep_alive = false;
        return;
    }
    c->watch.on_event = s->conn_on_event;
    c->must_linger = true;
    mk_conn_go(c, MK_H1_FLUSH);
    c->timed_state = MK_H1_STATE_COUNT;
    mk_job_put(c);
    mk_watch_run_soon(&c->worker->loop, &c->watch);
}

/* First what came behind the request. */
static ssize_t read_bytes(struct mk_stream *s, void *buf, size_t len)
{
    struct mk_conn *c = s->conn;
    struct mk_job *job = c->job;
    size_t n;

    if (!job)
        return mk_h1_recv(c, buf, len);
    n = mk_job_input(job) < len ? mk_job_input(job) : len;
    memcpy(buf, job->in + job->in_body, n);
    job->in_body += (uint32_t)n;
    if (mk_job_input(job) == 0)
        mk_job_put(c);
    return (ssize_t)n;
}

static void on_write(struct mk_stream *s, ssize_t n)
{
    if (n > 0) {
        mk_count(&s->worker->counters.bytes_out, (uint64_t)n);
        s->conn->holding.since_ms =
            (uint32_t)s->worker->loop.clock.mono_ms; /* it does not stand still */
    }
    if (mk_conn_may_hold(s->conn) && mk_budget_weigh(s->conn))
        mk_budget_ask(s->worker->shared);
}

static bool has_input(const struct mk_stream *s)
{
    return s->conn && s->conn->job && mk_job_input(s->conn->job) > 0;
}

static void cut(struct mk_stream *s)
{
    struct mk_conn *c = s->conn;

    if (!c) /* which is how it broke */
        return;
    s->conn = NULL;
    c->stream = NULL;
    mk_conn_close(c, MK_CLOSE_PEER_CUT);
}

static void hold(struct mk_stream *s, size_t bytes)
{
    mk_conn_set_kept(s->conn, bytes);
}

/* It waits for its head to leave. */
static const struct mk_stream_kind taken = {
    .read = read_bytes,
    .on_write = on_write,
    .hold = hold,
    .has_input = has_input,
    .cut = cut,
    .release = release,
};

/* ---- taking ---- */

int mk_take_conn(struct mk_conn *c, struct mk_stream **stream, mk_stream_fn fn, void *arg)
{
    if (c->stream)
        return MK_E_INVALID;
    c->stream = mk_stream_new(c->worker, fn, arg);
    if (!c->stream)
        return MK_E_NOMEM;
    c->stream->kind = &taken;
    c->stream->conn = c;
    c->stream->link = &c->link;
    *stream = c->stream;
    return 0;
}

int mk_h1_take(struct mk_request *r, struct mk_stream **stream, mk_stream_fn fn, void *arg)
{
    return mk_take_conn(r->conn, stream, fn, arg);
}

int mk_h1_watch_taken(const struct mk_request *r, mk_taken_fn fn, void *arg)
{
    struct mk_stream *s = r->conn->stream;

    return s ? mk_stream_on_end(s, fn, arg) : MK_E_NOENT;
}
