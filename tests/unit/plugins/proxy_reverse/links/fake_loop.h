/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_PROXY_FAKE_LOOP_H
#define TEST_PROXY_FAKE_LOOP_H

#include "kit/h2/session.h"

#include <monkey/events.h>
#include <monkey/upstream.h>

#include <stdlib.h>
#include <string.h>

/*
 * A worker whose streams lead to a backend of HTTP/2 in memory, event by event. Behind cmocka.h, in one program. A request for
 * `/N` is answered with a body of N bytes; a tunnel (RFC 8441) has these bytes, too, when it is there.
 */

enum { PIPE = 1 << 18, STREAMS_MAX = 64, BODY_BYTE = 'b' };

/* ---- allocations that fail ---- */

static unsigned fails_in; /* the number of the one that does; 0: none */
static bool has_failed;

static bool memory_fails(void)
{
    bool now = fails_in > 0 && --fails_in == 0;

    has_failed = has_failed || now;
    return now;
}

#define WRAPS_REALLOC
#include "../../../wrapped_memory.h"

/* ---- what there is ---- */

struct pipe {
    uint8_t p[PIPE];
    size_t len;
};

struct mk_stream {
    mk_stream_fn fn;
    void *arg;
    struct pipe up, down; /* to the backend, and from it */
    size_t up_max;        /* bytes that wait for the backend, at most */
    unsigned events;
    unsigned ms; /* until its time expires; 0: none is set */
    bool is_given, was_full, has_eof, is_broken;
    /* its backend */
    struct h2_session session;
    struct h2_out out;
    char bytes[4 * (H2_FRAME_HEAD + H2_FRAME_MAX)], room[HPACK_FIELD_MAX];
    size_t sum;
    struct at_backend *streams;
};

/* A request at the backend. */
struct at_backend {
    struct h2_stream base;
    struct mk_stream *of;
    struct at_backend *next;
    size_t body; /* of the answer, that is left */
    size_t got;  /* of the request */
    bool is_whole, is_answered;
};

struct mk_upstream_wait {
    mk_upstream_fn fn;
    void *arg;
    struct mk_upstream_wait *next;
};

struct mk_alarm {
    mk_alarm_fn fn;
    void *arg;
    unsigned ms; /* 0: it is not set */
    struct mk_alarm *next;
};

/* What the backend does with a request that is whole. */
enum what { ANSWER, STALL, REFUSE, RESET, BY_CHANCE };

static struct {
    int64_t now;
    struct mk_stream *streams[STREAMS_MAX]; /* NULL: none */
    unsigned nopen, nmade, max_connections, max_streams;
    struct mk_upstream_wait *waits; /* the newest one first */
    struct mk_alarm *alarms;
    int connect_error;
    enum what what;
    bool is_deaf; /* the backend reads nothing, and says nothing */
    bool has_no_tunnels;
    uint32_t random;
    unsigned ntakes;
} fake;

static uint32_t draw(uint32_t below)
{
    fake.random = fake.random * 1664525 + 1013904223;
    return (fake.random >> 8) % below;
}

/* ---- the worker's interface ---- */

int64_t mk_worker_now_ms(const struct mk_worker *w)
{
    (void)w;
    return fake.now;
}

bool mk_worker_promise(struct mk_worker *w, int64_t bytes)
{
    (void)w;
    return bytes <= 16 << 20;
}

unsigned mk_worker_index(const struct mk_worker *w)
{
    (void)w;
    return 0;
}

struct mk_server *mk_worker_server(const struct mk_worker *w)
{
    (void)w;
    return NULL;
}

bool mk_server_logs(struct mk_server *server, enum mk_log_level level)
{
    (void)server;
    (void)level;
    return true;
}

void mk_server_log(struct mk_server *server, enum mk_log_level level, const char *fmt, ...)
{
    (void)server;
    (void)level;
    (void)fmt;
}

struct mk_alarm *mk_alarm_new(struct mk_worker *w, mk_alarm_fn fn, void *arg)
{
    struct mk_alarm *a = calloc(1, sizeof(*a));

    (void)w;
    if (!a)
        return NULL;
    *a = (struct mk_alarm){fn, arg, 0, fake.alarms};
    fake.alarms = a;
    return a;
}

void mk_alarm_set(struct mk_alarm *alarm, unsigned ms)
{
    alarm->ms = ms;
}

void mk_alarm_cancel(struct mk_alarm *alarm)
{
    alarm->ms = 0;
}

