/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_TEST_FAKE_WORLD_H
#define MK_TEST_FAKE_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "data/remote/client_int.h"

#include <monkey/events.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/*
 * Servers, streams to them and time for tests of the remote client: all of them are fakes, which a test moves on
 * step by step. A call is a line with its number, and so is its answer. One program has one world.
 */

#ifndef WORLD_SERVERS
#define WORLD_SERVERS 2
#endif

enum {
    WORKERS = 2,
    SERVERS = WORLD_SERVERS,
    UPSTREAMS = SERVERS,
    CALLS = 512, /* of a schedule */
    PROBE = CALLS,
    GREETING,
    CONNECTIONS = 2048,
    LINE = 8,
    BYTES = 4096, /* of each direction of a connection */
    TIMEOUT_MS = 1000
};

/* X(mood): what a server does */
#define MOODS(X)                                                                                   \
    X(GOOD) X(REFUSES) X(SILENT) X(UNREACHABLE) X(CLOSES) X(LIES) X(CHATS) X(CONFUSES) X(FULL)

enum mood {
#define MOOD(name) name,
    MOODS(MOOD)
#undef MOOD
        NMOODS
};

struct mk_worker {
    unsigned index;
};

struct mk_stream {
    mk_stream_fn fn;
    void *arg;
    struct mk_upstream *u;
    char in[BYTES], out[BYTES]; /* of the server: what it got, and what it sends */
    size_t in_len, in_at, out_len, out_at;
    bool is_open, is_idle, is_over; /* is_over: the server closed it */
    bool is_confused, has_chatted, refuses, is_greeted;
};

struct mk_upstream_wait {
    struct mk_upstream *u;
    mk_upstream_fn fn;
    void *arg;
    bool is_fresh, is_used;
    int64_t since_ms;
    unsigned worker;
};

struct mk_upstream {
    unsigned server, max, nopen, connect_ms;
    bool is_alive;
    struct mk_upstream_wait waits[CALLS]; /* in their order */
    unsigned first, nwaits;
};

struct call {
    struct remote_call call; /* first */
    unsigned number;
    char line[LINE + 1];
};

struct mk_alarm {
    mk_alarm_fn fn;
    void *arg;
    int64_t at_ms;
    unsigned worker;
};

static struct {
    uint64_t random;
    int64_t now_ms;
    unsigned here; /* the worker */
    bool is_inside, is_ending, is_rough;
    bool is_swift; /* servers take no time */
    bool greets;   /* connections begin with a greeting */
    bool is_alone; /* calls have one server alone */
    bool is_poor;  /* there is no memory while one that has ended asks for more */
    enum mood moods[SERVERS];
    const struct mk_stream *told, *born_in[CALLS], *sent_on[CALLS]; /* told: whose event runs */
    struct mk_upstream upstreams[UPSTREAMS];
    struct mk_stream *streams[CONNECTIONS];
    unsigned nstreams;
    struct mk_worker workers[WORKERS];
    struct remote_client *clients[WORKERS];
    struct mk_alarm *alarms[WORKERS];
    struct remote_server servers[SERVERS];
    unsigned ncalls, naccepted, nended;
    int64_t begun_ms[CALLS];
    unsigned worker_of[CALLS];
    bool is_accepted[CALLS], is_ended[CALLS], was_begun[CALLS], was_received[CALLS],
        was_unsent[CALLS];
    int last_received[WORKERS][SERVERS];
    unsigned connections, pace;
    int nsaid; /* servers that are left out, as the log says */
} world;

static unsigned below(unsigned limit)
{
    world.random = world.random * 6364136223846793005U + 1442695040888963407U;
    return (unsigned)(world.random >> 33) % limit;
}

/* An allocation, or something else that hardly ever fails. */
static bool fails(void)
{
    return world.is_poor || (world.is_rough && below(40) == 0);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    (void)clock;
    now->tv_sec = world.now_ms / 1000;
    now->tv_nsec = world.now_ms % 1000 * 1000000;
    return 0;
}

/* ---- the home ---- */

static void run_at(const struct remote_home *home, void (*fn)(void *arg), void *arg)
{
    world.here = home->worker->index;
    fn(arg);
}

