/* SPDX-License-Identifier: Apache-2.0 */
#include "conn.h"

#include <stdlib.h>

/* A connection: bytes in to its session, frames out to the client, time, and its end. */

enum {
    TICK_MS = 500,
    NEVER_MS = 3600 * 1000,
    TABLES = 2 << 10, /* of its session's, which each connection may have */
    BOOKED = 4096,    /* in such steps */
    REST_MS = 5000,   /* for the end of a tunnel on its client's side: then the stream is reset */
    NOTICE_MS = 200,  /* between the two GOAWAY of a stop: requests on their way come meanwhile */
};

#define ROW(symbol, name, next, sentence) [HTTP2_CONN_##symbol] = {(name), (next)},
static const struct states_row rows[] = {HTTP2_CONN_STATES(ROW)};
#undef ROW

const struct states http2_conn_states = {"connection", sizeof(rows) / sizeof(rows[0]), rows};

static struct mk_conn_facts facts_of(const struct http2_conn *c)
{
    struct mk_conn_facts facts = {.size = sizeof(facts)};

    mk_conn_facts(c->conn, &facts);
    return facts;
}

static void trace(const void *conn, const struct states *table, unsigned was, unsigned is)
{
    const struct mk_conn_facts facts = facts_of(conn);

    mk_server_log(facts.server, MK_LOG_TRACE, "http2 state of=%s was=%s is=%s conn=%llu", table->of,
                  table->rows[was].name, table->rows[is].name, (unsigned long long)facts.id);
}

static void trace_stream(const void *stream, const struct states *table, unsigned was, unsigned is)
{
    const struct h2_stream *st = stream;
    const struct mk_conn_facts facts = facts_of(http2_conn_of(st->session));

    mk_server_log(facts.server, MK_LOG_TRACE,
                  "http2 state of=%s was=%s is=%s conn=%llu stream=%u error=%u", table->of,
                  table->rows[was].name, table->rows[is].name, (unsigned long long)facts.id, st->id,
                  st->error);
}

static void begin_trace(struct http2_conn *c)
{
    c->is_traced = mk_server_logs(mk_worker_server(c->local->worker), MK_LOG_TRACE);
    c->channel.session.log = c->is_traced ? trace_stream : NULL;
}

static void turn_to(struct http2_conn *c, enum http2_conn_state state)
{
    states_turn(&http2_conn_states, &c->state, state, c->is_traced ? trace : NULL, c);
}

int64_t http2_conn_now_ms(const struct http2_conn *c)
{
    return mk_worker_now_ms(c->local->worker);
}

void http2_conn_wake(struct http2_conn *c)
{
    h2_channel_wake(&c->channel);
}

/* ---- its end ---- */

static void free_conn(struct http2_conn *c)
{
    struct http2_local *l = c->local;

    h2_channel_fini(&c->channel);
    while (c->streams)
        http2_stream_free(c->streams);
    free(c);
    http2_count(l->row, HTTP2_COUNT_CONNECTIONS, -1);
    http2_local_put(l);
}

static void end(struct http2_conn *c)
{
    struct mk_stream *stream = c->channel.stream;

    mk_conn_hold(c->conn, 0);
    free_conn(c);
    mk_stream_close(stream);
}

/* ---- input ---- */

/* It sends no more: handlers that read what it sends hear of it, and requests that are not whole never will be. */
static void end_input(struct http2_conn *c)
{
    struct http2_stream *s = c->streams, *next;

    for (; s; s = next) {
        next = s->next;
        http2_stream_cut_input(s);
    }
}

static void receive(struct http2_conn *c)
{
    bool had_ended = c->channel.has_ended;

    h2_channel_receive(&c->channel);
    if (c->channel.has_ended && !had_ended)
        end_input(c);
}

/* ---- time ---- */

static struct mk_conn_limits limits_of(const struct http2_conn *c)
{
    struct mk_conn_limits limits = {.size = sizeof(limits)};

    mk_conn_limits(c->conn, &limits);
    return limits;
}

/* The server stops, or the connection has had its requests. */
static void announce_end(struct http2_conn *c)
{
    if (c->state != HTTP2_CONN_OPEN || c->channel.session.is_over)
        return;
    h2_session_notice(&c->channel.session);
    turn_to(c, HTTP2_CONN_NOTICED);
    c->tick_ms = 0; /* the time for what is on its way begins now */
}