void mk_alarm_free(struct mk_alarm *alarm)
{
    struct mk_alarm **at = &fake.alarms;

    if (!alarm)
        return;
    while (*at != alarm)
        at = &(*at)->next;
    *at = alarm->next;
    free(alarm);
}

/* ---- streams ---- */

static void pull(struct pipe *p, size_t n)
{
    memmove(p->p, p->p + n, p->len - n);
    p->len -= n;
}

ssize_t mk_stream_read(struct mk_stream *s, void *buf, size_t len)
{
    size_t n = s->down.len < len ? s->down.len : len;

    assert_false(s->is_given);
    if (s->is_broken)
        return MK_E_PEER;
    if (n == 0)
        return s->has_eof ? 0 : MK_E_AGAIN;
    memcpy(buf, s->down.p, n);
    pull(&s->down, n);
    return (ssize_t)n;
}

ssize_t mk_stream_write(struct mk_stream *s, const struct iovec *iov, int niov)
{
    size_t room = s->up_max > s->up.len ? s->up_max - s->up.len : 0;
    size_t n = iov->iov_len < room ? iov->iov_len : room;

    assert_false(s->is_given);
    assert_int_equal(niov, 1);
    if (s->is_broken || s->has_eof)
        return MK_E_PEER;
    s->was_full = n < iov->iov_len;
    if (n == 0)
        return MK_E_AGAIN;
    memcpy(s->up.p + s->up.len, iov->iov_base, n);
    s->up.len += n;
    return (ssize_t)n;
}

void mk_stream_tell(struct mk_stream *s, mk_stream_fn fn, void *arg)
{
    s->fn = fn;
    s->arg = arg;
}

void mk_stream_timeout(struct mk_stream *s, unsigned ms)
{
    assert_false(s->is_given);
    s->ms = ms;
}

void mk_stream_run_soon(struct mk_stream *s)
{
    assert_false(s->is_given);
    s->events |= MK_IO_READ | MK_IO_WRITE;
}

/* ---- connections ---- */

int mk_upstream_take(struct mk_upstream *u, struct mk_worker *w, bool fresh, mk_upstream_fn fn,
                     void *arg, struct mk_upstream_wait **wait)
{
    struct mk_upstream_wait *one = calloc(1, sizeof(*one));

    (void)u;
    (void)w;
    assert_true(fresh);
    fake.ntakes++;
    if (!one)
        return MK_E_NOMEM;
    *one = (struct mk_upstream_wait){fn, arg, fake.waits};
    fake.waits = one;
    *wait = one;
    return 0;
}

/* As of mk_upstream: waiting are those for which no connection may be made. */
void mk_upstream_load(struct mk_upstream *u, unsigned *open, unsigned *idle, unsigned *waiting)
{
    unsigned n = 0;

    (void)u;
    for (const struct mk_upstream_wait *w = fake.waits; w; w = w->next)
        n++;
    *open = fake.nopen;
    *idle = 0;
    *waiting = fake.nopen + n > fake.max_connections ? fake.nopen + n - fake.max_connections : 0;
}

void mk_upstream_cancel(struct mk_upstream_wait *wait)
{
    struct mk_upstream_wait **at = &fake.waits;

    while (*at != wait)
        at = &(*at)->next;
    *at = wait->next;
    free(wait);
}

void mk_upstream_give(struct mk_upstream *u, struct mk_stream *s, bool reusable)
{
    (void)u;
    assert_false(s->is_given);
    assert_false(reusable);
    s->is_given = true;
    fake.nopen--;
}

/* ---- the backend ---- */

static struct at_backend *of_stream(struct h2_stream *st)
{
    return (struct at_backend *)(void *)st;
}

static struct h2_stream *begin(struct h2_session *s, uint32_t id)
{
    struct mk_stream *of =
        (struct mk_stream *)(void *)((char *)s - offsetof(struct mk_stream, session));
    struct at_backend *b = calloc(1, sizeof(*b));

    (void)id;
    assert_non_null(b);
    b->of = of;
    b->next = of->streams;
    of->streams = b;
    return &b->base;
}

static int field(struct h2_stream *st, enum h2_field kind, const struct hpack_field *f)
{
    struct at_backend *b = of_stream(st);

    for (size_t i = 1; kind == H2_FIELD_PATH && i < f->value.len; i++)
        b->body = b->body * 10 + (size_t)(f->value.p[i] - '0');
    return 0;
}

