/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "exchange/exchange.h"
#include "exchange/head.h"

/* Bytes both ways after 101, between a stream and a stream or a call, which are scripts. */

enum { LONG = 40 << 14, TIMEOUT = 90000, HALF = 60000 };

struct mk_stream {
    const char *in; /* what arrives, and has not been read */
    size_t in_len;
    bool ends;           /* the end of input follows */
    int in_error, error; /* of each read after it, of each write; 0: none */
    size_t room, step;   /* bytes that it takes, in all and at a time */
    char *out;
    size_t out_len;
    bool has_shut, is_closed, is_aborted;
    unsigned timeout_ms, nsoon;
    size_t held;
    bool has_late_end; /* a call: not all of it has left, or its end has not */
    mk_stream_fn fn;
    void *arg;
};

static struct mk_stream client, backend;
static struct {
    int begin_error, end_error, take_error;
    unsigned status, nresumed, nfields;
    unsigned ended, given_back, given_up, failed;
    struct proxy_report report;
    bool is_late;             /* the client's stream comes after the call */
    struct mk_stream **place; /* where it is to be written */
} seen;
static struct mk_stream *late;
static bool is_call; /* the way to the backend */
static char many[LONG];

/* ---- the server ---- */

ssize_t mk_stream_read(struct mk_stream *s, void *buf, size_t len)
{
    assert_false(s->is_closed);
    if (s->in_len == 0)
        return s->in_error ? s->in_error : s->ends ? 0 : MK_E_AGAIN;
    len = s->in_len < len ? s->in_len : len;
    memcpy(buf, s->in, len);
    s->in += len;
    s->in_len -= len;
    return (ssize_t)len;
}

ssize_t mk_stream_write(struct mk_stream *s, const struct iovec *iov, int count)
{
    size_t n = iov->iov_len < s->step ? iov->iov_len : s->step;

    assert_int_equal(count, 1);
    assert_false(s->is_closed || s->has_shut);
    if (s->error)
        return s->error;
    n = n < s->room ? n : s->room;
    if (n == 0)
        return MK_E_AGAIN;
    assert_true(s->out_len + n <= LONG);
    memcpy(s->out + s->out_len, iov->iov_base, n);
    s->out_len += n;
    s->room -= n;
    return (ssize_t)n;
}

void mk_stream_shutdown(struct mk_stream *s)
{
    assert_false(s->has_shut);
    s->has_shut = true;
}

void mk_stream_close(struct mk_stream *s)
{
    if (s)
        s->is_closed = true;
}

void mk_stream_abort(struct mk_stream *s)
{
    mk_stream_close(s);
    s->is_aborted = true;
}

void mk_stream_hold(struct mk_stream *s, size_t bytes)
{
    assert_true(!s || s == &client);
    if (s)
        s->held = bytes;
}

void mk_stream_run_soon(struct mk_stream *s)
{
    s->nsoon++;
}

void mk_stream_timeout(struct mk_stream *s, unsigned ms)
{
    s->timeout_ms = ms;
}

void mk_stream_tell(struct mk_stream *s, mk_stream_fn fn, void *arg)
{
    s->fn = fn;
    s->arg = arg;
}

void mk_upstream_give(struct mk_upstream *u, struct mk_stream *s, bool reusable)
{
    (void)u;
    assert_ptr_equal(s, &backend);
    assert_false(reusable); /* nobody knows what is on it */
    s->is_closed = true;
    seen.given_back++;
}

void mk_upstream_cancel(struct mk_upstream_wait *wait)
{
    (void)wait;
    abort();
}

/* ---- calls ---- */

static struct mk_stream *script(struct proxy_call *c)
{
    assert_true(is_call);
    assert_ptr_equal(c, &backend);
    return &backend;
}

void proxy_call_put(struct proxy_call *c)
{
    script(c)->is_closed = true;
    seen.given_back++;
}

