/* SPDX-License-Identifier: Apache-2.0 */
#include "links/call_int.h"

#include <stdlib.h>

/* Connections to backends that speak HTTP/2: made when a call needs one, shared by calls, closed when they are idle. */

enum {
    WINDOW = 64 << 10,     /* of an answer's body that waits for its client, at first */
    CONNECTION = 16 << 20, /* of all bodies of a connection */
    HEAD = 64 << 10,       /* what backends are told of heads; MaxAnswerHead decides */
    IDLE_MS = 60000,       /* unless the settings say otherwise */
    PROOF_MS = 5000,       /* for the answer to a PING */
    SETTLE_MS = 1000,      /* for its settings, before calls do not wait for them any more */
    ROUNDS = 4,            /* of telling and sending in one event */
};

static int64_t now_ms(const struct proxy_conn *conn)
{
    return mk_worker_now_ms(conn->all->worker);
}

/* ---- the connections of a worker ---- */

struct proxy_calls *proxy_calls_new(struct mk_worker *w)
{
    struct proxy_calls *calls = calloc(1, sizeof(*calls));

    if (calls)
        calls->worker = w;
    return calls;
}

static struct h2_desk *desk_of(struct proxy_calls *calls)
{
    if (!calls->desk && (calls->desk = malloc(sizeof(*calls->desk))) != NULL)
        h2_desk_init(calls->desk, calls->worker);
    return calls->desk;
}

static void unlink_conn(struct proxy_conn *conn)
{
    *conn->at = conn->next;
    if (conn->next)
        conn->next->at = conn->at;
}

static void link_conn(struct proxy_calls *calls, struct proxy_conn *conn)
{
    conn->all = calls;
    conn->number = ++calls->nmade;
    conn->next = calls->conns;
    conn->at = &calls->conns;
    if (conn->next)
        conn->next->at = &conn->next;
    calls->conns = conn;
}

/* ---- the end of one ---- */

/* Those that were over it hear of it one by one; what one does may end another one. */
static void lose_calls(struct proxy_call *calls, int error)
{
    if (calls)
        calls->at = &calls;
    while (calls) {
        struct proxy_call *c = calls;

        proxy_call_unlink(c);
        proxy_call_lose(c, error);
    }
}

/* Nobody is left who could begin a call, and no connection. */
static void free_left(struct proxy_calls *all)
{
    if (!all->is_left || all->conns)
        return;
    free(all->desk);
    free(all);
}

static void end_conn(struct proxy_conn *conn, int error)
{
    struct proxy_calls *all = conn->all;
    struct proxy_call *calls = conn->calls;

    unlink_conn(conn);
    if (conn->wait)
        mk_upstream_cancel(conn->wait);
    if (conn->channel.stream) {
        h2_channel_fini(&conn->channel);
        mk_upstream_give(conn->way.upstream, conn->channel.stream, false);
    }
    for (struct proxy_call *c = calls; c; c = c->next) {
        c->conn = NULL;
        c->told_at = NULL;
    }
    free(conn);
    lose_calls(calls, error);
    free_left(all);
}

static bool is_used(const struct proxy_conn *conn)
{
    const struct proxy_call *c = conn->calls;

    while (c && c->is_put)
        c = c->next;
    return c != NULL;
}

void proxy_calls_free(struct proxy_calls *calls)
{
    struct proxy_conn *next;

    for (struct proxy_conn *conn = calls ? calls->conns : NULL; conn; conn = next) {
        next = conn->next;
        if (is_used(conn))
            conn->channel.session.is_leaving = true; /* its last call ends it */
        else
            end_conn(conn, MK_E_PEER);
    }
    if (!calls)
        return;
    calls->is_left = true;
    free_left(calls);
}

/* ---- calls ---- */

/* More calls than it has said to take would be refused, again and again with each new connection. */
static bool is_awaited(const struct proxy_conn *conn)
{
    const struct h2_session *s = &conn->channel.session;

    return conn->is_patient && !conn->is_pinged && s->is_assumed && !s->is_over && !s->is_leaving;
}

static bool has_free(const struct proxy_conn *conn)
{
    const struct h2_session *s = &conn->channel.session;
    const unsigned nready = conn->ncalls_in[PROXY_CALL_READY];

    if (conn->is_pinged || (is_awaited(conn) && s->nstreams + nready > 0))
        return false;
    return h2_session_room(s) > nready;
}

