/* SPDX-License-Identifier: Apache-2.0 */
#include "links/call_int.h"

#include "kit/h2/lines.h"
#include "kit/text/words.h"

#include <stdlib.h>

enum {
    OUT_MAX = 64 << 10,  /* of a body that waits for the backend's windows */
    HEAD_MAX = 1 << 20,  /* of an answer, interim ones too: above what MaxAnswerHead lets through */
    AFTER_MAX = 16 << 10 /* of its trailers */
};

#define ROW(symbol, name, next, sentence) [PROXY_CALL_##symbol] = {(name), (next)},
static const struct states_row rows[] = {PROXY_CALL_STATES(ROW)};
#undef ROW

const struct states proxy_call_states = {"call", sizeof(rows) / sizeof(rows[0]), rows};

static void trace(const void *call, const struct states *table, unsigned was, unsigned is)
{
    const struct proxy_call *c = call;

    mk_server_log(mk_worker_server(c->worker), MK_LOG_TRACE,
                  "proxy state of=%s was=%s is=%s worker=%u connection=%u stream=%u", table->of,
                  table->rows[was].name, table->rows[is].name, mk_worker_index(c->worker),
                  c->conn ? c->conn->number : 0, c->base.id);
}

void proxy_call_turn_to(struct proxy_call *c, enum proxy_call_state state)
{
    if (c->conn)
        c->conn->ncalls_in[c->state]--;
    states_turn(&proxy_call_states, &c->state, state, c->is_traced ? trace : NULL, c);
    if (c->conn)
        c->conn->ncalls_in[c->state]++;
}

/* ---- its life ---- */

int proxy_call_begin(struct proxy_call **call, struct proxy_calls *calls,
                     const struct proxy_call_way *way, bool fresh, proxy_called_fn called,
                     void *arg)
{
    struct proxy_call *c = calloc(1, sizeof(*c));
    int err = MK_E_NOMEM;

    *call = NULL;
    if (!c)
        return MK_E_NOMEM;
    c->called = called;
    c->arg = arg;
    c->worker = calls->worker;
    c->wants_fresh = fresh;
    c->is_traced = mk_server_logs(mk_worker_server(calls->worker), MK_LOG_TRACE);
    c->conn = proxy_conn_for(calls, way, fresh, &err);
    if (!c->conn) {
        free(c);
        return err;
    }
    proxy_conn_join(c->conn, c);
    *call = c;
    return 0;
}

void proxy_call_free(struct proxy_call *c)
{
    mk_alarm_free(c->alarm);
    h2_text_free(&c->head);
    h2_text_free(&c->body);
    h2_text_free(&c->after);
    h2_text_free(&c->out);
    h2_text_free(&c->last);
    h2_text_free(&c->opening);
    free(c);
}

void proxy_call_unlink(struct proxy_call *c)
{
    *c->at = c->next;
    if (c->next)
        c->next->at = c->at;
    else if (c->conn)
        c->conn->last = c->at;
    c->at = NULL;
}

/* Both sides have ended, and ours says so as soon as the connection sends: a reset would only alarm its backend. */
static bool is_ending(const struct proxy_call *c)
{
    return c->has_end && c->is_sent && h2_text_left(&c->out) == 0 && c->base.window > 0 &&
           c->base.session->window > 0;
}

void proxy_call_put(struct proxy_call *c)
{
    struct proxy_conn *conn = c->conn;

    mk_alarm_free(c->alarm);
    c->alarm = NULL;
    c->called = NULL;
    c->fn = NULL;
    c->is_put = true;
    if (c->state == PROXY_CALL_OPEN && conn) { /* it is freed when the session has swept it */
        if (!is_ending(c))
            h2_stream_reset(&c->base, H2_E_CANCEL);
        proxy_conn_wake(conn);
        return;
    }
    if (conn)
        proxy_conn_part(conn, c);
    else if (c->at) /* its connection was lost, and others hear of that before it */
        proxy_call_unlink(c);
    proxy_call_free(c);
}

/* The last event of one whose answer is cut. */
static unsigned cut(struct proxy_call *c)
{
    if (c->alarm)
        mk_alarm_cancel(c->alarm);
    return MK_IO_READ | MK_IO_ERROR;
}