void proxy_call_tell(struct proxy_call *c, mk_stream_fn fn, void *arg)
{
    mk_stream_tell(script(c), fn, arg);
}

ssize_t proxy_call_read(struct proxy_call *c, char *dst, size_t len)
{
    return mk_stream_read(script(c), dst, len);
}

ssize_t proxy_call_write(struct proxy_call *c, const struct iovec *iov, int niov)
{
    return mk_stream_write(script(c), iov, niov);
}

int proxy_call_end_body(struct proxy_call *c, struct mk_str trailers)
{
    assert_int_equal(trailers.len, 0);
    mk_stream_shutdown(script(c));
    return 0;
}

size_t proxy_call_held(struct proxy_call *c)
{
    return script(c)->held;
}

bool proxy_call_is_over(const struct proxy_call *c)
{
    const bool has_ended = backend.has_shut && backend.ends && backend.in_len == 0;

    (void)c;
    return backend.error || backend.in_error || (has_ended && !backend.has_late_end);
}

void proxy_call_timeout(struct proxy_call *c, unsigned ms)
{
    mk_stream_timeout(script(c), ms);
}

void proxy_call_run_soon(struct proxy_call *c)
{
    mk_stream_run_soon(script(c));
}

int proxy_call_begin(struct proxy_call **call, struct proxy_calls *calls,
                     const struct proxy_call_way *way, bool fresh, proxy_called_fn called,
                     void *arg)
{
    (void)call, (void)calls, (void)way, (void)fresh, (void)called, (void)arg;
    abort();
}

bool proxy_call_is_lost(const struct proxy_call *c)
{
    (void)c;
    abort();
}

bool proxy_call_was_refused(const struct proxy_call *c)
{
    (void)c;
    abort();
}

/* ---- the request ---- */

int mk_reply_begin(struct mk_reply *p, struct mk_request *r, unsigned status)
{
    *p = (struct mk_reply){.r = r, .status = status};
    seen.status = status;
    return seen.begin_error;
}

int mk_reply_end(struct mk_reply *p, int64_t length)
{
    (void)p;
    assert_int_equal(length, 0);
    return seen.end_error;
}

int mk_request_take(struct mk_request *r, struct mk_stream **s, mk_stream_fn fn, void *arg)
{
    (void)r;
    if (seen.take_error)
        return seen.take_error;
    client.fn = fn;
    client.arg = arg;
    *(seen.is_late ? &late : s) = &client;
    seen.place = s;
    return 0;
}

void mk_request_resume(struct mk_request *r)
{
    (void)r;
    seen.nresumed++;
}

/* ---- the rest of the plugin ---- */

void proxy_answer_fields(struct proxy_exchange *x, struct mk_reply *p)
{
    (void)x, (void)p;
    seen.nfields++;
}

void proxy_answers(struct proxy_attempt *attempt, unsigned status)
{
    assert_int_equal(status, 101);
    assert_non_null(attempt->backend);
}

void proxy_end(struct proxy_attempt *attempt, const struct proxy_report *report)
{
    assert_non_null(attempt->backend);
    seen.ended++;
    seen.report = *report;
}

void proxy_exchange_give_up(struct proxy_exchange *x, enum proxy_outcome outcome)
{
    (void)x;
    assert_int_equal(outcome, PROXY_LEFT);
    seen.given_up++;
}

void proxy_exchange_fail(struct proxy_exchange *x, unsigned status, const char *why)
{
    (void)x, (void)why;
    assert_int_equal(seen.given_up, 1); /* before */
    assert_int_equal(status, 502);
    seen.failed++;
}

void proxy_trace(const void *exchange, const struct states *table, unsigned was, unsigned is)
{
    (void)exchange, (void)table, (void)was, (void)is;
}

/* ---- an exchange whose backend has said 101 ---- */

static struct proxy_settings set;
static struct proxy_exchange x;
static char *outs[2];