static void carry(struct proxy_conn *conn, struct proxy_call *c)
{
    conn->has_carried = true;
    proxy_call_turn_to(c, PROXY_CALL_READY);
    proxy_call_note(c, 0);
}

void proxy_conn_join(struct proxy_conn *conn, struct proxy_call *c)
{
    c->conn = conn;
    c->base.session = &conn->channel.session;
    c->next = NULL;
    c->at = conn->last;
    *conn->last = c;
    conn->last = &c->next;
    conn->ncalls++;
    conn->ncalls_in[c->state]++;
    if (!conn->channel.stream)
        return;
    if (has_free(conn))
        carry(conn, c);
    proxy_conn_wake(conn);
}

static void untell(struct proxy_conn *conn, struct proxy_call *c)
{
    if (!c->told_at)
        return;
    *c->told_at = c->told;
    if (c->told)
        c->told->told_at = c->told_at;
    else
        conn->told_last = c->told_at;
    c->told_at = NULL;
}

void proxy_conn_part(struct proxy_conn *conn, struct proxy_call *c)
{
    untell(conn, c);
    proxy_call_unlink(c);
    conn->ncalls--;
    conn->ncalls_in[c->state]--;
    c->conn = NULL;
    if ((conn->ncalls == 0 || c->state == PROXY_CALL_READY) && conn->channel.stream)
        proxy_conn_wake(conn); /* it is idle, or has room for one that waits */
}

static void tell_call(struct proxy_call *c)
{
    proxy_called_fn called = c->called;
    unsigned events = c->events;

    c->events = 0;
    if (called) { /* its first event follows when it knows whom to tell */
        c->called = NULL;
        called(c->arg, c->is_fresh, 0);
    } else if (c->fn && events) {
        c->fn(NULL, events, c->arg);
    }
}

/* What is noted meanwhile may be told the next time. */
void proxy_conn_tell(struct proxy_conn *conn)
{
    for (unsigned n = conn->ncalls; conn->told && n > 0; n--) {
        struct proxy_call *c = conn->told;

        untell(conn, c);
        tell_call(c);
    }
}

/* ---- calls that wait for a connection which may never come, as the backend has all that it may have ---- */

/* @param anyhow  those too that want a fresh one */
static struct proxy_call *oldest_waiting(const struct proxy_conn *conn, bool anyhow)
{
    struct proxy_call *c = conn->ncalls_in[PROXY_CALL_WAITING] > 0 ? conn->calls : NULL;

    while (c && (c->state != PROXY_CALL_WAITING || (c->wants_fresh && !anyhow)))
        c = c->next;
    return c;
}

static bool is_unconnected(const struct proxy_conn *conn, const struct mk_upstream *upstream)
{
    return !conn->channel.stream && conn->way.upstream == upstream;
}

/* Does the backend have all the connections that it may have? */
static bool is_full(const struct proxy_call_way *way)
{
    unsigned open, idle, waiting;

    mk_upstream_load(way->upstream, &open, &idle, &waiting);
    return waiting > 0;
}

/* The newest connections come first. Who wants a fresh one waits for it as long as it may come. */
static struct proxy_call *next_waiting(const struct proxy_conn *conn)
{
    struct proxy_call *found = NULL;

    for (struct proxy_conn *from = conn->all->conns; from; from = from->next) {
        struct proxy_call *c = is_unconnected(from, conn->way.upstream)
                                   ? oldest_waiting(from, is_full(&conn->way))
                                   : NULL;

        found = c ? c : found;
    }
    return found;
}

static void take_waiting(struct proxy_conn *conn)
{
    struct proxy_call *c;

    while (has_free(conn) && (c = next_waiting(conn)) != NULL) {
        struct proxy_conn *from = c->conn;

        proxy_conn_part(from, c);
        proxy_conn_join(conn, c);
        if (from->ncalls == 0)
            end_conn(from, MK_E_PEER);
    }
}

/* Its backend takes fewer than wait for it. One that takes none would send them from connection to connection. */
static void send_away(struct proxy_conn *conn)
{
    struct proxy_call *c;

    while ((c = oldest_waiting(conn, true)) != NULL) {
        int err = MK_E_PEER;
        struct proxy_conn *other = NULL;

        proxy_conn_part(conn, c);
        if (conn->has_carried)
            other = proxy_conn_for(conn->all, &conn->way, c->wants_fresh, &err);
        if (other)
            proxy_conn_join(other, c);
        else
            proxy_call_lose(c, err);
    }
}