void proxy_call_lose(struct proxy_call *c, int error)
{
    proxy_called_fn called = c->called;

    c->conn = NULL;
    c->was_refused = c->was_refused || c->state == PROXY_CALL_READY; /* nothing of it has left */
    if (c->state != PROXY_CALL_OVER) { /* one that is over needs none, but may not know it yet */
        proxy_call_turn_to(c, PROXY_CALL_OVER);
        c->events |= cut(c);
    }
    if (c->is_put) {
        proxy_call_free(c);
    } else if (called) {
        void *arg = c->arg;

        proxy_call_free(c);
        called(arg, true, error);
    } else if (c->fn && c->events) {
        c->fn(NULL, c->events, c->arg);
    }
}

/* ---- what its owner is told ---- */

void proxy_call_note(struct proxy_call *c, unsigned events)
{
    struct proxy_conn *conn = c->conn;

    c->events |= events;
    if (c->told_at || !conn)
        return;
    c->told = NULL;
    c->told_at = conn->told_last;
    *conn->told_last = c;
    conn->told_last = &c->told;
}

void proxy_call_tell(struct proxy_call *c, mk_stream_fn fn, void *arg)
{
    c->fn = fn;
    c->arg = arg;
    proxy_call_run_soon(c);
}

void proxy_call_run_soon(struct proxy_call *c)
{
    if (c->state == PROXY_CALL_OVER && !c->has_end)
        return;
    proxy_call_note(c, MK_IO_READ | MK_IO_WRITE);
    if (c->conn)
        proxy_conn_wake(c->conn);
}

static void on_alarm(struct mk_alarm *alarm, void *arg)
{
    struct proxy_call *c = arg;

    (void)alarm;
    if (c->conn)
        proxy_conn_doubt(c->conn);
    if (c->fn)
        c->fn(NULL, MK_IO_TIMEOUT, c->arg);
}

void proxy_call_timeout(struct proxy_call *c, unsigned ms)
{
    if (ms > 0 && !c->alarm)
        c->alarm = mk_alarm_new(c->worker, on_alarm, c);
    if (!c->alarm)
        return;
    if (ms > 0)
        mk_alarm_set(c->alarm, ms);
    else
        mk_alarm_cancel(c->alarm);
}

const struct mk_stream *proxy_call_stream(const struct proxy_call *c)
{
    return c->conn ? c->conn->channel.stream : NULL;
}

bool proxy_call_is_lost(const struct proxy_call *c)
{
    return !c->conn;
}

bool proxy_call_was_refused(const struct proxy_call *c)
{
    return c->was_refused;
}

/* ---- the request ---- */

/* The end of a head; 0: it is not whole. */
static size_t end_of_head(const struct iovec *part)
{
    const char *end = memmem(part->iov_base, part->iov_len, "\r\n\r\n", 4);

    return end ? (size_t)(end - (const char *)part->iov_base) + 4 : 0;
}

/* A tunnel is asked for when its backend offers them (RFC 8441 section 3), or where no stream can be begun anyway. */
static int may_open(const struct proxy_call *c, const struct proxy_call_head *h)
{
    const struct h2_session *s = &c->conn->channel.session;

    if (!h->protocol.p || s->takes_connect || h2_session_room(s) == 0)
        return 0;
    return s->is_greeted ? MK_E_UNSUPPORTED : MK_E_AGAIN;
}

static int open_stream(struct proxy_call *c, const struct proxy_call_head *h)
{
    struct proxy_conn *conn = c->conn;

    if (!h2_session_open(&conn->channel.session, &c->base)) { /* the backend takes fewer now */
        c->was_refused = true;
        proxy_call_turn_to(c, PROXY_CALL_OVER);
        proxy_call_note(c, cut(c));
        proxy_conn_wake(conn);
        return MK_E_PEER;
    }
    c->base.is_head = text_is(h->method, MK_STR("HEAD"));
    c->base.is_connect = h->protocol.p != NULL;
    proxy_call_turn_to(c, PROXY_CALL_OPEN);
    c->to_send = h->to_send;
    c->is_sent = h->to_send == 0;
    return proxy_call_write_head(&c->base, h, conn->way.is_secure);
}

/* @return bytes of the head; as of proxy_call_write. */
static ssize_t begin_request(struct proxy_call *c, const struct iovec *part)
{
    const size_t len = end_of_head(part);
    struct proxy_call_head h;
    int err;

    err = proxy_call_read_head(&h, (struct mk_str){part->iov_base, len});
    if (err == 0)
        err = may_open(c, &h);
    if (err == 0 && h.protocol.p && c->opening.len == 0)
        err = proxy_call_write_opening(&c->opening, &h);
    if (err == 0)
        err = open_stream(c, &h);
    return err < 0 ? err : (ssize_t)len;
}

