/* SPDX-License-Identifier: Apache-2.0 */
#include "conn.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>

/* A connection: bytes in to nghttp2, frames out to the client, time, and its end. */

enum {
    /* Bytes that the kernel may hold and has not sent: a response of high urgency waits behind them (RFC 9218 section 10). */
    UNSENT = 128 << 10,
    TURN_IN = 4 * H2_IN,   /* read in one event */
    TURN_OUT = 4 * H2_OUT, /* sent in one event */
    TICK_MS = 500,
    NEVER_MS = 3600 * 1000,
    SESSION = 32 << 10, /* of a session and its tables, which each connection may have */
    A_STREAM = 1024,    /* more for each stream */
    BOOKED = 4096,      /* in such steps */
    REST_MS = 5000,     /* for the end of a tunnel on its client's side: then the stream is reset */
    NOTICE_MS = 200,    /* between the two GOAWAY of a stop: requests on their way come meanwhile */
};

int64_t h2_conn_now_ms(const struct h2_conn *c)
{
    return mk_worker_now_ms(c->local->worker);
}

void h2_conn_wake(struct h2_conn *c)
{
    if (c->depth == 0 && c->stream)
        mk_stream_run_soon(c->stream);
}

bool h2_conn_pay(struct h2_conn *c, enum h2_price what)
{
    if (h2_credit_pay(&c->credit, what, h2_conn_now_ms(c)))
        return true;
    if (c->state != H2_CONN_OVER)
        h2_count(c->local->row, H2_COUNT_FLOODS, 1);
    h2_conn_fail(c, NGHTTP2_ENHANCE_YOUR_CALM);
    return false;
}

void h2_conn_fail(struct h2_conn *c, uint32_t code)
{
    if (c->state != H2_CONN_OVER)
        (void)nghttp2_session_terminate_session(c->session, code);
    c->state = H2_CONN_OVER;
}

/* ---- its end ---- */

static void free_conn(struct h2_conn *c)
{
    struct h2_local *l = c->local;

    while (c->streams)
        h2_stream_free(c->streams);
    if (!c->is_broken)
        nghttp2_session_del(c->session);
    h2_blocks_free(&c->blocks);
    h2_text_free(&c->left);
    free(c);
    h2_count(l->row, H2_COUNT_CONNECTIONS, -1);
    h2_local_put(l);
}

static void end(struct h2_conn *c)
{
    struct mk_stream *stream = c->stream;

    if (c->depth > 0) {
        c->is_lost = true;
        return;
    }
    c->depth++; /* what its streams wake is no more */
    c->stream = NULL;
    mk_conn_hold(c->conn, 0);
    free_conn(c);
    mk_stream_close(stream);
}

/* nghttp2 is not called again. */
static void break_session(struct h2_conn *c)
{
    c->is_lost = c->is_broken = true;
}

/* ---- output ---- */

/* @return false: the client takes no more now, or is lost. */
static bool send_left(struct h2_conn *c)
{
    struct iovec part = {c->left.p + c->left.at, h2_text_left(&c->left)};
    ssize_t n;

    if (part.iov_len == 0)
        return true;
    n = mk_stream_write(c->stream, &part, 1);
    if (n > 0) {
        c->moved_ms = h2_conn_now_ms(c);
        h2_text_use(&c->left, (size_t)n);
    } else if (n != MK_E_AGAIN) {
        c->is_lost = true;
    }
    return h2_text_left(&c->left) == 0;
}

/* One frame. @return whether there was one. */
static bool gather_frame(struct h2_conn *c)
{
    struct h2_local *l = c->local;
    const uint8_t *bytes;
    ssize_t n;

    l->has_data = false;
    n = nghttp2_session_mem_send(c->session, &bytes);
    if (n < 0) {
        break_session(c);
        return false;
    }
    if (n > 0)
        memcpy(l->out + l->used, bytes, (size_t)n);
    l->used += (size_t)n;
    return n > 0 || l->has_data;
}

/* @return whether nghttp2 has more frames than there is room for. */
static bool gather(struct h2_conn *c)
{
    struct h2_local *l = c->local;

    c->depth++;
    while (sizeof(l->out) - l->used >= H2_FRAME_HEAD + H2_FRAME_MAX) {
        if (!gather_frame(c)) {
            c->depth--;
            return false;
        }
    }
    c->depth--;
    return true;
}