/* Those that wait for it come first. */
static void admit(struct proxy_conn *conn)
{
    struct proxy_call *c;

    while (has_free(conn) && (c = oldest_waiting(conn, true)) != NULL) {
        c->is_fresh = true;
        carry(conn, c);
    }
    if (!is_awaited(conn))
        send_away(conn);
    take_waiting(conn);
}

/* Is anyone to be told, or to be moved here? */
static bool has_more(const struct proxy_conn *conn)
{
    return conn->told || (has_free(conn) && (oldest_waiting(conn, true) || next_waiting(conn)));
}

/* ---- events ---- */

/* What else happens meanwhile puts the time off no further. */
static void set_time(struct proxy_conn *conn)
{
    const unsigned ms = conn->is_pinged                        ? PROOF_MS
                        : is_awaited(conn) && conn->ncalls > 0 ? SETTLE_MS
                        : conn->ncalls > 0                     ? 0
                        : conn->way.idle_ms                    ? conn->way.idle_ms
                                                               : IDLE_MS;

    if (conn->is_pinged && conn->channel.has_received) /* the proof may be behind what comes */
        conn->timed_ms = 0;
    conn->channel.has_received = false;
    if (ms == conn->timed_ms)
        return;
    conn->timed_ms = ms;
    mk_stream_timeout(conn->channel.stream, ms);
}

/* Nobody needs it, or it gave no proof that it lives. */
static void tick(struct proxy_conn *conn)
{
    conn->timed_ms = 0;
    if (conn->is_pinged)
        conn->channel.is_lost = true;
    else if (conn->ncalls == 0)
        h2_session_fail(&conn->channel.session, H2_E_NO_ERROR);
    else
        conn->is_patient = false;
}

static void see_proof(struct proxy_conn *conn)
{
    if (!conn->channel.session.was_pinged)
        return;
    conn->channel.session.was_pinged = false;
    conn->is_pinged = false;
}

static bool is_done(const struct proxy_conn *conn)
{
    const struct h2_channel *w = &conn->channel;

    if (w->is_lost || w->has_ended || w->session.is_over) /* GOAWAY has left, or may not for long */
        return true;
    return w->session.is_leaving && conn->ncalls == 0 && h2_channel_is_flushed(w);
}

/* What would be written now never arrives: calls that have no stream are refused, and may be made again. */
static void see_end(struct proxy_conn *conn)
{
    if (conn->channel.is_lost || conn->channel.has_ended)
        conn->channel.session.is_leaving = true;
}

/* Whoever is to open a tunnel waits for its backend's settings, or for another connection. */
static void see_greeting(struct proxy_conn *conn)
{
    const struct h2_session *s = &conn->channel.session;

    if (conn->has_told || !(s->is_greeted || s->is_leaving))
        return;
    conn->has_told = true;
    for (struct proxy_call *c = conn->calls; c; c = c->next) {
        if (c->state == PROXY_CALL_READY)
            proxy_call_note(c, MK_IO_WRITE);
    }
}

static void on_event(struct mk_stream *s, unsigned events, void *arg)
{
    struct proxy_conn *conn = arg;

    (void)s;
    h2_channel_begin(&conn->channel, now_ms(conn));
    if (events & MK_IO_ERROR)
        conn->channel.is_lost = true;
    else if (events & (MK_IO_READ | MK_IO_HANGUP))
        h2_channel_receive(&conn->channel);
    see_proof(conn);
    if (events & MK_IO_TIMEOUT)
        tick(conn);
    see_end(conn);
    see_greeting(conn);
    for (int i = 0; i < ROUNDS && (i == 0 || has_more(conn)); i++) {
        admit(conn);
        proxy_conn_tell(conn);
        h2_channel_send(&conn->channel);
    }
    if (is_done(conn)) {
        proxy_conn_tell(conn); /* what came with the end */
        end_conn(conn, MK_E_PEER);
        return;
    }
    h2_channel_end(&conn->channel);
    admit(conn); /* a stream may have closed as the last frame left */
    if (has_more(conn))
        proxy_conn_wake(conn);
    set_time(conn);
}

void proxy_conn_wake(struct proxy_conn *conn)
{
    h2_channel_wake(&conn->channel);
}

void proxy_conn_doubt(struct proxy_conn *conn)
{
    if (conn->is_pinged || !conn->channel.stream)
        return;
    h2_session_ping(&conn->channel.session);
    conn->is_pinged = true;
    set_time(conn);
    proxy_conn_wake(conn);
}

