/* SPDX-License-Identifier: Apache-2.0 */
#include "probe.h"

#include <strings.h>

/*
 * A small reverse proxy. The body of a request is kept, so that it can be sent again when a connection that
 * had been idle turns out to be closed. The answer is read when the client has room for it. A client that
 * leaves takes everything with it: proxy_end.
 */

enum { ROOM = 16384 };

struct exchange {
    struct visit visit;
    struct mk_upstream *backend;
    struct mk_worker *worker;
    struct mk_spool *body;
    struct mk_alarm *slow; /* set while the backend is waited for */
    unsigned slow_ms;

    struct mk_upstream_wait *wait; /* for a connection; NULL: not waiting */
    struct mk_stream *s;           /* the connection; NULL: none */
    bool begun, fresh;

    char *head; /* of the request to the backend */
    size_t head_len;
    uint64_t sent; /* of head and body */

    struct mk_response_head answer;
    struct mk_body framing;
    bool answering, whole, reusable;
    size_t at, ready; /* body bytes in buf */
    size_t raw;       /* bytes at the front of buf that were received, and not looked at */
    char buf[ROOM];
};

static void give(struct exchange *x)
{
    if (x->s)
        mk_upstream_give(x->backend, x->s, x->whole && x->reusable);
    x->s = NULL;
}

/* The request has ended, in whichever way. */
static void proxy_end(struct visit *v)
{
    struct exchange *x = (struct exchange *)v;

    if (x->wait)
        mk_upstream_cancel(x->wait);
    give(x);
    mk_alarm_free(x->slow);
    mk_spool_free(x->body);
}

static void fail(struct exchange *x, unsigned status)
{
    mk_alarm_cancel(x->slow);
    give(x);
    visit_fail(&x->visit, status);
}

/* ---- to the backend ---- */

static char *write_head(struct exchange *x)
{
    struct mk_request_facts f = {.size = sizeof(f)};

    mk_request_facts(x->visit.r, &f);
    return mk_request_printf(x->visit.r,
                             "%.*s %.*s HTTP/1.1\r\nHost: backend\r\nContent-Length: %llu\r\n\r\n",
                             (int)f.method.len, f.method.p, (int)f.target.len, f.target.p,
                             (unsigned long long)mk_spool_size(x->body));
}

/* @return 0: all is sent; or MK_E_AGAIN, MK_E_PEER. */
static int send_request(struct exchange *x)
{
    char piece[ROOM];
    ssize_t n;

    for (;; x->sent += (uint64_t)n) {
        struct iovec part = {piece, 0};

        if (x->sent < x->head_len) {
            part = (struct iovec){x->head + x->sent, x->head_len - x->sent};
        } else {
            n = mk_spool_read(x->body, x->sent - x->head_len, piece, sizeof(piece));
            if (n <= 0)
                return (int)n;
            part.iov_len = (size_t)n;
        }
        n = mk_stream_write(x->s, &part, 1);
        if (n < 0)
            return (int)n;
    }
}

/* ---- the head of the answer ---- */

static bool is_of_the_connection(struct mk_str name)
{
    static const struct mk_str names[] = {
        MK_STR_INIT("Connection"), MK_STR_INIT("Keep-Alive"),        MK_STR_INIT("Content-Length"),
        MK_STR_INIT("Upgrade"),    MK_STR_INIT("Transfer-Encoding"), MK_STR_INIT("Trailer"),
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (name.len == names[i].len && strncasecmp(name.p, names[i].p, name.len) == 0)
            return true;
    }
    return false;
}

/* Asked when the client can take more. */
static ssize_t produce(struct mk_request *r, void *arg, char *dst, size_t len)
{
    struct exchange *x = arg;

    (void)r;
    while (x->ready == 0) {
        size_t used, n = x->raw;
        ssize_t got;
        int err;

        if (x->whole)
            return 0;
        err = mk_body_decode(&x->framing, x->buf, &n, &used);
        if (err < 0 && err != MK_E_AGAIN)
            return err;
        x->at = 0;
        x->ready = n;
        x->whole = err == 1;
        x->reusable = x->reusable && used == x->raw;
        x->raw = 0;
        if (x->whole)
            give(x);
        if (x->ready > 0 || x->whole)
            continue;
        got = mk_stream_read(x->s, x->buf, ROOM);
        if (got == MK_E_AGAIN)
            mk_alarm_set(x->slow, x->slow_ms);
        else
            mk_alarm_cancel(x->slow);
        if (got < 0)
            return got;
        x->raw = (size_t)got;
        if (got == 0 && (err = mk_body_end(&x->framing)) < 0)
            return err;
        x->whole = got == 0;
        x->reusable = x->reusable && got > 0;
    }
    if (len > x->ready)
        len = x->ready;
    memcpy(dst, x->buf + x->at, len);
    x->at += len;
    x->ready -= len;
    return (ssize_t)len;
}

