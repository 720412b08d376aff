/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"
#include "base/heap.h"
#include "base/limits.h"
#include "protocol/exchange.h"
#include "server/backend/stream.h"
#include "server/carried/holder.h"
#include "server/h1/budget.h"
#include "server/h1/conn.h"
#include "server/worker/worker.h"

/*
 * A request's stream that a handler took: as bytes come, its protocol has them; as bytes go, they wait here until the
 * protocol pulls them. A handler that writes faster than its client reads is stopped by the bound of what waits.
 */

struct mk_tunnel {
    struct mk_stream *stream; /* the handler's; NULL: closed, or broken */
    const struct mk_carrier *carrier;
    void *arg;
    struct mk_buf out;
    size_t out_at;
    size_t of_handler; /* bytes that it says it holds (mk_stream_hold) */
    struct mk_holder holder;
    bool is_open; /* the request has ended: its protocol knows the tunnel */
    bool is_shut; /* no more is written */
    bool is_full; /* the handler waits for room */
    bool is_cut;  /* more was to be written */
};

static size_t left(const struct mk_tunnel *t)
{
    return t->out.len - t->out_at;
}

/* It does not stand still. */
static void move(struct mk_tunnel *t)
{
    t->holder.holding.since_ms = (uint32_t)t->holder.conn->worker->loop.clock.mono_ms;
}

static void weigh(struct mk_tunnel *t)
{
    if (t->holder.holding.held == 0)
        move(t);
    mk_budget_weigh_holder(&t->holder, t->out.cap + t->of_handler);
}

/* What waits is lost: the client never has it. */
static void lose(struct mk_tunnel *t)
{
    if (t->stream)
        t->stream->sent -= left(t);
}

static void forget(struct mk_tunnel *t)
{
    mk_buf_fini(&t->out);
    mk_buf_init(&t->out, MK_LIMIT_TUNNEL);
    t->out_at = 0;
    weigh(t);
}

/* ---- as the handler's stream ---- */

static struct mk_tunnel *tunnel_of(const struct mk_stream *s)
{
    return s->owner;
}

static ssize_t read_bytes(struct mk_stream *s, void *buf, size_t len)
{
    struct mk_tunnel *t = tunnel_of(s);
    ssize_t n = len > 0 ? t->carrier->read(t->arg, buf, len) : MK_E_AGAIN;

    if (n > 0)
        move(t);
    return n;
}

static void close_gap(struct mk_tunnel *t)
{
    if (t->out_at == 0)
        return;
    memmove(t->out.p, t->out.p + t->out_at, left(t));
    t->out.len = left(t);
    t->out_at = 0;
}

/* @return how much of the part there was room for; MK_E_NOMEM. */
static ssize_t put(struct mk_tunnel *t, const struct iovec *part)
{
    size_t room = MK_LIMIT_TUNNEL - t->out.len, n = part->iov_len < room ? part->iov_len : room;

    if (n == 0)
        return 0;
    if (mk_buf_append(&t->out, part->iov_base, n) < 0)
        return MK_E_NOMEM;
    t->is_full = t->is_full || n < part->iov_len;
    return (ssize_t)n;
}

static ssize_t write_bytes(struct mk_stream *s, const struct iovec *iov, int niov)
{
    struct mk_tunnel *t = tunnel_of(s);
    size_t sum = 0;

    if (t->is_shut)
        return MK_E_PEER;
    close_gap(t);
    for (int i = 0; i < niov && !t->is_full; i++) {
        ssize_t n = put(t, &iov[i]);

        if (n < 0)
            return MK_E_PEER;
        sum += (size_t)n;
        t->is_full = t->is_full || t->out.len == MK_LIMIT_TUNNEL;
    }
    if (sum == 0)
        return MK_E_AGAIN;
    weigh(t);
    s->sent += sum; /* before the protocol hears of it, which may end the tunnel */
    t->carrier->ready(t->arg);
    return (ssize_t)sum;
}

static void shut(struct mk_stream *s)
{
    struct mk_tunnel *t = tunnel_of(s);

    t->is_shut = true;
    t->carrier->ready(t->arg);
}

/* Its descriptor is the whole connection's. */
static bool has_input(const struct mk_stream *s)
{
    (void)s;
    return true;
}

static void let_go(struct mk_stream *s, int error)
{
    struct mk_tunnel *t = tunnel_of(s);

    if (!t)
        return;
    s->owner = NULL;
    t->stream = NULL;
    t->is_shut = true;
    t->of_handler = 0;
    weigh(t);
    if (t->is_open)
        t->carrier->end(t->arg, error);
}