static void answer(struct at_backend *b)
{
    struct h2_head h;

    if (b->is_answered || h2_stream_is_closed(&b->base) || b->of->session.is_over)
        return;
    b->is_answered = true;
    if (b->body % 5 == 1) {
        assert_true(h2_head_begin(&h, &b->base, 100));
        h2_head_status(&h, 103);
        h2_head_end(&h, H2_FOLLOWS_HEAD);
    }
    assert_true(h2_head_begin(&h, &b->base, 100));
    h2_head_status(&h, 200);
    h2_head_end(&h, b->body > 0 ? H2_FOLLOWS_BODY : H2_FOLLOWS_NOTHING);
}

static void act(struct at_backend *b)
{
    enum what what = fake.what;

    b->is_whole = true;
    if (what == BY_CHANCE)
        what = draw(8) == 0 ? REFUSE : draw(8) == 0 ? RESET : draw(2) == 0 ? STALL : ANSWER;
    if (what == ANSWER)
        answer(b);
    else if (what != STALL)
        h2_stream_reset(&b->base, what == REFUSE ? H2_E_REFUSED_STREAM : H2_E_INTERNAL_ERROR);
}

static int head_came(struct h2_stream *st)
{
    if (h2_stream_has_end(st) || st->message.is_connect)
        act(of_stream(st));
    return 0;
}

static int data(struct h2_stream *st, const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        assert_int_equal(bytes[i], 'x');
    of_stream(st)->got += len;
    h2_stream_use(st, len);
    return 0;
}

static void end(struct h2_stream *st)
{
    act(of_stream(st));
}

static ssize_t give(struct h2_stream *st, char *dst, size_t len, enum h2_last *last)
{
    struct at_backend *b = of_stream(st);
    size_t n = b->body < len ? b->body : len;

    memset(dst, BODY_BYTE, n);
    b->body -= n;
    if (b->body == 0)
        *last = H2_LAST_END;
    return (ssize_t)n;
}

static bool no_trailers(struct h2_stream *st)
{
    (void)st;
    return false;
}

static void answered(struct h2_stream *st)
{
    (void)st;
}

static void over(struct h2_stream *st)
{
    struct at_backend *b = of_stream(st), **at = &b->of->streams;

    while (*at != b)
        at = &(*at)->next;
    *at = b->next;
    free(b);
}

static const struct h2_events of_backend = {.begin = begin,
                                            .field = field,
                                            .head = head_came,
                                            .data = data,
                                            .end = end,
                                            .give = give,
                                            .trailers = no_trailers,
                                            .answered = answered,
                                            .over = over};

/* Its settings say 0 where a server's say 1. */
static void take_tunnels_away(struct mk_stream *s)
{
    static const uint8_t setting[] = {0, H2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 0, 0, 0, 1};
    char *at = memmem(s->bytes, s->out.used, setting, sizeof(setting));

    assert_non_null(at);
    at[sizeof(setting) - 1] = 0;
}

static struct mk_stream *make_stream(void)
{
    const struct h2_limits limits = {.max_streams = fake.max_streams,
                                     .max_head = 10000,
                                     .stream_window = 65535,
                                     .window_max = 1 << 20};
    struct mk_stream *s = __real_calloc(1, sizeof(*s)), **at = fake.streams;

    assert_non_null(s);
    while (*at)
        at++;
    assert_true(at < fake.streams + STREAMS_MAX);
    *at = s;
    fake.nopen++;
    fake.nmade++;
    s->up_max = 1 << 16;
    s->events = MK_IO_READ | MK_IO_WRITE;
    s->out = (struct h2_out){.p = s->bytes, .cap = sizeof(s->bytes)};
    h2_session_init(&s->session, &of_backend, &limits, &s->out, &s->sum, 0);
    s->session.room = s->room;
    if (fake.has_no_tunnels)
        take_tunnels_away(s);
    return s;
}

static void free_stream(struct mk_stream *s)
{
    while (s->streams)
        over(&s->streams->base);
    h2_session_fini(&s->session);
    assert_int_equal(s->sum, 0);
    free(s);
}

/* What the backend says leaves, as far as there is room. @return whether something did */
static bool say(struct mk_stream *s)
{
    bool did = false;

    while (!s->has_eof && PIPE - s->down.len > sizeof(s->bytes)) {
        (void)h2_session_write(&s->session);
        if (s->out.used == 0)
            break;
        memcpy(s->down.p + s->down.len, s->out.p, s->out.used);
        s->down.len += s->out.used;
        s->out.used = 0;
        s->events |= MK_IO_READ;
        did = true;
    }
    h2_session_sweep(&s->session);
    return did;
}

