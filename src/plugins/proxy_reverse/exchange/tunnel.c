/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/exchange.h"
#include "exchange/head.h"

#include <stdlib.h>

/*
 * Behind 101, to which belongs the 2xx of an extended CONNECT (links/call.h): bytes both ways, until both sides have ended or
 * none has said anything for TunnelTimeout. What one
 * side does not take at once waits in a buffer, and the other is not read meanwhile; a tunnel that is quiet has
 * none. It outlives its request and perhaps its configuration: what it needs of them it has itself.
 */

enum {
    PIECE = 16384,
    TURN_PIECES = 32, /* of one direction, before others' turn */
    HALF_MS = 60000,  /* one side has ended, and the other says nothing */
};

/* One direction. */
struct flow {
    struct tunnel *of;
    bool is_up; /* to the backend */
    char *kept; /* read and not taken yet; NULL: nothing */
    size_t at, len;
    uint64_t total;
    bool has_ended, has_told; /* the end of its input; and the other side knows */
};

struct tunnel {
    struct mk_stream *client;
    struct proxy_link link; /* to the backend */
    struct proxy_attempt attempt;
    struct proxy_report report;
    int64_t began_us;
    unsigned idle_ms;
    struct flow up, down;
    size_t held; /* what of it was said to count for MaxMemory */
};

static size_t held_in(const struct flow *f)
{
    return f->kept ? f->at + f->len : 0;
}

/* What waits for the backend is the client's too: it goes when its connection does. */
static void book(struct tunnel *t)
{
    const size_t held = held_in(&t->up) + held_in(&t->down) + proxy_link_held(&t->link);

    if (held == t->held || !t->client)
        return;
    t->held = held;
    mk_stream_hold(t->client, held);
}

/* @param is_cut  the backend broke: the client is not to take that for its end */
static void end_tunnel(struct tunnel *t, bool is_cut)
{
    mk_stream_hold(t->client, 0);
    if (is_cut && !t->down.has_ended)
        mk_stream_abort(t->client);
    else
        mk_stream_close(t->client);
    proxy_link_put(&t->link, false);
    t->report.outcome = PROXY_ANSWERED;
    t->report.whole_us = proxy_spent_us(t->began_us);
    t->report.sent = t->up.total;
    t->report.received = t->down.total;
    proxy_end(&t->attempt, &t->report);
    free(t->up.kept);
    free(t->down.kept);
    free(t);
}

/* @return as mk_stream_read. */
static ssize_t get(const struct flow *f, char *bytes, size_t len)
{
    return f->is_up ? mk_stream_read(f->of->client, bytes, len)
                    : proxy_link_read(&f->of->link, bytes, len);
}

/* @return bytes taken; MK_E_AGAIN; MK_E_EOF: the other side takes no more. */
static ssize_t put(const struct flow *f, char *bytes, size_t len)
{
    const struct iovec part = {bytes, len};
    ssize_t n = f->is_up ? proxy_link_write(&f->of->link, &part, 1)
                         : mk_stream_write(f->of->client, &part, 1);

    return n == MK_E_PEER ? MK_E_EOF : n;
}

/* @return 0: all is taken; or as put(). */
static int write_kept(struct flow *f)
{
    while (f->len > 0) {
        ssize_t n = put(f, f->kept + f->at, f->len);

        if (n < 0)
            return (int)n;
        f->at += (size_t)n;
        f->len -= (size_t)n;
    }
    free(f->kept);
    f->kept = NULL;
    return 0;
}

static int keep_piece(struct flow *f, const char *bytes, size_t len)
{
    f->kept = malloc(len);
    if (!f->kept)
        return MK_E_NOMEM;
    memcpy(f->kept, bytes, len);
    f->at = 0;
    f->len = len;
    return 0;
}

/* @return 0: go on; MK_E_AGAIN: one of the sides is to come first; or an error. */
static int move_piece(struct flow *f)
{
    char piece[PIECE];
    ssize_t n = get(f, piece, sizeof(piece)), taken;

    if (n < 0)
        return (int)n;
    f->has_ended = n == 0;
    f->total += (uint64_t)n;
    if (n == 0)
        return 0;
    taken = put(f, piece, (size_t)n);
    if (taken < 0 && taken != MK_E_AGAIN)
        return (int)taken;
    if (taken < 0)
        taken = 0;
    if (taken == n)
        return 0;
    if (keep_piece(f, piece + taken, (size_t)(n - taken)) < 0)
        return MK_E_NOMEM;
    return write_kept(f); /* a write that took a part is to be repeated until MK_E_AGAIN */
}

static void end_flow(struct flow *f)
{
    if (f->is_up)
        proxy_link_shutdown(&f->of->link);
    else
        mk_stream_shutdown(f->of->client);
    f->has_told = true;
}