static int set_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(many); i++)
        many[i] = (char)(i * 7 + i / 251);
    outs[0] = malloc(LONG);
    outs[1] = malloc(LONG);
    return outs[0] && outs[1] ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    free(outs[0]);
    free(outs[1]);
    return 0;
}

static int prepare(void **state)
{
    is_call = *state != NULL;
    memset(&seen, 0, sizeof(seen));
    client = (struct mk_stream){.room = LONG, .step = LONG, .out = outs[0]};
    backend = (struct mk_stream){.room = LONG, .step = LONG, .out = outs[1]};
    set = (struct proxy_settings){.tunnel_ms = TIMEOUT};
    x = (struct proxy_exchange){.set = &set,
                                .state = PROXY_HEAD,
                                .began_us = clock_now_us(),
                                .attempt = {.backend = (struct proxy_backend *)&backend}};
    if (is_call)
        x.link.call = (struct proxy_call *)&backend;
    else
        x.link.stream = &backend;
    return 0;
}

static struct proxy_buffer *head_and(const char *rest)
{
    static const char head[] = "101 head";
    size_t len = strlen(head) + strlen(rest);
    struct proxy_buffer *b = calloc(1, sizeof(*b) + len + 1);

    assert_non_null(b);
    (void)snprintf(b->bytes, len + 1, "%s%s", head, rest);
    b->end = len;
    b->size = len;
    return b;
}

/* @param rest  bytes of the backend that came with its head */
static void begin(const char *rest)
{
    x.down = head_and(rest);
    proxy_tunnel_begin(&x, strlen("101 head"));
    assert_int_equal(x.down->at, 0); /* its fields are read again */
    free(x.down);
}

static void arrives(struct mk_stream *s, const char *bytes, size_t len)
{
    s->in = bytes;
    s->in_len = len;
}

static void tell(struct mk_stream *s, unsigned events)
{
    s->fn(s, events, s->arg);
}

/* The tunnel is over, once, and both connections are closed. */
static void check_over(uint64_t sent, uint64_t received)
{
    assert_int_equal(seen.ended, 1);
    assert_int_equal(seen.given_back, 1);
    assert_true(client.is_closed && backend.is_closed);
    assert_int_equal(seen.report.outcome, PROXY_ANSWERED);
    assert_int_equal(seen.report.status, 101);
    assert_true(seen.report.sent == sent && seen.report.received == received);
    assert_true(seen.report.whole_us >= seen.report.head_us);
}

static void end_it(void)
{
    backend.in_error = MK_E_PEER;
    tell(&backend, MK_IO_ERROR);
}

/* ---- tests ---- */

static void the_exchange_hands_over_what_it_has(void **state)
{
    (void)state;
    begin("");
    assert_int_equal(seen.status, 101);
    assert_int_equal(seen.nfields, 1);
    assert_int_equal(seen.nresumed, 1);
    assert_int_equal(x.state, PROXY_TUNNEL);
    assert_true(!x.link.stream && !x.link.call);
    assert_null(x.attempt.backend); /* the exchange does not report it */
    assert_int_equal(backend.timeout_ms, TIMEOUT);
    end_it();
    check_over(0, 0);
}

static void bytes_go_both_ways(void **state)
{
    (void)state;
    begin("first ");
    arrives(&client, "ping", 4);
    arrives(&backend, "pong", 4);
    tell(&client, MK_IO_READ | MK_IO_WRITE);
    assert_int_equal(client.out_len, 10);
    assert_memory_equal(client.out, "first pong", 10);
    assert_int_equal(backend.out_len, 4);
    assert_memory_equal(backend.out, "ping", 4);
    end_it();
    check_over(4, 10);
}

/* The backend may be heard before the server has made the client's stream: then nothing is done. */
static void a_backend_that_is_early_waits(void **state)
{
    (void)state;
    seen.is_late = true;
    begin("");
    arrives(&backend, "pong", 4);
    tell(&backend, MK_IO_READ);
    assert_int_equal(client.out_len, 0);
    *seen.place = late;
    tell(&client, MK_IO_WRITE);
    assert_int_equal(client.out_len, 4);
    end_it();
}