static void say(const struct remote_home *home, enum mk_log_level level, const char *line)
{
    assert_ptr_equal(home->worker, &world.workers[world.here]);
    assert_int_equal(level, strstr(line, "left out") ? MK_LOG_WARN : MK_LOG_INFO);
    world.nsaid += level == MK_LOG_WARN ? 1 : -1;
    assert_in_range(world.nsaid, 0, UPSTREAMS);
}

struct mk_alarm *mk_alarm_new(struct mk_worker *w, mk_alarm_fn fn, void *arg)
{
    struct mk_alarm *a = fails() ? NULL : malloc(sizeof(*a));

    assert_int_equal(w->index, world.here);
    if (!a)
        return NULL;
    *a = (struct mk_alarm){fn, arg, INT64_MAX, world.here};
    assert_null(world.alarms[world.here]);
    return world.alarms[world.here] = a;
}

void mk_alarm_set(struct mk_alarm *a, unsigned ms)
{
    assert_int_equal(ms, REMOTE_TICK_MS);
    a->at_ms = world.now_ms + ms;
}

void mk_alarm_free(struct mk_alarm *a)
{
    if (!a)
        return;
    assert_ptr_equal(world.alarms[world.here], a);
    world.alarms[world.here] = NULL;
    free(a);
}

struct mk_server *mk_worker_server(const struct mk_worker *w)
{
    (void)w;
    return NULL;
}

struct mk_worker *mk_server_worker(struct mk_server *server, unsigned index)
{
    (void)server;
    return index < WORKERS ? &world.workers[index] : NULL;
}

const char *mk_error_text(int error)
{
    (void)error;
    return "an error";
}

/* ---- streams ---- */

static void reply(struct mk_stream *s, const char *text, size_t len)
{
    assert_true(s->out_len + len <= BYTES);
    memcpy(s->out + s->out_len, text, len);
    s->out_len += len;
}

static void refuse(struct mk_stream *s)
{
    s->refuses = s->is_over = true;
    reply(s, "F000000\n", LINE);
}

static struct mk_stream *new_stream(struct mk_upstream *u)
{
    struct mk_stream *s = calloc(1, sizeof(*s));

    assert_non_null(s);
    assert_true(world.nstreams < CONNECTIONS);
    world.streams[world.nstreams++] = s;
    s->u = u;
    s->is_open = true;
    u->nopen++;
    if (world.moods[u->server] == FULL && u->nopen > 1 && below(2) == 0)
        refuse(s);
    return s;
}

static void close_stream(struct mk_stream *s)
{
    assert_true(s->is_open);
    s->is_open = s->is_idle = false;
    s->fn = NULL;
    s->u->nopen--;
}

void mk_stream_tell(struct mk_stream *s, mk_stream_fn fn, void *arg)
{
    s->fn = fn;
    s->arg = arg;
}

void mk_stream_run_soon(struct mk_stream *s)
{
    (void)s;
}

ssize_t mk_stream_read(struct mk_stream *s, void *buf, size_t len)
{
    size_t n = s->out_len - s->out_at;

    assert_true(s->is_open && !s->is_idle);
    if (n == 0)
        return s->is_over ? 0 : MK_E_AGAIN;
    n = n < len ? n : len;
    n = 1 + below((unsigned)n);
    memcpy(buf, s->out + s->out_at, n);
    s->out_at += n;
    return (ssize_t)n;
}

static void note_begun(const struct mk_stream *s, const char *line)
{
    const unsigned number = (unsigned)strtoul(line, NULL, 10);

    if (number < CALLS) {
        world.was_begun[number] = true;
        world.sent_on[number] = s;
    }
}

ssize_t mk_stream_write(struct mk_stream *s, const struct iovec *iov, int niov)
{
    size_t room = BYTES - s->in_len, taken = 0;

    assert_true(s->is_open && !s->is_idle && niov > 0);
    if (s->is_over)
        return MK_E_PEER;
    if (below(4) == 0)
        room = room < 3 ? room : below(4);
    for (int i = 0; i < niov; i++) {
        size_t n = iov[i].iov_len < room - taken ? iov[i].iov_len : room - taken;

        assert_true(iov[i].iov_len > 0);
        if (n > 0 && iov[i].iov_len == LINE)
            note_begun(s, iov[i].iov_base);
        memcpy(s->in + s->in_len, iov[i].iov_base, n);
        s->in_len += n;
        taken += n;
    }
    return taken > 0 ? (ssize_t)taken : MK_E_AGAIN;
}