/* @return bytes for which there was room. */
static ssize_t put_body(struct proxy_call *c, const char *bytes, size_t len)
{
    size_t room = OUT_MAX - h2_text_left(&c->out), n = len < room ? len : room;

    if (h2_text_append(&c->out, bytes, n, OUT_MAX) < 0)
        return MK_E_NOMEM;
    c->is_full = n < len;
    if (c->to_send > 0) {
        c->to_send -= (int64_t)n;
        c->is_sent = c->to_send <= 0;
    }
    return (ssize_t)n;
}

ssize_t proxy_call_write(struct proxy_call *c, const struct iovec *iov, int niov)
{
    size_t sum = 0, at = 0;

    if (!c->conn || c->state == PROXY_CALL_OVER)
        return MK_E_PEER;
    if (c->state == PROXY_CALL_WAITING)
        return MK_E_AGAIN;
    if (c->state == PROXY_CALL_READY) {
        const ssize_t n = begin_request(c, iov);

        if (n < 0)
            return n;
        sum = at = (size_t)n;
    }
    for (int i = 0; i < niov && !c->is_full; i++, at = 0) {
        ssize_t n = put_body(c, (const char *)iov[i].iov_base + at, iov[i].iov_len - at);

        if (n < 0)
            return n;
        sum += (size_t)n;
    }
    h2_stream_resume(&c->base);
    proxy_conn_wake(c->conn);
    return sum > 0 ? (ssize_t)sum : MK_E_AGAIN;
}

int proxy_call_end_body(struct proxy_call *c, struct mk_str trailers)
{
    if (!c->conn || c->state != PROXY_CALL_OPEN)
        return MK_E_PEER;
    if (c->is_sent)
        return 0;
    if (h2_text_append(&c->last, trailers.p, trailers.len, AFTER_MAX) == MK_E_NOMEM)
        return MK_E_NOMEM;
    c->is_sent = true;
    h2_stream_resume(&c->base);
    proxy_conn_wake(c->conn);
    return 0;
}

/* ---- the answer ---- */

/* Bytes of the body may come that were read. */
static void use(struct proxy_call *c, size_t n)
{
    if (c->state != PROXY_CALL_OPEN || !c->conn)
        return;
    c->base.session->now_ms = mk_worker_now_ms(c->worker);
    h2_stream_use(&c->base, n);
    proxy_conn_wake(c->conn);
}

ssize_t proxy_call_read(struct proxy_call *c, char *dst, size_t len)
{
    size_t n = h2_text_take(&c->head, dst, len);

    if (n == 0 && (n = h2_text_take(&c->body, dst, len)) > 0)
        use(c, n);
    if (n > 0)
        return (ssize_t)n;
    if (c->has_end)
        return 0;
    return c->state == PROXY_CALL_OVER ? MK_E_PEER : MK_E_AGAIN;
}

size_t proxy_call_held(struct proxy_call *c)
{
    c->is_held = h2_text_left(&c->out) > 0;
    return c->out.cap + c->body.cap;
}

bool proxy_call_is_over(const struct proxy_call *c)
{
    return c->state == PROXY_CALL_OVER;
}

struct mk_str proxy_call_trailers(const struct proxy_call *c)
{
    return (struct mk_str){c->after.p, c->after.len};
}

/* ---- what its session tells ---- */

static struct proxy_call *whole(struct h2_stream *st)
{
    return (struct proxy_call *)((char *)st - offsetof(struct proxy_call, base));
}

/* What is too large breaks a rule of the session's. */
static int judged(int err)
{
    return err == MK_E_LIMIT ? MK_E_BAD : err;
}

static int begin_head(struct proxy_call *c, struct mk_str status)
{
    char line[] = "HTTP/1.1 101 \r\n";
    int err;

    c->has_length = false;
    c->is_opened = c->opening.len > 0 && status.p[0] == '2'; /* RFC 8441 section 5 */
    if (!c->is_opened)
        memcpy(line + 9, status.p, 3); /* as long as h2_message_field lets it be */
    err = h2_text_append(&c->head, line, sizeof(line) - 1, HEAD_MAX);
    if (err == 0 && c->is_opened)
        err = h2_text_append(&c->head, c->opening.p, c->opening.len, HEAD_MAX);
    return judged(err);
}