/* @return false: the client takes no more now, or is lost. */
static bool send_gathered(struct h2_conn *c)
{
    struct h2_local *l = c->local;
    struct iovec part = {l->out, l->used};
    size_t used = l->used;
    ssize_t n;

    l->used = 0;
    if (used == 0)
        return true;
    n = mk_stream_write(c->stream, &part, 1);
    if (n < 0 && n != MK_E_AGAIN) {
        c->is_lost = true;
        return false;
    }
    if (n < 0)
        n = 0;
    c->moved_ms = h2_conn_now_ms(c);
    if ((size_t)n == used)
        return true;
    if (h2_text_append(&c->left, l->out + n, used - (size_t)n, H2_OUT) < 0)
        c->is_lost = true;
    return false;
}

static void send_frames(struct h2_conn *c)
{
    size_t sent = 0;
    bool has_more;

    if (!send_left(c))
        return;
    do {
        has_more = gather(c);
        sent += c->local->used;
        if (!send_gathered(c) || c->is_lost)
            return;
    } while (has_more && sent < TURN_OUT);
    if (has_more)
        mk_stream_run_soon(c->stream);
}

/* ---- input ---- */

/* @return false: the session is broken. */
static bool feed(struct h2_conn *c, const uint8_t *bytes, size_t len)
{
    ssize_t used;

    c->depth++;
    used = nghttp2_session_mem_recv(c->session, bytes, len);
    c->depth--;
    if (used < 0) /* not HTTP/2, or no memory */
        break_session(c);
    return used >= 0;
}

static bool is_expected(const struct h2_conn *c, int32_t id)
{
    const struct h2_stream *s = nghttp2_session_get_stream_user_data(c->session, id);

    return s && !s->has_end;
}

/* DATA of a stream that is not open may be a fault, which nghttp2 does not tell; or its HEADERS are among these bytes. */
static bool take_bytes(struct h2_conn *c, const uint8_t *bytes, size_t len)
{
    size_t fed = 0, at = 0;
    h2_fault fault = 0;
    int32_t id;

    while (at < len && fault == 0) {
        size_t before;

        at += h2_watch_bytes(&c->watch, bytes + at, len - at, &id, &fault);
        if (id == 0 || fault || (!c->watch.has_ends && is_expected(c, id)))
            continue;
        before =
            at > H2_FRAME_HEAD ? at - H2_FRAME_HEAD : 0; /* what came with an earlier read is fed */
        if (before > fed && !feed(c, bytes + fed, before - fed))
            return false;
        fed = before > fed ? before : fed;
        c->watch.has_ends = c->watch.is_end;
        if (!is_expected(c, id))
            fault = h2_watch_closed(&c->watch, id, true);
    }
    for (; c->watch.idle > 0 && h2_conn_pay(c, H2_PRICE_IDLE); c->watch.idle--)
        ;
    if (fault)
        h2_conn_fail(c, fault);
    c->watch.has_ends = false;
    return fault || fed == len || feed(c, bytes + fed, len - fed);
}

/* It sends no more: handlers that read what it sends hear of it, and requests that are not whole never will be. */
static void end_input(struct h2_conn *c)
{
    c->has_ended = true;
    for (struct h2_stream *s = c->streams; s; s = s->next) {
        if (s->is_joined && !s->has_end)
            h2_stream_end_input(s);
        else if (!s->has_end)
            (void)nghttp2_submit_rst_stream(c->session, NGHTTP2_FLAG_NONE, s->id, NGHTTP2_CANCEL);
    }
}

/* @return false: no more now. */
static bool receive_some(struct h2_conn *c)
{
    struct h2_local *l = c->local;
    ssize_t n = mk_stream_read(c->stream, l->in, sizeof(l->in));

    if (n == MK_E_AGAIN)
        return false;
    if (n <= 0) {
        end_input(c);
        c->is_lost = c->is_lost || n < 0;
        return false;
    }
    return take_bytes(c, l->in, (size_t)n);
}

/* Also from a client that takes nothing now: a request may be more urgent than what waits, and streams and credit bound them. */
static void receive(struct h2_conn *c)
{
    for (size_t got = 0; got < TURN_IN && !c->is_lost; got += H2_IN) {
        if (!receive_some(c))
            return;
    }
    mk_stream_run_soon(c->stream);
}