static void what_one_side_does_not_take_holds_the_other(void **state)
{
    (void)state;
    begin("");
    client.room = 100;
    arrives(&backend, many, 50000);
    tell(&backend, MK_IO_READ);
    assert_int_equal(client.out_len, 100);
    assert_int_equal(backend.in_len, 50000 - PROXY_BUFFER); /* one piece, no more */
    tell(&backend, MK_IO_READ);
    assert_int_equal(backend.in_len, 50000 - PROXY_BUFFER);
    arrives(&client, "up", 2); /* the other direction does not wait */
    tell(&client, MK_IO_READ);
    assert_int_equal(backend.out_len, 2);
    client.room = LONG;
    tell(&client, MK_IO_WRITE);
    assert_int_equal(client.out_len, 50000);
    assert_memory_equal(client.out, many, 50000);
    end_it();
    check_over(2, 50000);
}

static void what_waits_is_booked_for_the_client(void **state)
{
    (void)state;
    begin("");
    backend.room = client.room = 0;
    arrives(&client, many, 1000);
    tell(&client, MK_IO_READ);
    assert_int_equal(client.held, 1000);
    arrives(&backend, many, LONG);
    tell(&backend, MK_IO_READ);
    assert_int_equal(client.held, 1000 + (1 << 14));
    backend.room = 1000;
    tell(&backend, MK_IO_WRITE);
    assert_int_equal(client.held, 1 << 14);
    client.room = LONG;
    backend.in_len = 0;
    end_it();
    assert_int_equal(client.held, 0);
}

static void bytes_taken_in_small_parts_stay_in_order(void **state)
{
    (void)state;
    begin("with the head");
    client.step = 7;
    arrives(&backend, many, 30000);
    tell(&client, MK_IO_WRITE);
    assert_int_equal(client.out_len, 13 + 30000);
    assert_memory_equal(client.out, "with the head", 13);
    assert_memory_equal(client.out + 13, many, 30000);
    end_it();
}

/* One side that is always ready gives way to the other connections of its worker. */
static void a_turn_moves_no_more_than_its_share(void **state)
{
    const size_t share = (size_t)32 * PROXY_BUFFER;

    (void)state;
    begin("");
    arrives(&client, many, LONG);
    tell(&client, MK_IO_READ);
    assert_int_equal(backend.out_len, share);
    assert_int_equal(client.nsoon, 1);
    tell(&client, MK_IO_READ);
    assert_int_equal(backend.out_len, LONG);
    assert_int_equal(client.nsoon, 1);
    assert_memory_equal(backend.out, many, LONG);
    arrives(&backend, many, LONG);
    backend.in_error = MK_E_PEER; /* it is gone, and has no event any more */
    tell(&backend, MK_IO_READ);
    assert_int_equal(client.out_len, share);
    assert_int_equal(client.nsoon, 2);
    assert_int_equal(backend.nsoon, 0);
    tell(&client, MK_IO_READ | MK_IO_WRITE);
    assert_int_equal(client.out_len, LONG);
    assert_memory_equal(client.out, many, LONG);
    check_over(LONG, LONG);
}

static void each_end_is_told_to_the_other_side(void **state)
{
    (void)state;
    begin("");
    client.ends = true;
    arrives(&client, "bye", 3);
    tell(&client, MK_IO_READ | MK_IO_HANGUP);
    assert_memory_equal(backend.out, "bye", 3);
    assert_true(backend.has_shut && !client.has_shut);
    assert_int_equal(seen.ended, 0);
    arrives(&backend, "and more", 8); /* the other direction goes on */
    tell(&backend, MK_IO_READ);
    assert_int_equal(client.out_len, 8);
    assert_int_equal(backend.timeout_ms, HALF); /* but not for as long */
    backend.ends = true;
    tell(&backend, MK_IO_READ);
    assert_true(client.has_shut);
    check_over(3, 8);
}

