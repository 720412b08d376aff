/* SPDX-License-Identifier: Apache-2.0 */
#include "h1_site.h"

#include "base/limits.h"
#include "server/h1/job.h"

#include <stdlib.h>
#include <unistd.h>

/* How connections end, what they wait for, and what comes before the first request. */

static void the_last_of_many_requests_ends_the_connection(void **state)
{
    static const char get[] = GET("/small.txt", "");
    char in[60 * (sizeof(get) - 1)];
    struct loopback lb;

    (void)state;
    for (int i = 0; i < 60; i++)
        memcpy(in + (size_t)i * (sizeof(get) - 1), get, sizeof(get) - 1);
    lb = begin((struct mk_str){in, sizeof(in)});
    loopback_open(&lb);
    loopback_run(&lb);
    assert_int_equal(loopback_status(&lb, 49), 200);
    assert_int_equal(loopback_status(&lb, 50), 0);
    assert_true(loopback_has(&lb, "Connection: close\r\n"));
    /* Input was left: a close at once would reset the connection, and the answers might be lost. */
    assert_int_equal(lb.nshutdown, 1);
    loopback_close(&lb);
    loopback_free(&lb);
}

static void refused_input_is_read_until_the_peer_ends(void **state)
{
    struct loopback lb = begin(MK_STR("hello\r\n\r\n"));

    (void)state;
    loopback_open(&lb);
    loopback_turn(&lb);
    assert_int_equal(loopback_status(&lb, 0), 400);
    assert_int_equal(lb.nshutdown, 1);
    assert_int_equal(lb.conn->state, MK_H1_LINGER);
    loopback_say(&lb, MK_STR("and more of it"));
    loopback_turn(&lb);
    assert_int_equal(lb.in_at, lb.in.len);
    assert_false(loopback_is_closed(&lb));
    lb.half_close = true;
    loopback_run(&lb);
    assert_true(loopback_is_closed(&lb));
    loopback_close(&lb);
    loopback_free(&lb);
}

static void half_closed_peers_get_their_answers(void **state)
{
    struct loopback lb = begin(MK_STR(GET("/large.bin", "") GET("/small.txt", "")));

    (void)state;
    lb.half_close = true;
    lb.out_piece = 50000;
    loopback_open(&lb);
    loopback_run(&lb);
    assert_int_equal(loopback_status(&lb, 1), 200);
    assert_true(loopback_is_closed(&lb));
    loopback_close(&lb);
    loopback_free(&lb);
}

static void a_file_that_shrinks_while_it_is_sent_ends_the_connection(void **state)
{
    struct loopback lb = begin(MK_STR(GET("/shrinks.bin", "")));
    const _Atomic uint64_t *closed =
        &fix.worker->counters.reasons[mk_reason_of_close(MK_CLOSE_TRUNCATED)];
    const uint64_t before = atomic_load(closed);
    char path[64];

    (void)state;
    file_write(fix.dir, "shrinks.bin", NULL, 100000);
    (void)snprintf(path, sizeof(path), "%s/shrinks.bin", fix.dir);
    lb.out_piece = 20000;
    loopback_open(&lb);
    loopback_turn(&lb);
    assert_int_equal(truncate(path, 50000), 0);
    loopback_run(&lb);
    assert_true(loopback_is_closed(&lb));
    assert_int_equal(atomic_load(closed), before + 1);
    loopback_close(&lb);
    loopback_free(&lb);
}

static void the_server_being_full_is_said(void **state)
{
    struct loopback lb = begin(MK_STR(GET("/small.txt", "")));

    (void)state;
    lb.busy = true;
    loopback_open(&lb);
    loopback_run(&lb);
    assert_int_equal(loopback_status(&lb, 0), 503);
    assert_int_equal(loopback_status(&lb, 1), 0);
    assert_true(loopback_has(&lb, "Retry-After: "));
    loopback_close(&lb);
    loopback_free(&lb);
}

/* ---- bytes that nobody wants ---- */

/* A request with so long a body that nobody reads, whole or in one chunk, and another one behind it. */
static struct mk_str with_body(char *to, size_t size, size_t length, bool is_chunked)
{
    static const char next[] = GET("/small.txt", "");
    static char bytes[MK_LIMIT_BODY_SKIP + 1];
    int len =
        is_chunked
            ? snprintf(to, size,
                       "POST /small.txt HTTP/1.1\r\n" HOST
                       "Transfer-Encoding: chunked\r\n\r\n%zx\r\n",
                       length)
            : snprintf(to, size, "POST /small.txt HTTP/1.1\r\n" HOST "Content-Length: %zu\r\n\r\n",
                       length);
    struct mk_str in = {to, (size_t)len + length};
    int more;

    assert_true(in.len + 100 < size);
    memcpy(to + len, bytes, length);
    more = snprintf(to + in.len, size - in.len, "%s%s", is_chunked ? "\r\n0\r\n\r\n" : "", next);
    in.len += (size_t)more;
    return in;
}