/* The backend reads so many bytes, and says what it has to say. @return whether something happened */
static bool run_backend(struct mk_stream *s, size_t most)
{
    size_t n = s->up.len < most ? s->up.len : most;

    if (fake.is_deaf || s->is_given)
        return false;
    s->session.now_ms = fake.now;
    s->session.credit.left = H2_CREDIT_MAX;
    h2_session_receive(&s->session, s->up.p, n);
    h2_session_sweep(&s->session);
    pull(&s->up, n);
    if (n > 0 && s->was_full)
        s->events |= MK_IO_WRITE;
    return say(s) || n > 0;
}

/* ---- the loop ---- */

static bool tell(struct mk_stream *s)
{
    unsigned events = s->events;

    if (events == 0 || s->is_given || !s->fn)
        return false;
    s->events = 0;
    s->fn(s, events, s->arg);
    return true;
}

/* The one that has waited longest gets a connection, or an error. */
static bool connect_one(void)
{
    struct mk_upstream_wait **at = &fake.waits, wait;

    if (!fake.waits || (!fake.connect_error && fake.nopen >= fake.max_connections))
        return false;
    while ((*at)->next)
        at = &(*at)->next;
    wait = **at;
    free(*at);
    *at = NULL;
    if (fake.connect_error)
        wait.fn(wait.arg, NULL, true, fake.connect_error);
    else
        wait.fn(wait.arg, make_stream(), true, 0);
    return true;
}

static void bury(void)
{
    for (size_t i = 0; i < STREAMS_MAX; i++) {
        if (fake.streams[i] && fake.streams[i]->is_given) {
            free_stream(fake.streams[i]);
            fake.streams[i] = NULL;
        }
    }
}

/* Nothing else fails in between than what is tested. */
static bool aside(bool (*fn)(struct mk_stream *s, size_t most), struct mk_stream *s, size_t most)
{
    unsigned kept = fails_in;
    bool did;

    fails_in = 0;
    did = fn(s, most);
    fails_in = kept;
    return did;
}

/* @return whether something happened. */
static bool turn(void)
{
    bool did = connect_one();

    for (size_t i = 0; i < STREAMS_MAX; i++) {
        struct mk_stream *s = fake.streams[i];

        if (!s)
            continue;
        did = aside(run_backend, s, PIPE) || did;
        did = tell(s) || did;
    }
    bury();
    return did;
}

/* Until nothing is left to do; a loop that has no end is found out. */
static void settle(void)
{
    unsigned n = 0;

    while (turn())
        assert_true(++n < 20000);
}

static bool expire(unsigned *ms, unsigned passed)
{
    if (*ms == 0)
        return false;
    *ms = *ms > passed ? *ms - passed : 0;
    return *ms == 0;
}

static struct mk_alarm *expired_alarm(void)
{
    struct mk_alarm *a = fake.alarms;

    while (a && a->ms != 1)
        a = a->next;
    return a;
}

/* Time passes. */
static void pass(unsigned ms)
{
    struct mk_alarm *a;

    fake.now += ms;
    for (size_t i = 0; i < STREAMS_MAX; i++) {
        struct mk_stream *s = fake.streams[i];

        if (s && !s->is_given && expire(&s->ms, ms))
            s->fn(s, MK_IO_TIMEOUT, s->arg);
    }
    for (a = fake.alarms; a; a = a->next)
        a->ms = a->ms == 0 ? 0 : a->ms > ms ? a->ms - ms : 1;
    while ((a = expired_alarm()) != NULL) {
        a->ms = 0;
        a->fn(a, a->arg);
    }
    bury();
}

/* The connection that is the n-th of those that are open. */
static struct mk_stream *stream_at(unsigned n)
{
    for (size_t i = 0; i < STREAMS_MAX; i++) {
        if (fake.streams[i] && !fake.streams[i]->is_given && n-- == 0)
            return fake.streams[i];
    }
    return NULL;
}

/* The backend closes it; or it is reset. */
static void close_stream(struct mk_stream *s)
{
    s->has_eof = true;
    s->events |= MK_IO_READ | MK_IO_HANGUP;
}

static void break_stream(struct mk_stream *s)
{
    s->is_broken = true;
    s->events |= MK_IO_ERROR;
}

/* What the backend has kept until now is answered. */
static void answer_all(void)
{
    fails_in = 0;
    for (size_t i = 0; i < STREAMS_MAX; i++) {
        if (!fake.streams[i])
            continue;
        for (struct at_backend *b = fake.streams[i]->streams; b; b = b->next) {
            if (b->is_whole)
                answer(b);
        }
    }
}

#endif