static void pass_on(struct exchange *x)
{
    struct mk_request *r = x->visit.r;
    struct mk_request_facts f = {.size = sizeof(f)};
    struct mk_str name, value;
    struct mk_reply p;
    uint32_t at = 0;

    mk_request_facts(r, &f);
    mk_body_init(&x->framing, &x->answer, f.method.len == 4 && memcmp(f.method.p, "HEAD", 4) == 0);
    x->reusable = x->answer.keep_alive && x->sent == x->head_len + mk_spool_size(x->body);
    x->answering = true;
    mk_alarm_cancel(x->slow);
    if (mk_reply_begin(&p, r, x->answer.status) < 0)
        return;
    while (mk_response_next(&x->answer, x->buf, &at, &name, &value)) {
        if (!is_of_the_connection(name))
            mk_reply_line(&p, name, value);
    }
    if (mk_reply_end(&p, x->answer.content_length) == 0)
        (void)!mk_reply_producer(r, produce, x);
}

/* @return 0: the answer is on its way; MK_E_AGAIN, MK_E_PEER; MK_E_BAD: the backend talks garbage. */
static int read_head(struct exchange *x)
{
    ssize_t n;

    for (;;) {
        n = mk_response_parse(&x->answer, MK_RESPONSE_HTTP, x->buf, x->raw, ROOM);
        if (n > 0 && x->answer.status >= 200)
            break;
        if (n > 0) { /* an interim answer */
            x->raw -= (size_t)n;
            memmove(x->buf, x->buf + n, x->raw);
            x->answer = (struct mk_response_head){.line = 0};
            continue;
        }
        if (n != MK_E_AGAIN || x->raw == ROOM)
            return MK_E_BAD;
        n = mk_stream_read(x->s, x->buf + x->raw, ROOM - x->raw);
        if (n <= 0)
            return n == 0 ? MK_E_PEER : (int)n;
        x->raw += (size_t)n;
    }
    pass_on(x);
    x->raw -= (size_t)n;
    memmove(x->buf, x->buf + n, x->raw);
    mk_request_resume(x->visit.r);
    return 0;
}

/* ---- connections ---- */

static int begin(struct exchange *x, bool fresh);

static void on_backend(struct mk_stream *s, unsigned events, void *arg)
{
    struct exchange *x = arg;
    int err;

    (void)s;
    (void)events;
    if (x->answering) {
        mk_request_resume(x->visit.r); /* the producer finds out what there is */
        return;
    }
    err = send_request(x);
    if (err == 0 || err == MK_E_AGAIN || err == MK_E_PEER)
        err = read_head(x); /* it may answer before it heard everything */
    if (err == MK_E_PEER && x->raw == 0 && !x->fresh) {
        give(x);
        if (begin(x, true) < 0) /* it was closed while it was idle */
            fail(x, 503);
    } else if (err < 0 && err != MK_E_AGAIN) {
        fail(x, 502);
    }
}

static void on_connected(void *arg, struct mk_stream *s, bool fresh, int error)
{
    struct exchange *x = arg;

    x->wait = NULL;
    if (!s) {
        fail(x, error == MK_E_TIMEOUT ? 504 : 502);
        return;
    }
    x->s = s;
    x->fresh = fresh;
    x->sent = 0;
    mk_stream_tell(s, on_backend, x);
}

static int begin(struct exchange *x, bool fresh)
{
    return mk_upstream_take(x->backend, x->worker, fresh, on_connected, x, &x->wait);
}

static void on_slow(struct mk_alarm *alarm, void *arg)
{
    struct exchange *x = arg;

    (void)alarm;
    if (x->answering) {
        mk_reply_abort(x->visit.r);
        mk_request_resume(x->visit.r);
        return;
    }
    if (x->wait)
        mk_upstream_cancel(x->wait);
    x->wait = NULL;
    fail(x, 504);
}

enum mk_verdict proxy_handle(struct mk_request *r, const struct mk_context *ctx,
                             const struct probe_route *route)
{
    const struct probe *probe = ctx->config;
    struct exchange *x = visit_of(r, ctx, sizeof(*x), proxy_end);
    enum mk_verdict verdict;

    (void)route;
    if (!x)
        return mk_reply_error(r, 503, NULL);
    if (x->begun)
        return MK_VERDICT_LATER;
    verdict = body_keep(r, &x->body);
    if (verdict != MK_VERDICT_PASS)
        return verdict;
    x->begun = true;
    x->backend = probe->backend;
    x->worker = ctx->worker;
    x->slow_ms = (unsigned)probe->settings->backend_ms;
    x->head = write_head(x);
    x->head_len = x->head ? strlen(x->head) : 0;
    x->slow = mk_alarm_new(ctx->worker, on_slow, x);
    if (!x->head || !x->slow)
        return mk_reply_error(r, 503, NULL);
    mk_request_ends_on_hangup(r, true);
    mk_request_timeout(r, 0); /* the alarm knows better */
    mk_alarm_set(x->slow, x->slow_ms);
    return begin(x, false) < 0 ? mk_reply_error(r, 503, NULL) : MK_VERDICT_LATER;
}