/* @return 0 or an error: the tunnel is of no more use. */
static int move(struct flow *f)
{
    int err = f->kept ? write_kept(f) : 0, pieces = 0;

    while (err == 0 && !f->has_ended) {
        if (pieces++ == TURN_PIECES) {
            mk_stream_run_soon(f->of->client); /* a backend that is gone would not be heard */
            return 0;
        }
        err = move_piece(f);
    }
    if (err == 0 && !f->has_told)
        end_flow(f);
    return err == MK_E_AGAIN ? 0 : err;
}

/* Nobody takes it any more. */
static void give_up(struct flow *f)
{
    free(f->kept);
    f->kept = NULL;
    f->has_ended = f->has_told = true;
}

/* Both sides have ended. A call has when the last of it has left, or when its backend takes no more of it. */
static bool is_done(const struct tunnel *t)
{
    const bool is_up_done =
        proxy_link_is_framed(&t->link) ? t->up.has_told : proxy_link_is_over(&t->link);

    return is_up_done && t->down.has_told;
}

static void run_tunnel(struct tunnel *t)
{
    bool is_half = t->up.has_ended || t->down.has_ended, is_cut = false;
    int err;

    proxy_link_timeout(&t->link, is_half && t->idle_ms > HALF_MS ? HALF_MS : t->idle_ms);
    err = move(&t->up);
    if (err == MK_E_EOF) { /* what a backend sent before it was gone is passed on */
        give_up(&t->up);
        err = 0;
    }
    if (err == 0) {
        err = move(&t->down);
        is_cut = err == MK_E_PEER;
    }
    if (err < 0 || is_done(t))
        end_tunnel(t, is_cut);
    else
        book(t);
}

static void on_client(struct mk_stream *s, unsigned events, void *arg)
{
    struct tunnel *t = arg;

    (void)s;
    if ((events & MK_IO_ERROR) || events == MK_IO_HANGUP) /* broken; or the server stops */
        end_tunnel(t, false);
    else
        run_tunnel(t);
}

/* All that a call had has left, and nothing waits for that. */
static bool is_about_room(const struct tunnel *t, unsigned events)
{
    return events == MK_IO_WRITE && !t->up.kept && !proxy_link_is_framed(&t->link);
}

/* What came over a call before it was cut is there to be read, until that ends by an error. */
static void on_backend(struct mk_stream *s, unsigned events, void *arg)
{
    struct tunnel *t = arg;
    const bool is_cut = events & MK_IO_ERROR && proxy_link_is_framed(&t->link);

    (void)s;
    if (is_cut || events & MK_IO_TIMEOUT)
        end_tunnel(t, is_cut);
    else if (t->client && is_about_room(t, events))
        book(t);
    else if (t->client)
        run_tunnel(t);
}

/* ---- its beginning ---- */

static struct tunnel *new_tunnel(struct proxy_exchange *x)
{
    struct tunnel *t = calloc(1, sizeof(*t));
    size_t len = x->down->end - x->down->at;

    if (!t)
        return NULL;
    t->up = (struct flow){.of = t, .is_up = true};
    t->down = (struct flow){.of = t};
    t->idle_ms = (unsigned)x->set->tunnel_ms;
    t->began_us = x->began_us;
    t->report = x->report;
    t->report.status = 101;
    t->report.head_us = proxy_spent_us(x->began_us);
    t->down.total = len;
    if (len > 0 && keep_piece(&t->down, x->down->bytes + x->down->at, len) < 0) {
        free(t);
        return NULL;
    }
    return t;
}

/* What was the request's becomes the tunnel's. */
static void hand_over_tunnel(struct proxy_exchange *x, struct tunnel *t)
{
    proxy_answers(&x->attempt, 101);
    t->link = x->link;
    t->attempt = x->attempt;
    x->link = (struct proxy_link){.upstream = NULL};
    x->attempt.backend = NULL;
    proxy_link_tell(&t->link, on_backend, t);
    proxy_link_timeout(&t->link, t->idle_ms);
}

static int answer_upgrade(struct proxy_exchange *x, struct tunnel *t)
{
    struct mk_reply p;

    if (mk_reply_begin(&p, x->r, 101) < 0)
        return MK_E_PEER;
    proxy_answer_fields(x, &p);
    if (mk_reply_end(&p, 0) < 0)
        return MK_E_INVALID;
    proxy_exchange_turn(x, PROXY_TUNNEL);
    return mk_request_take(x->r, &t->client, on_client, t);
}

void proxy_tunnel_begin(struct proxy_exchange *x, size_t head_len)
{
    struct tunnel *t;
    int err = MK_E_NOMEM;

    x->down->at = head_len;
    t = new_tunnel(x);
    x->down->at = 0;
    if (t)
        err = answer_upgrade(x, t);
    if (err == 0) {
        hand_over_tunnel(x, t);
        mk_request_resume(x->r);
        return;
    }
    if (t)
        free(t->down.kept);
    free(t);
    proxy_exchange_give_up(x, PROXY_LEFT);
    proxy_exchange_fail(x, 502, "the protocol cannot be changed");
}