/* ---- the beginning of one ---- */

static const struct proxy_conn *conn_of(const struct h2_session *s)
{
    return (const struct proxy_conn *)((const char *)s -
                                       offsetof(struct proxy_conn, channel.session));
}

static void trace_stream(const void *stream, const struct states *table, unsigned was, unsigned is)
{
    const struct h2_stream *st = stream;
    const struct proxy_conn *conn = conn_of(st->session);
    struct mk_worker *w = conn->all->worker;

    mk_server_log(mk_worker_server(w), MK_LOG_TRACE,
                  "proxy state of=%s was=%s is=%s worker=%u connection=%u stream=%u error=%u",
                  table->of, table->rows[was].name, table->rows[is].name, mk_worker_index(w),
                  conn->number, st->id, st->error);
}

static void greet(struct proxy_conn *conn, struct mk_stream *s)
{
    const struct h2_limits limits = {.is_client = true,
                                     .max_streams = PROXY_CALLS_A_CONNECTION,
                                     .max_head = HEAD,
                                     .stream_window = WINDOW,
                                     .window_max = CONNECTION,
                                     .growth = &conn->all->desk->growth};

    conn->channel.stream = s;
    conn->channel.desk = conn->all->desk;
    h2_session_init(&conn->channel.session, &proxy_call_events, &limits, NULL, NULL, now_ms(conn));
    conn->is_patient = true;
    if (mk_server_logs(mk_worker_server(conn->all->worker), MK_LOG_TRACE))
        conn->channel.session.log = trace_stream;
    mk_stream_tell(s, on_event, conn);
}

static void on_connected(void *arg, struct mk_stream *s, bool fresh, int error)
{
    struct proxy_conn *conn = arg;

    (void)fresh;
    conn->wait = NULL;
    if (!s) {
        end_conn(conn, error);
        return;
    }
    greet(conn, s);
    if (conn->channel.session.is_lost)
        end_conn(conn, MK_E_NOMEM);
    else
        proxy_conn_wake(conn);
}

/* Is there a connection that can carry one more call, now or when it has its backend's settings? */
static struct proxy_conn *connected(const struct proxy_calls *calls,
                                    const struct proxy_call_way *way)
{
    for (struct proxy_conn *conn = calls->conns; conn; conn = conn->next) {
        if (conn->channel.stream && conn->way.upstream == way->upstream && !conn->channel.is_lost &&
            (has_free(conn) || (is_awaited(conn) && conn->ncalls < PROXY_CALLS_A_CONNECTION)))
            return conn;
    }
    return NULL;
}

/* Is there a connection to come that another call may wait for? @param nwaiting  out: calls that wait for any */
static struct proxy_conn *coming(const struct proxy_calls *calls, const struct proxy_call_way *way,
                                 unsigned *nwaiting)
{
    struct proxy_conn *found = NULL;

    *nwaiting = 0;
    for (struct proxy_conn *conn = calls->conns; conn; conn = conn->next) {
        if (!is_unconnected(conn, way->upstream))
            continue;
        *nwaiting += conn->ncalls;
        if (conn->ncalls < PROXY_CALLS_A_CONNECTION)
            found = conn;
    }
    return found;
}

static struct proxy_conn *new_conn(struct proxy_calls *calls, const struct proxy_call_way *way,
                                   int *error)
{
    struct proxy_conn *conn = desk_of(calls) ? calloc(1, sizeof(*conn)) : NULL;

    *error = MK_E_NOMEM;
    if (!conn)
        return NULL;
    conn->way = *way;
    conn->last = &conn->calls;
    conn->told_last = &conn->told;
    *error = mk_upstream_take(way->upstream, calls->worker, true, on_connected, conn, &conn->wait);
    if (*error < 0) {
        free(conn);
        return NULL;
    }
    link_conn(calls, conn);
    return conn;
}

struct proxy_conn *proxy_conn_for(struct proxy_calls *calls, const struct proxy_call_way *way,
                                  bool fresh, int *error)
{
    struct proxy_conn *ready = connected(calls, way), *conn;
    unsigned nwaiting;

    if (ready && !fresh)
        return ready;
    conn = coming(calls, way, &nwaiting);
    *error = MK_E_BUSY;
    if (nwaiting > way->max_waiting)
        return NULL;
    if (!conn)
        conn = new_conn(calls, way, error);
    if (conn && ready && is_full(way)) /* it is not to wait for one that may never come */
        proxy_conn_wake(ready);
    return conn;
}