static void so_much_body_is_skipped(void **state)
{
    enum { SIZE = MK_LIMIT_BODY_SKIP + 1000 };
    struct mk_site_settings *set = &fix.plan.snapshot.sites->set;
    int64_t max_body_size = set->max_body_size;
    char *in = malloc(SIZE);

    (void)state;
    assert_non_null(in);
    set->max_body_size = 1 << 20;
    for (int i = 0; i < 4; i++) {
        bool is_chunked = i % 2 == 1;
        size_t more = i / 2;
        struct loopback lb = begin(with_body(in, SIZE, MK_LIMIT_BODY_SKIP + more, is_chunked));

        loopback_open(&lb);
        loopback_run(&lb);
        assert_int_equal(loopback_status(&lb, 0), 405);
        if (loopback_status(&lb, 1) != (more > 0 ? 0 : 200))
            fail_msg("%zu bytes more, %s: %u", more, is_chunked ? "chunked" : "whole",
                     loopback_status(&lb, 1));
        loopback_close(&lb);
        loopback_free(&lb);
    }
    set->max_body_size = max_body_size;
    free(in);
}

/* So many bytes of a client whose request was refused. */
static void say_more(struct loopback *lb, const char *more, size_t len)
{
    loopback_say(lb, (struct mk_str){more, len});
    loopback_run(lb);
    assert_int_equal(lb->in_at, lb->in.len);
}

static void pass_ms(struct loopback *lb, int64_t ms)
{
    lb->worker->loop.clock.mono_ms += ms;
}

/* An upload is read to its end, however long it is: its client looks at the answer when it has sent all. */
static void a_whole_upload_is_discarded(void **state)
{
    enum { PIECE = 1 << 20, PIECES = 20 };
    char *more = calloc(1, PIECE);
    struct loopback lb = begin(MK_STR("x\r\n\r\n"));

    (void)state;
    assert_non_null(more);
    loopback_open(&lb);
    loopback_run(&lb);
    assert_int_equal(lb.conn->state, MK_H1_LINGER);
    for (int i = 0; i < PIECES; i++) {
        say_more(&lb, more, PIECE);
        pass_ms(&lb, MK_LIMIT_LINGER_QUIET_MS / 4);
    }
    assert_false(loopback_is_closed(&lb));
    loopback_time_out(&lb);
    assert_true(loopback_is_closed(&lb));
    loopback_close(&lb);
    loopback_free(&lb);
    free(more);
}

/* The answer does not fit into the kernel, and its client sends all before it reads. */
static void input_is_discarded_while_the_last_answer_leaves(void **state)
{
    struct loopback lb = begin(MK_STR(GET("/large.bin", "")));

    (void)state;
    lb.out_piece = 1;
    loopback_open(&lb);
    loopback_turn(&lb);
    loopback_turn(&lb);
    mk_conn_stop(lb.conn);
    assert_int_equal(lb.conn->state, MK_H1_FLUSH);
    loopback_say(&lb, MK_STR("what nobody asked for"));
    loopback_turn(&lb);
    assert_int_equal(lb.conn->state, MK_H1_FLUSH);
    assert_int_equal(lb.in_at, lb.in.len);
    lb.out_piece = 0;
    loopback_run(&lb);
    assert_int_equal(loopback_status(&lb, 0), 200);
    assert_int_equal(lb.conn->state, MK_H1_LINGER);
    loopback_close(&lb);
    loopback_free(&lb);
}

/* A server that stops ends soon what lingers already. */
static void lingering_is_short_at_the_end_of_the_server(void **state)
{
    struct loopback lb = begin(MK_STR("x\r\n\r\n"));
    struct mk_timer *timer;

    (void)state;
    loopback_open(&lb);
    loopback_run(&lb);
    timer = &lb.conn->timer;
    lb.worker->stopping = true;
    mk_conn_stop(lb.conn);
    lb.worker->stopping = false;
    assert_in_range(timer->due - (uint32_t)(lb.worker->loop.clock.mono_ms / MK_TICK_MS), 1,
                    MK_LIMIT_LINGER_HURRY_MS / MK_TICK_MS + 1);
    loopback_time_out(&lb);
    assert_true(loopback_is_closed(&lb));
    loopback_close(&lb);
    loopback_free(&lb);
}

/* ---- timeouts ---- */