static bool is_quiet(const struct mk_stream *s)
{
    return !s->is_over && s->out_at == s->out_len;
}

/* ---- the upstream: permits in first-in first-out order ---- */

struct mk_upstream *mk_upstream_new(struct mk_server *server,
                                    const struct mk_upstream_options *options)
{
    struct mk_upstream *u = &world.upstreams[options->port - 1];

    (void)server;
    assert_false(u->is_alive);
    *u = (struct mk_upstream){.server = options->port - 1,
                              .max = options->max_connections,
                              .connect_ms = options->connect_ms,
                              .is_alive = true};
    return u;
}

void mk_upstream_free(struct mk_upstream *u)
{
    u->is_alive = false;
    for (unsigned i = 0; i < world.nstreams; i++) {
        if (world.streams[i]->u == u && world.streams[i]->is_idle)
            close_stream(world.streams[i]);
    }
}

int mk_upstream_take(struct mk_upstream *u, struct mk_worker *w, bool fresh, mk_upstream_fn fn,
                     void *arg, struct mk_upstream_wait **out)
{
    assert_int_equal(w->index, world.here);
    if (fails())
        return MK_E_NOMEM;
    assert_true(u->nwaits < CALLS);
    *out = &u->waits[u->nwaits++];
    **out = (struct mk_upstream_wait){u, fn, arg, fresh, false, world.now_ms, w->index};
    return 0;
}

void mk_upstream_cancel(struct mk_upstream_wait *wait)
{
    assert_false(wait->is_used);
    wait->is_used = true;
}

void mk_upstream_give(struct mk_upstream *u, struct mk_stream *s, bool reusable)
{
    assert_ptr_equal(s->u, u);
    assert_true(s->is_open && !s->is_idle);
    assert_false(reusable && s->is_confused);
    if (!reusable || !is_quiet(s)) {
        close_stream(s);
        return;
    }
    assert_true(s->in_at == s->in_len || s->has_chatted); /* nothing of it is under way */
    s->is_idle = true;
    s->fn = NULL;
}

bool mk_upstream_is_quiet(struct mk_upstream *u, struct mk_stream *s)
{
    (void)u;
    return is_quiet(s);
}

void mk_upstream_why(struct mk_upstream *u, const struct mk_worker *w, int error, char *text,
                     size_t size)
{
    (void)u, (void)w;
    (void)snprintf(text, size, "error %d", error);
}

static unsigned count_waits(const struct mk_upstream *u)
{
    unsigned n = 0;

    for (unsigned i = u->first; i < u->nwaits; i++)
        n += !u->waits[i].is_used;
    return n;
}

void mk_upstream_load(struct mk_upstream *u, unsigned *open, unsigned *idle, unsigned *waiting)
{
    *open = *idle = 0;
    *waiting = u->nopen >= u->max ? count_waits(u) : 0;
}

static struct mk_stream *find_idle(const struct mk_upstream *u)
{
    for (unsigned i = 0; i < world.nstreams; i++) {
        if (world.streams[i]->u == u && world.streams[i]->is_idle)
            return world.streams[i];
    }
    return NULL;
}

static struct mk_stream *connect_stream(struct mk_upstream *u, bool fresh, bool *is_fresh)
{
    struct mk_stream *s = find_idle(u);

    *is_fresh = fresh || !s;
    if (!*is_fresh) {
        s->is_idle = false;
        return s;
    }
    if (u->nopen >= u->max && s)
        close_stream(s);
    return u->nopen < u->max ? new_stream(u) : NULL;
}

/* Does its worker have a connection to the server beside this one? */
static bool works_already(const struct mk_upstream_wait *wait)
{
    const struct remote_pool *pool = &world.clients[wait->worker]->pools[wait->u->server];
    const struct remote_link *l = pool->links;

    while (l && (l->state != REMOTE_LINK_OPEN || l->is_probe))
        l = l->next;
    return l && pool->state == REMOTE_POOL_UP;
}