/* The server stops. */
static void stop(struct http2_conn *c)
{
    for (struct http2_stream *s = c->streams; s; s = s->next)
        http2_stream_stop(s);
    announce_end(c);
}

static void leave(struct http2_conn *c)
{
    h2_session_refuse(&c->channel.session);
    turn_to(c, HTTP2_CONN_LEAVING);
}

/* A stream whose client takes nothing holds its request's memory, and its backend. */
static void reset_stalled(struct http2_conn *c, int64_t now_ms, const struct mk_conn_limits *limits)
{
    for (struct http2_stream *s = c->streams; s; s = s->next) {
        int64_t since_ms = now_ms - s->moved_ms;

        if (s->is_joined) /* its handler's own limits apply */
            continue;
        if (s->base.sending == H2_SENDING_READY && since_ms >= limits->write_ms)
            h2_stream_reset(&s->base, H2_E_CANCEL);
        else if (s->base.state == H2_STREAM_HALF_LOCAL && since_ms >= REST_MS)
            h2_stream_reset(&s->base, H2_E_NO_ERROR);
        else if (s->base.state == H2_STREAM_HEAD && since_ms >= limits->timeout_ms)
            c->channel.is_lost =
                true; /* CONTINUATION that does not come: nothing else can be read */
    }
}

static void keep_alive(struct http2_conn *c, int64_t now_ms)
{
    int64_t ping_ms = c->local->set.ping_ms;

    if (c->channel.session.was_pinged)
        c->is_pinged = c->channel.session.was_pinged = false;
    if (ping_ms == 0 || now_ms - c->channel.moved_ms < ping_ms)
        return;
    if (c->is_pinged && now_ms - c->channel.moved_ms >= 2 * ping_ms)
        c->channel.is_lost = true;
    else if (!c->is_pinged)
        h2_session_ping(&c->channel.session);
    c->is_pinged = true;
}

/* How long it may stay without a stream. */
static int64_t idle_left_ms(const struct http2_conn *c, int64_t now_ms,
                            const struct mk_conn_limits *limits)
{
    bool is_begun = c->channel.session.newest > 0;

    return c->idle_ms + (is_begun ? limits->keepalive_ms : limits->timeout_ms) - now_ms;
}

/* Not later than was said before: a client that sends something all the time would put it off. */
static void set_tick(struct http2_conn *c, int64_t left_ms)
{
    int64_t at_ms;

    if (left_ms < 1)
        left_ms = 1;
    at_ms = http2_conn_now_ms(c) + left_ms;
    if (c->tick_ms != 0 && c->tick_ms <= at_ms)
        return;
    c->tick_ms = at_ms;
    mk_stream_timeout(c->channel.stream, (unsigned)left_ms);
}

/* An idle connection is not looked at before it must be. */
static void set_timeout(struct http2_conn *c)
{
    int64_t ping_ms = c->local->set.ping_ms, left_ms = TICK_MS;

    if (c->state == HTTP2_CONN_NOTICED) {
        left_ms = NOTICE_MS;
    } else if (c->nstreams == 0 && h2_text_left(&c->channel.left) == 0) {
        const struct mk_conn_limits limits = limits_of(c);

        left_ms = idle_left_ms(c, http2_conn_now_ms(c), &limits);
    } else if (c->nstreams == c->njoined && h2_text_left(&c->channel.left) == 0) {
        left_ms = NEVER_MS; /* their handlers have the time */
    }
    if (ping_ms > 0 && ping_ms < left_ms)
        left_ms = ping_ms;
    set_tick(c, left_ms);
}

static void tick(struct http2_conn *c)
{
    const struct mk_conn_limits limits = limits_of(c);
    int64_t now_ms = http2_conn_now_ms(c);

    if (c->state == HTTP2_CONN_NOTICED)
        leave(c);
    if (h2_text_left(&c->channel.left) > 0 && now_ms - c->channel.moved_ms >= limits.write_ms)
        c->channel.is_lost = true;
    reset_stalled(c, now_ms, &limits);
    keep_alive(c, now_ms);
    if (c->nstreams == 0 && idle_left_ms(c, now_ms, &limits) <= 0)
        h2_session_fail(&c->channel.session, H2_E_NO_ERROR);
}

/* ---- events ---- */