/* ---- time ---- */

static struct mk_conn_limits limits_of(const struct h2_conn *c)
{
    struct mk_conn_limits limits = {.size = sizeof(limits)};

    mk_conn_limits(c->conn, &limits);
    return limits;
}

/* The server stops, or the connection has had its requests. */
static void announce_end(struct h2_conn *c)
{
    if (c->state != H2_CONN_OPEN)
        return;
    (void)nghttp2_submit_shutdown_notice(c->session);
    c->state = H2_CONN_NOTICED;
}

/* The server stops. */
static void stop(struct h2_conn *c)
{
    for (struct h2_stream *s = c->streams; s; s = s->next)
        h2_stream_stop(s);
    announce_end(c);
}

static void leave(struct h2_conn *c)
{
    (void)nghttp2_submit_goaway(c->session, NGHTTP2_FLAG_NONE,
                                nghttp2_session_get_last_proc_stream_id(c->session),
                                NGHTTP2_NO_ERROR, NULL, 0);
    c->state = H2_CONN_LEAVING;
}

/* A stream whose client takes nothing holds its request's memory, and its backend. */
static void reset_stalled(struct h2_conn *c, int64_t now_ms, const struct mk_conn_limits *limits)
{
    struct h2_stream *s = c->streams, *next;

    for (; s; s = next) {
        next = s->next;
        if (s->is_joined) /* its handler's own limits apply */
            continue;
        if (s->state == H2_STREAM_SENDING && now_ms - s->moved_ms >= limits->write_ms)
            (void)nghttp2_submit_rst_stream(c->session, NGHTTP2_FLAG_NONE, s->id, NGHTTP2_CANCEL);
        else if (s->state == H2_STREAM_ENDED && !s->has_end && now_ms - s->moved_ms >= REST_MS)
            (void)nghttp2_submit_rst_stream(c->session, NGHTTP2_FLAG_NONE, s->id, NGHTTP2_NO_ERROR);
        else if (s->state == H2_STREAM_HEAD && now_ms - s->moved_ms >= limits->timeout_ms)
            c->is_lost = true; /* CONTINUATION that does not come: nothing else can be read */
    }
}

static void keep_alive(struct h2_conn *c, int64_t now_ms)
{
    int64_t ping_ms = c->local->set.ping_ms;

    if (ping_ms == 0 || now_ms - c->moved_ms < ping_ms)
        return;
    if (c->is_pinged && now_ms - c->moved_ms >= 2 * ping_ms)
        c->is_lost = true;
    else if (!c->is_pinged)
        (void)nghttp2_submit_ping(c->session, NGHTTP2_FLAG_NONE, NULL);
    c->is_pinged = true;
}

/* How long it may stay without a stream. */
static int64_t idle_left_ms(const struct h2_conn *c, int64_t now_ms,
                            const struct mk_conn_limits *limits)
{
    bool is_begun = nghttp2_session_get_last_proc_stream_id(c->session) > 0;

    return c->idle_ms + (is_begun ? limits->keepalive_ms : limits->timeout_ms) - now_ms;
}

/* An idle connection is not looked at before it must be. */
static void set_timeout(struct h2_conn *c)
{
    int64_t ping_ms = c->local->set.ping_ms, left_ms = TICK_MS;

    if (c->state == H2_CONN_NOTICED) {
        left_ms = NOTICE_MS;
    } else if (c->nstreams == 0 && h2_text_left(&c->left) == 0) {
        const struct mk_conn_limits limits = limits_of(c);

        left_ms = idle_left_ms(c, h2_conn_now_ms(c), &limits);
    } else if (c->nstreams == c->njoined && h2_text_left(&c->left) == 0) {
        left_ms = NEVER_MS; /* their handlers have the time */
    }
    if (ping_ms > 0 && ping_ms < left_ms)
        left_ms = ping_ms;
    mk_stream_timeout(c->stream, left_ms > 1 ? (unsigned)left_ms : 1);
}