/* One that waits hears of a connection, or of its failure. */
static void serve_wait(struct mk_upstream *u)
{
    const enum mood mood = world.moods[u->server];
    struct mk_upstream_wait *wait;
    struct mk_stream *s = NULL;
    bool is_fresh = true, works, connects;
    unsigned asker;
    int error = 0;

    while (u->first < u->nwaits && u->waits[u->first].is_used)
        u->first++;
    if (u->first == u->nwaits)
        return;
    wait = &u->waits[u->first];
    asker = wait->worker;
    if (u->nopen >= u->max && !find_idle(u))
        return;
    connects = wait->is_fresh || !find_idle(u);
    if (connects && mood == UNREACHABLE)
        error = world.now_ms >= wait->since_ms + u->connect_ms ? MK_E_TIMEOUT : MK_E_AGAIN;
    else if (connects && (mood == REFUSES || (mood == FULL && u->nopen > 0 && below(2) == 0)))
        error = MK_E_PEER;
    if (error == MK_E_AGAIN)
        return;
    if (error == 0) {
        s = connect_stream(u, wait->is_fresh, &is_fresh);
        assert_non_null(s);
    }
    works = error < 0 && works_already(wait);
    wait->is_used = true;
    wait->fn(wait->arg, s, is_fresh, error);
    if (works && world.clients[asker]->pools[u->server].state != REMOTE_POOL_UP)
        fail_msg("a server that works is left out");
}

/* ---- servers ---- */

/* A whole line has come. @return whether the connection goes on */
static bool obey(struct mk_stream *s, const char *line)
{
    const unsigned number = (unsigned)strtoul(line, NULL, 10);
    const unsigned server = s->u->server;
    char text[LINE + 1];

    if (world.moods[server] == FULL && s->in_at == LINE && s->u->nopen > 1) {
        refuse(s);
        return false;
    }
    assert_int_equal(number == GREETING, world.greets && s->in_at == LINE);
    if (number < CALLS && world.greets)
        assert_true(s->is_greeted);
    if (number < CALLS) {
        const unsigned asker = world.worker_of[number];

        if (world.was_received[number])
            fail_msg("call %u was sent twice", number);
        world.was_received[number] = true;
        if (world.connections == 1 && !world.was_unsent[number]) {
            assert_true((int)number > world.last_received[asker][server]);
            world.last_received[asker][server] = (int)number;
        }
    }
    switch (world.moods[server]) {
    case SILENT:
        return true;
    case CLOSES:
        s->is_over = true;
        return false;
    case LIES:
        reply(s, "0999999\n", LINE);
        return true;
    case CHATS:
        s->is_greeted = true;
        reply(s, line, LINE);
        s->has_chatted = true;
        (void)snprintf(text, sizeof(text), "X%06u\n", world.ncalls);
        reply(s, text, LINE);
        return true;
    case CONFUSES:
        memcpy(text, line, LINE);
        text[0] = 'C';
        s->is_confused = s->is_greeted = true;
        reply(s, text, LINE);
        return true;
    default:
        s->is_greeted = true;
        reply(s, line, LINE);
        return true;
    }
}

static void serve_stream(struct mk_stream *s)
{
    if (!s->is_open || s->is_over || s->u->nopen == 0)
        return;
    while (s->in_len - s->in_at >= LINE && s->out_len + 2 * LINE <= BYTES) {
        char line[LINE + 1] = "";

        memcpy(line, s->in + s->in_at, LINE);
        assert_int_equal(line[LINE - 1], '\n');
        s->in_at += LINE;
        if (!obey(s, line) || below(3) == 0)
            return;
    }
}

/* Its last event. */
static void break_stream(struct mk_stream *s)
{
    const mk_stream_fn fn = s->fn;

    s->is_over = true;
    s->fn = NULL;
    fn(s, MK_IO_ERROR, s->arg);
}

static void tell_stream(struct mk_stream *s)
{
    if (!s->is_open)
        return;
    world.told = s;
    if (s->is_idle && s->is_over)
        close_stream(s);
    else if (s->fn && world.is_rough && below(200) == 0)
        break_stream(s);
    else if (s->fn)
        s->fn(s, MK_IO_READ | MK_IO_WRITE | (s->is_over ? MK_IO_HANGUP : 0U), s->arg);
    world.told = NULL;
}

#endif