/* The end comes after all bytes, also those that wait. */
static void an_end_waits_for_the_bytes_before_it(void **state)
{
    (void)state;
    begin("");
    client.room = 1;
    backend.ends = true;
    arrives(&backend, "all", 3);
    tell(&backend, MK_IO_READ);
    assert_false(client.has_shut);
    client.room = LONG;
    tell(&client, MK_IO_WRITE);
    assert_memory_equal(client.out, "all", 3);
    assert_true(client.has_shut);
    end_it();
}

/* It has said all that it had to say. */
static void a_backend_that_breaks_after_its_end_has_ended(void **state)
{
    (void)state;
    begin("");
    backend.ends = true;
    tell(&backend, MK_IO_READ);
    assert_true(client.has_shut);
    backend.error = MK_E_PEER;
    arrives(&client, "more", 4);
    tell(&client, MK_IO_READ);
    assert_false(client.is_aborted);
    check_over(4, 0);
}

static void half_a_tunnel_has_a_short_time_at_most(void **state)
{
    (void)state;
    set.tunnel_ms = 5000;
    begin("");
    client.ends = true;
    tell(&client, MK_IO_READ);
    tell(&client, MK_IO_WRITE);
    assert_int_equal(backend.timeout_ms, 5000);
    end_it();
}

static void a_backend_that_takes_no_more_is_heard_to_its_end(void **state)
{
    (void)state;
    begin("");
    backend.error = MK_E_PEER;
    arrives(&client, "up", 2);
    arrives(&backend, "last", 4);
    tell(&client, MK_IO_READ);
    assert_int_equal(client.out_len, 4);
    assert_memory_equal(client.out, "last", 4);
    assert_int_equal(seen.ended, 0);
    backend.in_error = MK_E_PEER;
    tell(&backend, MK_IO_READ);
    check_over(2, 4);
}

static void each_of_these_ends_it(void **state)
{
    static const struct {
        const char *sentence;
        struct mk_stream *of;
        unsigned events;
        int read_error, write_error; /* of the client */
        int cut;                     /* of the backend: of each read; its client is told of that */
    } rows[] = {
        {"the client broke", &client, MK_IO_ERROR | MK_IO_READ, 0, 0, 0},
        {"the server stops", &client, MK_IO_HANGUP, 0, 0, 0},
        {"the backend broke", &backend, MK_IO_ERROR, 0, 0, MK_E_PEER},
        {"nobody says anything", &backend, MK_IO_TIMEOUT, 0, 0, 0},
        {"the client cannot be read", &client, MK_IO_READ, MK_E_PEER, 0, 0},
        {"the client takes no more", &backend, MK_IO_READ, 0, MK_E_PEER, 0},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        prepare(state);
        begin("rest"); /* memory that is given back */
        client.in_error = rows[i].read_error;
        client.error = rows[i].write_error;
        backend.in_error = rows[i].cut;
        tell(rows[i].of, rows[i].events);
        if (seen.ended != 1)
            fail_msg("%s: ended %u times", rows[i].sentence, seen.ended);
        check_over(0, 4);
        assert_int_equal(client.is_aborted, rows[i].cut != 0);
    }
}

/* A call has what the kernel has of a connection: it is booked, and is put when the last of it has left. */
static void what_a_call_holds_is_booked(void **state)
{
    (void)state;
    begin("");
    backend.held = 3000;
    arrives(&client, "up", 2);
    tell(&client, MK_IO_READ);
    assert_int_equal(client.held, 3000);
    backend.held = 0;
    client.in_len = 0;
    client.in_error = MK_E_PEER; /* it is not asked: this event is about room alone */
    tell(&backend, MK_IO_WRITE);
    assert_int_equal(client.held, 0);
    assert_int_equal(seen.ended, 0);
    end_it();
}