/* What the opened tunnel's head says itself, or must not. */
static bool is_of_opening(enum h2_field kind, struct mk_str name)
{
    return kind == H2_FIELD_CONTENT_LENGTH || text_is(name, MK_STR("sec-websocket-accept"));
}

static int on_field(struct h2_stream *st, enum h2_field kind, const struct hpack_field *f)
{
    struct proxy_call *c = whole(st);

    if (st->message.is_trailer)
        return judged(h2_text_append_line(&c->after, f->name, f->value, AFTER_MAX));
    if (kind == H2_FIELD_STATUS)
        return begin_head(c, f->value);
    if (c->is_opened && is_of_opening(kind, f->name))
        return 0;
    c->has_length = c->has_length || kind == H2_FIELD_CONTENT_LENGTH;
    return judged(h2_text_append_line(&c->head, f->name, f->value, HEAD_MAX));
}

/* An answer that ends with its head says so, but those that have no body anyway (RFC 9110 section 6.4.1). */
static int end_head(struct proxy_call *c)
{
    const struct h2_stream *st = &c->base;
    bool says_so = h2_stream_has_end(st) && !c->has_length && !st->is_head && !c->is_opened &&
                   st->status >= 200 && st->status != 204 && st->status != 304;
    const struct mk_str end = says_so ? MK_STR("Content-Length: 0\r\n\r\n") : MK_STR("\r\n");

    return judged(h2_text_append(&c->head, end.p, end.len, HEAD_MAX));
}

/* Of a tunnel that is refused, no more is to come from us. */
static void end_refused(struct proxy_call *c)
{
    if (c->opening.len == 0 || c->is_opened || c->base.status < 200)
        return;
    c->is_sent = true;
    h2_stream_resume(&c->base);
}

static int on_head(struct h2_stream *st)
{
    struct proxy_call *c = whole(st);

    end_refused(c);
    c->has_end = h2_stream_has_end(st);
    proxy_call_note(c, MK_IO_READ);
    return end_head(c);
}

static int on_data(struct h2_stream *st, const uint8_t *bytes, size_t len)
{
    struct proxy_call *c = whole(st);

    if (c->is_put) {
        h2_stream_use(st, len);
        return 0;
    }
    proxy_call_note(c, MK_IO_READ);
    return h2_text_append(&c->body, bytes, len, UINT32_MAX / 8) < 0 ? MK_E_NOMEM : 0;
}

static void on_end(struct h2_stream *st)
{
    struct proxy_call *c = whole(st);

    c->has_end = true;
    if (c->after.len > 0 && h2_text_append(&c->after, "\r\n", 2, AFTER_MAX + 2) < 0)
        h2_text_free(&c->after);
    proxy_call_note(c, MK_IO_READ);
}

static ssize_t on_give(struct h2_stream *st, char *dst, size_t len, enum h2_last *last)
{
    struct proxy_call *c = whole(st);
    size_t n = h2_text_take(&c->out, dst, len);
    bool is_last = c->is_sent && h2_text_left(&c->out) == 0;

    if (c->is_full && h2_text_left(&c->out) <= OUT_MAX / 2) {
        c->is_full = false;
        proxy_call_note(c, MK_IO_WRITE);
    }
    if (c->is_held && h2_text_left(&c->out) == 0) {
        c->is_held = false;
        proxy_call_note(c, MK_IO_WRITE);
    }
    if (is_last)
        *last = c->last.len > 0 ? H2_LAST_TRAILERS : H2_LAST_END;
    return n > 0 || is_last ? (ssize_t)n : MK_E_AGAIN;
}

static bool on_trailers(struct h2_stream *st)
{
    const struct proxy_call *c = whole(st);

    return h2_send_trailers(st, (struct mk_str){c->last.p, c->last.len});
}

static void on_answered(struct h2_stream *st)
{
    (void)st;
}

static void on_over(struct h2_stream *st)
{
    struct proxy_call *c = whole(st);

    c->was_refused = st->error == H2_E_REFUSED_STREAM;
    proxy_call_turn_to(c, PROXY_CALL_OVER);
    if (c->is_put) {
        proxy_conn_part(c->conn, c);
        proxy_call_free(c);
        return;
    }
    proxy_call_note(c, c->has_end ? MK_IO_READ : cut(c));
}

const struct h2_events proxy_call_events = {
    .field = on_field,
    .head = on_head,
    .data = on_data,
    .end = on_end,
    .give = on_give,
    .trailers = on_trailers,
    .answered = on_answered,
    .over = on_over,
};