static void tick(struct h2_conn *c)
{
    const struct mk_conn_limits limits = limits_of(c);
    int64_t now_ms = h2_conn_now_ms(c);

    if (c->state == H2_CONN_NOTICED)
        leave(c);
    if (h2_text_left(&c->left) > 0 && now_ms - c->moved_ms >= limits.write_ms)
        c->is_lost = true;
    reset_stalled(c, now_ms, &limits);
    keep_alive(c, now_ms);
    if (c->nstreams == 0 && idle_left_ms(c, now_ms, &limits) <= 0)
        h2_conn_fail(c, NGHTTP2_NO_ERROR);
}

/* Is there nothing more to do for it? */
static bool is_done(const struct h2_conn *c)
{
    if (h2_text_left(&c->left) > 0 || nghttp2_session_want_write(c->session))
        return false;
    if (c->nstreams == 0 &&
        (c->has_ended || c->state == H2_CONN_LEAVING || c->state == H2_CONN_OVER))
        return true;
    return !nghttp2_session_want_read(c->session);
}

/* What its client makes it keep: heads and bodies of requests, frames that nghttp2 queues, bytes that do not leave. */
static void book(struct h2_conn *c)
{
    size_t usual = SESSION + (size_t)c->nstreams * A_STREAM, all = c->held;

    if (c->blocks.held > usual)
        all += c->blocks.held - usual;
    all = (all + BOOKED - 1) / BOOKED * BOOKED;
    if (all != c->booked)
        mk_conn_hold(c->conn, all);
    c->booked = all;
}

static void go_on(struct h2_conn *c)
{
    if (!c->is_lost)
        send_frames(c);
    if (c->is_lost || is_done(c)) {
        end(c);
        return;
    }
    book(c);
    set_timeout(c);
}

static void on_event(struct mk_stream *stream, unsigned events, void *arg)
{
    struct h2_conn *c = arg;

    (void)stream;
    if (events & MK_IO_ERROR) {
        end(c);
        return;
    }
    if (c->depth > 0)
        return;
    if (events & (MK_IO_READ | MK_IO_HANGUP))
        receive(c);
    if (!c->is_lost && events & MK_IO_HANGUP && limits_of(c).is_stopping)
        stop(c);
    if (!c->is_lost && c->nrequests >= c->max_requests)
        announce_end(c);
    if (events & MK_IO_TIMEOUT && !c->is_lost)
        tick(c);
    go_on(c);
}

/* ---- its beginning ---- */

static int say_settings(struct h2_conn *c)
{
    const struct h2_settings *set = &c->local->set;
    const nghttp2_settings_entry entries[] = {
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, (uint32_t)set->max_streams},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, (uint32_t)set->stream_window},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, (uint32_t)c->max_head},
        {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},   /* RFC 9218 section 2.1 */
        {NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1}, /* RFC 8441 section 3 */
    };

    return nghttp2_submit_settings(c->session, NGHTTP2_FLAG_NONE, entries,
                                   sizeof(entries) / sizeof(entries[0]));
}

int h2_conn_begin(const struct mk_context *ctx, struct mk_conn *conn, struct mk_stream *stream)
{
    struct h2_local *l = ctx->local;
    struct h2_conn *c = calloc(1, sizeof(*c));
    struct mk_conn_limits limits;

    if (!c)
        return MK_E_NOMEM;
    c->local = l;
    l->refs++;
    h2_count(l->row, H2_COUNT_CONNECTIONS, 1);
    h2_count(l->row, H2_COUNT_CONNECTIONS_MADE, 1);
    c->conn = conn;
    c->stream = stream;
    (void)setsockopt(mk_conn_link(conn)->fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &(int){UNSENT},
                     sizeof(int));
    limits = limits_of(c);
    c->max_head = limits.max_head;
    c->max_requests = limits.max_requests;
    c->window = NGHTTP2_INITIAL_CONNECTION_WINDOW_SIZE;
    c->moved_ms = c->idle_ms = h2_conn_now_ms(c);
    c->left.sum = &c->held;
    h2_credit_init(&c->credit, c->idle_ms);
    h2_watch_init(&c->watch);
    h2_blocks_init(&c->blocks);
    if (nghttp2_session_server_new3(&c->session, l->callbacks, c, l->option, &c->blocks.mem) != 0 ||
        say_settings(c) != 0) {
        free_conn(c);
        return MK_E_NOMEM;
    }
    mk_stream_tell(stream, on_event, c);
    return 0;
}