static void a_call_is_put_when_its_end_has_left(void **state)
{
    (void)state;
    begin("");
    backend.has_late_end = true;
    client.ends = backend.ends = true;
    arrives(&client, "last", 4);
    tell(&client, MK_IO_READ);
    assert_true(backend.has_shut && client.has_shut);
    assert_int_equal(seen.ended, 0);
    assert_int_equal(backend.timeout_ms, TIMEOUT); /* and the half of it from the next event on */
    tell(&client, MK_IO_WRITE);
    assert_int_equal(backend.timeout_ms, HALF);
    backend.has_late_end = false;
    tell(&backend, MK_IO_READ);
    check_over(4, 0);
}

/* It has ended, and takes no more: the client is not waited for. */
static void a_call_that_is_over_ends_it(void **state)
{
    (void)state;
    begin("");
    backend.ends = true;
    arrives(&backend, "bye", 3);
    tell(&backend, MK_IO_READ);
    assert_true(client.has_shut);
    assert_int_equal(seen.ended, 0);
    backend.error = MK_E_PEER;
    tell(&backend, MK_IO_READ);
    assert_false(client.is_aborted);
    check_over(0, 3);
}

/* What came before RST_STREAM or the end of the connection is the client's. */
static void what_came_before_a_cut_is_passed_on(void **state)
{
    (void)state;
    begin("");
    client.room = 1;
    backend.error = backend.in_error = MK_E_PEER;
    arrives(&backend, "last words", 10);
    tell(&backend, MK_IO_READ | MK_IO_ERROR);
    assert_int_equal(client.out_len, 1);
    assert_int_equal(seen.ended, 0);
    client.room = LONG;
    tell(&client, MK_IO_WRITE);
    assert_int_equal(client.out_len, 10);
    assert_true(client.is_aborted);
    check_over(0, 10);
}

/* Without a tunnel the request is answered, as far as it can be, and its attempt ends as one that the client left. */
static void without_a_tunnel_there_is_an_error(void **state)
{
    for (int i = 0; i < 3; i++) {
        prepare(state);
        seen.begin_error = i == 0 ? MK_E_PEER : 0;
        seen.end_error = i == 1 ? MK_E_LIMIT : 0;
        seen.take_error = i == 2 ? MK_E_NOMEM : 0;
        begin("rest");
        assert_int_equal(seen.given_up, 1);
        assert_int_equal(seen.failed, 1);
        assert_int_equal(seen.ended, 0);
        assert_int_equal(seen.nresumed, 0);
        assert_true(is_call ? x.link.call != NULL : x.link.stream == &backend);
        assert_non_null(x.attempt.backend);
    }
}

#define CASE(name) cmocka_unit_test_setup(name, prepare)
#define CALL(name) cmocka_unit_test_prestate_setup_teardown(name, prepare, NULL, &is_call)
#define BOTH(name) CASE(name), CALL(name)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(the_exchange_hands_over_what_it_has),
        BOTH(bytes_go_both_ways),
        BOTH(a_backend_that_is_early_waits),
        BOTH(what_one_side_does_not_take_holds_the_other),
        BOTH(what_waits_is_booked_for_the_client),
        BOTH(bytes_taken_in_small_parts_stay_in_order),
        BOTH(a_turn_moves_no_more_than_its_share),
        BOTH(each_end_is_told_to_the_other_side),
        BOTH(an_end_waits_for_the_bytes_before_it),
        BOTH(a_backend_that_breaks_after_its_end_has_ended),
        BOTH(half_a_tunnel_has_a_short_time_at_most),
        BOTH(a_backend_that_takes_no_more_is_heard_to_its_end),
        BOTH(each_of_these_ends_it),
        BOTH(without_a_tunnel_there_is_an_error),
        CALL(what_a_call_holds_is_booked),
        CALL(a_call_is_put_when_its_end_has_left),
        CALL(a_call_that_is_over_ends_it),
        CALL(what_came_before_a_cut_is_passed_on),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