static void silence_ends_with_what_fits_the_state(void **state)
{
    static const struct {
        const char *sentence;
        struct mk_str in;
        size_t out_piece;
        unsigned nth, status; /* of the answer that the timeout gives; 0: none */
        bool closed;          /* at once */
    } rows[] = {
        {"not a byte of a request", MK_STR_INIT(""), 0, 0, 0, true},
        {"no further request (RFC 9112 section 9.6)", MK_STR_INIT(GET("/small.txt", "")), 0, 1, 0,
         false},
        {"half a head (RFC 9110 section 15.5.9)", MK_STR_INIT("GET / HT"), 0, 0, 408, false},
        {"half a second head", MK_STR_INIT(GET("/small.txt", "") "GET / HT"), 0, 1, 408, false},
        {"no body for a handler that waits for it",
         MK_STR_INIT("POST /echo HTTP/1.1\r\n" HOST "Content-Length: 9\r\n\r\n"), 0, 0, 408, false},
        {"half a body, when the answer has begun",
         MK_STR_INIT("POST /echo HTTP/1.1\r\n" HOST "Content-Length: 9\r\n\r\nabc"), 0, 1, 0, true},
        {"half a body that is only skipped",
         MK_STR_INIT("POST /small.txt HTTP/1.1\r\n" HOST "Content-Length: 9\r\n\r\nabc"), 0, 1, 0,
         false},
        {"an answer that is not read", MK_STR_INIT(GET("/large.bin", "")), 100, 1, 0, true},
        {"several answers that are not read",
         MK_STR_INIT(GET("/middle.bin", "") GET("/middle.bin", "")), 100, 1, 0, true},
        {"a refused peer that does not end", MK_STR_INIT("x\r\n\r\n"), 0, 1, 0, true},
    };

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        struct loopback lb = begin(rows[i].in);

        lb.out_piece = rows[i].out_piece;
        loopback_open(&lb);
        loopback_turn(&lb);
        assert_false(loopback_is_closed(&lb));
        loopback_time_out(&lb);
        if (loopback_status(&lb, rows[i].nth) != rows[i].status)
            fail_msg("%s: status %u", rows[i].sentence, loopback_status(&lb, rows[i].nth));
        if (rows[i].closed != loopback_is_closed(&lb))
            fail_msg("%s: closed or not", rows[i].sentence);
        if (!rows[i].closed && lb.conn->state != MK_H1_LINGER)
            fail_msg("%s: not ending, state %u", rows[i].sentence, lb.conn->state);
        loopback_close(&lb);
        loopback_free(&lb);
    }
}

static void a_late_body_gets_no_second_answer(void **state)
{
    struct loopback lb = begin(MK_STR("POST /echo HTTP/1.1\r\n" HOST "Content-Length: 9\r\n\r\n"));

    (void)state;
    loopback_open(&lb);
    loopback_turn(&lb);
    loopback_time_out(&lb);
    loopback_say(&lb, MK_STR("123456789"));
    loopback_run(&lb);
    assert_int_equal(loopback_status(&lb, 0), 408);
    assert_int_equal(loopback_status(&lb, 1), 0);
    loopback_close(&lb);
    loopback_free(&lb);
}

/* ---- expectations and PROXY ---- */

static void a_client_that_waits_is_told_to_send(void **state)
{
    struct loopback lb = begin(
        MK_STR("POST /echo HTTP/1.1\r\n" HOST "Expect: 100-continue\r\nContent-Length: 5\r\n\r\n"));

    (void)state;
    loopback_open(&lb);
    loopback_turn(&lb);
    assert_int_equal(lb.out_len, 25);
    assert_int_equal(loopback_status(&lb, 0), 100);
    loopback_say(&lb, MK_STR("hello"));
    loopback_run(&lb);
    assert_int_equal(loopback_status(&lb, 1), 200);
    assert_true(loopback_has(&lb, "hello"));
    loopback_close(&lb);
    loopback_free(&lb);
}

static void a_stopping_server_ends_after_the_answer(void **state)
{
    struct loopback busy = begin(MK_STR("GET /small.txt HTTP/1.1\r\n" HOST)),
                    idle = begin(MK_STR(GET("/small.txt", "")));

    (void)state;
    loopback_open(&busy);
    loopback_open(&idle);
    loopback_turn(&busy);
    loopback_turn(&idle);
    fix.worker->stopping = true;
    mk_conn_stop(busy.conn);
    mk_conn_stop(idle.conn);
    loopback_turn(&idle);
    assert_true(loopback_is_closed(&idle));
    loopback_say(&busy, MK_STR("\r\n"));
    loopback_run(&busy);
    assert_int_equal(loopback_status(&busy, 0), 200);
    assert_true(loopback_has(&busy, "Connection: close\r\n"));
    assert_true(loopback_is_closed(&busy));
    fix.worker->stopping = false;
    loopback_close(&busy);
    loopback_close(&idle);
    loopback_free(&busy);
    loopback_free(&idle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUN(the_last_of_many_requests_ends_the_connection),
        RUN(refused_input_is_read_until_the_peer_ends),
        RUN(half_closed_peers_get_their_answers),
        RUN(a_file_that_shrinks_while_it_is_sent_ends_the_connection),
        RUN(the_server_being_full_is_said),
        RUN(so_much_body_is_skipped),
        RUN(a_whole_upload_is_discarded),
        RUN(input_is_discarded_while_the_last_answer_leaves),
        RUN(lingering_is_short_at_the_end_of_the_server),
        RUN(silence_ends_with_what_fits_the_state),
        RUN(a_late_body_gets_no_second_answer),
        RUN(a_client_that_waits_is_told_to_send),
        RUN(a_stopping_server_ends_after_the_answer),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