/* Is there nothing more to do for it? */
static bool is_done(const struct http2_conn *c)
{
    if (!h2_channel_is_flushed(&c->channel))
        return false;
    return c->channel.session.is_over ||
           (c->nstreams == 0 && (c->channel.has_ended || c->state == HTTP2_CONN_LEAVING));
}

/* What its client makes it keep: heads and bodies of requests, frames that wait, bytes that do not leave. */
static void book(struct http2_conn *c)
{
    size_t tables = h2_session_held(&c->channel.session), all = c->held;

    if (tables > TABLES)
        all += tables - TABLES;
    all = (all + BOOKED - 1) / BOOKED * BOOKED;
    if (all != c->booked)
        mk_conn_hold(c->conn, all);
    c->booked = all;
}

static void count_ends(struct http2_conn *c)
{
    struct h2_session *s = &c->channel.session;

    if (s->resets > 0)
        http2_count(c->local->row, HTTP2_COUNT_RESETS_OF_OURS, (int)s->resets);
    if (s->resets_of_peer > 0)
        http2_count(c->local->row, HTTP2_COUNT_RESETS_OF_CLIENTS, (int)s->resets_of_peer);
    if (s->is_flooded && !c->is_counted)
        http2_count(c->local->row, HTTP2_COUNT_FLOODS, 1);
    s->resets = s->resets_of_peer = 0;
    c->is_counted = s->is_flooded;
}

static void go_on(struct http2_conn *c)
{
    h2_channel_send(&c->channel);
    count_ends(c);
    if (c->channel.is_lost || is_done(c)) {
        end(c);
        return;
    }
    if (h2_text_left(&c->channel.left) > 0)
        http2_ahead_follow(&c->ahead, mk_conn_link(c->conn)->fd, &c->channel);
    book(c);
    set_timeout(c);
    h2_channel_end(&c->channel);
}

static void on_event(struct mk_stream *stream, unsigned events, void *arg)
{
    struct http2_conn *c = arg;

    (void)stream;
    if (events & MK_IO_ERROR) {
        end(c);
        return;
    }
    h2_channel_begin(&c->channel, http2_conn_now_ms(c));
    if (events & (MK_IO_READ | MK_IO_HANGUP))
        receive(c);
    if (!c->channel.is_lost && events & MK_IO_HANGUP && limits_of(c).is_stopping)
        stop(c);
    if (!c->channel.is_lost && c->nrequests >= c->max_requests)
        announce_end(c);
    if (events & MK_IO_TIMEOUT)
        c->tick_ms = 0;
    if (events & MK_IO_TIMEOUT && !c->channel.is_lost)
        tick(c);
    go_on(c);
}

/* ---- its beginning ---- */

int http2_conn_begin(const struct mk_context *ctx, struct mk_conn *conn, struct mk_stream *stream)
{
    struct http2_local *l = ctx->local;
    struct http2_conn *c = calloc(1, sizeof(*c));
    struct mk_conn_limits limits;

    if (!c)
        return MK_E_NOMEM;
    c->local = l;
    l->refs++;
    http2_count(l->row, HTTP2_COUNT_CONNECTIONS, 1);
    http2_count(l->row, HTTP2_COUNT_CONNECTIONS_MADE, 1);
    c->conn = conn;
    c->channel.stream = stream;
    c->channel.desk = &l->desk;
    http2_ahead_begin(&c->ahead, mk_conn_link(conn)->fd);
    limits = limits_of(c);
    c->max_head = (uint32_t)limits.max_head;
    c->max_requests = limits.max_requests;
    c->channel.moved_ms = c->idle_ms = http2_conn_now_ms(c);
    c->channel.left.sum = &c->held;
    h2_session_init(&c->channel.session, &http2_stream_events,
                    &(struct h2_limits){.max_streams = (uint32_t)l->set.max_streams,
                                        .max_head = c->max_head,
                                        .stream_window = (int32_t)l->set.stream_window,
                                        .window_max = (int32_t)l->set.connection_window,
                                        .growth = &l->desk.growth},
                    NULL, &c->held, c->idle_ms);
    if (c->channel.session.is_lost) {
        free_conn(c);
        return MK_E_NOMEM;
    }
    c->channel.session.kept = &l->desk.kept;
    begin_trace(c);
    mk_stream_tell(stream, on_event, c);
    return 0;
}