static void release(struct mk_stream *s)
{
    let_go(s, 0);
}

/* What was written leaves before the client hears of it. */
static void break_off(struct mk_stream *s)
{
    struct mk_tunnel *t = tunnel_of(s);

    if (t)
        t->is_cut = true;
    let_go(s, 0);
}

static void cut(struct mk_stream *s)
{
    let_go(s, MK_E_PEER);
}

static void hold(struct mk_stream *s, size_t bytes)
{
    struct mk_tunnel *t = tunnel_of(s);

    t->of_handler = bytes;
    weigh(t);
}

static void make_room(struct mk_holder *h)
{
    struct mk_tunnel *t = MK_CONTAINER_OF(h, struct mk_tunnel, holder);

    lose(t);
    forget(t);
    t->is_shut = true;
    if (t->stream)
        mk_stream_break(t->stream, MK_IO_ERROR);
    else if (t->is_open)
        t->carrier->end(t->arg, MK_E_NOMEM);
}

static const struct mk_stream_kind of_request = {
    .read = read_bytes,
    .write = write_bytes,
    .shutdown = shut,
    .hold = hold,
    .has_input = has_input,
    .cut = cut,
    .release = release,
    .abort = break_off,
};

int mk_exchange_take(struct mk_request *r, struct mk_stream **stream, mk_stream_fn fn, void *arg)
{
    struct mk_exchange *x = mk_exchange_of(r);
    struct mk_tunnel *t;

    if (x->carrier->size < sizeof(*x->carrier) || !x->carrier->open)
        return MK_E_UNSUPPORTED;
    if (x->tunnel)
        return MK_E_INVALID;
    t = mk_heap_zalloc(1, sizeof(*t));
    if (!t)
        return MK_E_NOMEM;
    t->stream = mk_stream_new(r->worker, fn, arg);
    if (!t->stream) {
        mk_heap_free(t);
        return MK_E_NOMEM;
    }
    t->carrier = x->carrier;
    t->arg = x->arg;
    mk_buf_init(&t->out, MK_LIMIT_TUNNEL);
    mk_list_init(&t->holder.holding.link);
    t->holder.conn = r->conn;
    t->holder.end = make_room;
    move(t);
    t->stream->kind = &of_request;
    t->stream->link = &r->conn->link;
    t->stream->owner = t;
    x->tunnel = t;
    *stream = t->stream;
    return 0;
}

int mk_exchange_watch_taken(const struct mk_request *r, mk_taken_fn fn, void *arg)
{
    const struct mk_tunnel *t = mk_exchange_of(r)->tunnel;

    return t && t->stream ? mk_stream_on_end(t->stream, fn, arg) : MK_E_NOENT;
}

/* ---- as the protocol's ---- */

void mk_tunnel_open(struct mk_tunnel *t)
{
    t->is_open = true;
    t->carrier->open(t->arg, t);
    if (!t->stream) { /* its handler did not wait */
        t->carrier->end(t->arg, 0);
        return;
    }
    mk_stream_begin(t->stream);
    mk_stream_tell_soon(t->stream, t->stream->worker->stopping ? MK_IO_HANGUP : 0U);
}

void mk_tunnel_tell(struct mk_tunnel *t, unsigned events)
{
    if (t->stream)
        mk_stream_tell_soon(t->stream, events);
}

ssize_t mk_tunnel_pull(struct mk_tunnel *t, char *dst, size_t len, bool *is_last)
{
    size_t n = left(t) < len ? left(t) : len;

    if (n > 0)
        memcpy(dst, t->out.p + t->out_at, n);
    t->out_at += n;
    if (n > 0)
        move(t);
    if (left(t) == 0)
        forget(t);
    if (t->is_full && left(t) <= MK_LIMIT_TUNNEL / 2) {
        t->is_full = false;
        mk_tunnel_tell(t, MK_IO_WRITE);
    }
    *is_last = t->is_shut && left(t) == 0 && !t->is_cut;
    if (n == 0 && t->is_cut)
        return MK_E_PEER;
    return n > 0 || *is_last ? (ssize_t)n : MK_E_AGAIN;
}

void mk_tunnel_break(struct mk_tunnel *t)
{
    struct mk_stream *s = t->stream;

    lose(t);
    mk_budget_weigh_holder(&t->holder, 0);
    mk_buf_fini(&t->out);
    mk_heap_free(t);
    if (!s)
        return;
    s->owner = NULL;
    mk_stream_break(s, MK_IO_ERROR);
}
