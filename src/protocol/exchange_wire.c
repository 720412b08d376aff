/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"
#include "base/str.h"
#include "server/answer/reply.h"
#include "server/files/files.h"
#include "server/h1/conn.h"
#include "protocol/exchange.h"
#include "server/request/wire.h"
#include "server/worker/worker.h"

#include <monkey/server.h>

#include <unistd.h>

/* The seam between a request and the protocol of a plugin. */

/* ---- the request's body ---- */

/* The client waits for 100 before it sends (RFC 9110 section 10.1.1). */
static void expect_body(struct mk_exchange *x)
{
    struct mk_request *r = &x->carried.request;

    if (r->receiving != MK_RECEIVING_UNREAD)
        return;
    mk_receiving_go(r, MK_RECEIVING_READING);
    if (r->head.expect_continue && r->status == 0 && x->carrier->buffered(x->arg) == 0)
        (void)x->carrier->head(x->arg, 100, MK_STR(""), true);
}

static ssize_t count(struct mk_request *r, ssize_t n)
{
    r->body.total += (uint64_t)n;
    if (r->body.total > r->body.max)
        return MK_E_LIMIT;
    if (n == 0 || (!r->head.chunked && r->body.total == r->head.content_length))
        mk_receiving_go(r, MK_RECEIVING_DONE);
    return n;
}

static ssize_t read_body(struct mk_request *r, char *dst, size_t len)
{
    struct mk_exchange *x = mk_exchange_of(r);
    ssize_t n;

    if (mk_receiving_is_done(r))
        return 0;
    expect_body(x);
    n = x->carrier->read(x->arg, dst, len);
    if (n == MK_E_AGAIN && !x->carried.is_running)
        mk_carried_wake(r); /* another's event reads, and waits for the sender now */
    return n < 0 ? n : count(r, n);
}

static size_t buffered(const struct mk_request *r)
{
    const struct mk_exchange *x = mk_exchange_of(r);

    return x->carrier->buffered(x->arg);
}

/* ---- the head ---- */

static int begin_head(struct mk_reply *p)
{
    struct mk_exchange *x = mk_exchange_of(p->r);

    return mk_carried_begin_head(p, x->carrier->begin_head(x->arg, MK_LIMIT_ANSWER_ROOM),
                                 MK_LIMIT_ANSWER_ROOM);
}

static bool has_head(const struct mk_reply *p)
{
    const struct mk_exchange *x = mk_exchange_of(p->r);

    return x->carrier->has_head(x->arg);
}

static int end_interim(struct mk_reply *p)
{
    struct mk_exchange *x = mk_exchange_of(p->r);
    struct mk_str fields = {p->start, (size_t)(p->at - p->start)};

    return x->carrier->head(x->arg, p->status, fields, true);
}

/* The client asked for another protocol, and 2xx would say that it has it (RFC 8441 section 5, RFC 9110 section 9.3.6). */
static int refuse_switch(struct mk_request *r)
{
    struct mk_exchange *x = mk_exchange_of(r);

    r->status = 501;
    r->framing = MK_FRAMING_ABSENT;
    return x->carrier->head(x->arg, r->status, MK_STR("Content-Length: 0\r\n"), false);
}

static int end_head(struct mk_reply *p, int64_t length, bool has_content)
{
    struct mk_request *r = p->r;
    struct mk_exchange *x = mk_exchange_of(r);
    bool has_body = has_content && length != 0 && r->head.method != MK_METHOD_HEAD;
    struct mk_str fields = mk_carried_end_head(p, length, has_content);

    if (r->status == 101 && !x->may_switch)
        return MK_E_INVALID;
    if (r->status / 100 == 2 && x->may_switch)
        return refuse_switch(r);
    return x->carrier->head(x->arg, r->status, fields, has_body || mk_request_opens_tunnel(r));
}

/* ---- the body ---- */

static enum mk_pump may_send(const struct mk_request *r)
{
    const struct mk_exchange *x = mk_exchange_of(r);

    return x->dst_left > 0 && !mk_exchange_has_rest(x) ? MK_PUMP_DONE : MK_PUMP_READER;
}

static enum mk_pump read_file(struct mk_exchange *x, struct mk_source *s, size_t len)
{
    ssize_t n = pread(s->fd, x->dst, len, (off_t)s->at);

    if (n <= 0)
        return n < 0 ? MK_PUMP_BROKEN : MK_PUMP_TRUNCATED;
    x->dst += n;
    x->dst_left -= (size_t)n;
    s->at += (uint64_t)n;
    return MK_PUMP_DONE;
}

static enum mk_pump send_part(struct mk_request *r, struct mk_source *s, size_t *budget)
{
    struct mk_exchange *x = mk_exchange_of(r);
    const char *bytes = s->kind == MK_SOURCE_MEMORY ? s->bytes : s->file ? s->file->body : NULL;

    while (s->at < s->end) {
        size_t left = (size_t)(s->end - s->at < x->dst_left ? s->end - s->at : x->dst_left);
        enum mk_pump verdict = MK_PUMP_DONE;

        if (left == 0 || may_send(r) != MK_PUMP_DONE)
            return MK_PUMP_READER;
        if (*budget == 0)
            return MK_PUMP_TURN;
        if (bytes)
            s->at += mk_exchange_put(x, bytes + s->at, left);
        else
            verdict = read_file(x, s, left);
        if (verdict != MK_PUMP_DONE)
            return verdict;
        *budget -= left < *budget ? left : *budget;
    }
    return MK_PUMP_DONE;
}

static enum mk_pump send_piece(struct mk_request *r, const char *bytes, size_t len)
{
    struct mk_exchange *x = mk_exchange_of(r);
    size_t n = mk_exchange_put(x, bytes, len);

    if (n < len && mk_buf_append(&x->rest, bytes + n, len - n) < 0)
        return MK_PUMP_CUT;
    return MK_PUMP_DONE;
}

static enum mk_pump end_body(struct mk_request *r)
{
    struct mk_exchange *x = mk_exchange_of(r);
    struct mk_buf lines;
    int err;

    if (!r->trailer || !x->carrier->trailers)
        return MK_PUMP_DONE;
    mk_buf_init(&lines, MK_LIMIT_TRAILERS);
    err = mk_carried_put_trailers(r, &lines);
    if (err == 0)
        x->carrier->trailers(x->arg, mk_buf_str(&lines));
    mk_buf_fini(&lines);
    return err == 0 ? MK_PUMP_DONE : MK_PUMP_CUT;
}

/* ---- time and ends ---- */

static struct mk_str name_version(const struct mk_request *r)
{
    return mk_exchange_of(r)->carrier->version;
}

static void name_peer(const struct mk_request *r, char dst[MK_PEER_TEXT])
{
    (void)mk_conn_peer(r->conn, dst);
}

const struct mk_wire mk_exchange_wire = {
    .read = read_body,
    .buffered = buffered,
    .begin_head = begin_head,
    .has_head = has_head,
    .end_interim = end_interim,
    .end_head = end_head,
    .may_send = may_send,
    .send_part = send_part,
    .send_piece = send_piece,
    .flush = mk_carried_flush,
    .end_body = end_body,
    .take = mk_exchange_take,
    .watch_taken = mk_exchange_watch_taken,
    .wake = mk_carried_wake,
    .renew_timeout = mk_carried_renew_timeout,
    .version = name_version,
    .peer = name_peer,
};
