/* SPDX-License-Identifier: Apache-2.0 */
#include "h1_site.h"

#include "base/limits.h"
#include "server/h1/job.h"

#include <stdlib.h>

/* What an answer costs in calls and memory, and how much one connection may do in a turn. */

static void warm(struct mk_str in)
{
    for (int i = 0; i < 3; i++) {
        struct loopback lb = begin(in);

        loopback_talk(&lb);
        loopback_free(&lb);
    }
}

static void next_allocation_must_still_be_the_failing_one(void)
{
    assert_null(mk_heap_alloc(1));
    mk_heap_fail_after(-1);
}

static void a_cached_file_costs_one_recv_one_send_and_no_allocation(void **state)
{
    static const struct mk_str get = MK_STR_INIT(GET("/small.txt", ""));
    struct loopback lb = begin(get);

    (void)state;
    warm(get);
    loopback_open(&lb);
    loopback_turn(&lb);
    loopback_say(&lb, get);
    lb.nrecv = lb.nsend = lb.nsendfile = 0;
    mk_heap_fail_after(0);
    loopback_turn(&lb);
    next_allocation_must_still_be_the_failing_one();
    assert_int_equal(loopback_status(&lb, 1), 200);
    assert_int_equal(lb.nrecv, 1);
    assert_int_equal(lb.nsend, 1);
    assert_int_equal(lb.nsendfile, 0);
    loopback_close(&lb);
    loopback_free(&lb);
}

static void a_connection_costs_one_block_and_its_buffer_only_while_it_talks(void **state)
{
    struct loopback lb = begin(MK_STR(GET("/small.txt", "")));

    (void)state;
    warm(lb.in);
    mk_heap_fail_after(0);
    lb.first_piece = 5;
    loopback_open(&lb);
    assert_int_equal(fix.worker->conns.used, 1);
    assert_int_equal(fix.worker->jobs.used, 0);
    loopback_turn(&lb);
    assert_int_equal(fix.worker->jobs.used, 1);
    loopback_run(&lb);
    assert_int_equal(loopback_status(&lb, 0), 200);
    assert_int_equal(fix.worker->jobs.used, 0);
    assert_int_equal(fix.worker->conns.used, 1);
    loopback_close(&lb);
    assert_int_equal(fix.worker->conns.used, 0);
    next_allocation_must_still_be_the_failing_one();
    loopback_free(&lb);
}

static void pipelined_answers_leave_in_one_send(void **state)
{
    struct loopback lb = begin(MK_STR(GET("/small.txt", "") GET("/nothing", "") GET(
        "/small.txt", "") GET("/middle.bin", "") GET("/middle.bin", "") GET("/small.txt", "")));

    (void)state;
    warm(lb.in);
    loopback_open(&lb);
    loopback_turn(&lb);
    assert_int_equal(loopback_status(&lb, 5), 200);
    assert_int_equal(lb.nsend, 1);
    assert_int_equal(lb.nsendfile, 0);
    loopback_close(&lb);
    loopback_free(&lb);
}

static void a_large_file_is_one_send_and_sendfile(void **state)
{
    struct loopback lb = begin(MK_STR(GET("/large.bin", "")));

    (void)state;
    loopback_open(&lb);
    loopback_turn(&lb);
    assert_int_equal(lb.nsend, 1);
    assert_int_equal(lb.nsendfile, 1);
    assert_true(lb.out_len > 200 << 10);
    loopback_close(&lb);
    loopback_free(&lb);
}

static void the_rest_of_a_file_needs_no_request_any_more(void **state)
{
    struct loopback lb = begin(MK_STR(GET("/large.bin", "")));

    (void)state;
    lb.out_piece = 1000;
    loopback_open(&lb);
    loopback_turn(&lb);
    assert_int_equal(lb.conn->state, MK_H1_FLUSH);
    assert_int_equal(fix.worker->jobs.used, 0);
    loopback_say(&lb, MK_STR(GET("/small.txt", "")));
    loopback_run(&lb);
    assert_int_equal(loopback_status(&lb, 1), 200);
    loopback_close(&lb);
    loopback_free(&lb);
}

/* ---- turns ---- */

static void a_turn_sends_no_more_than_its_budget(void **state)
{
    struct loopback lb = begin(MK_STR(GET("/huge.bin", "")));

    (void)state;
    loopback_open(&lb);
    lb.conn->readable = true;
    loopback_arrive(&lb);
    lb.conn->watch.on_event(&lb.conn->watch, EPOLLIN);
    assert_in_range(lb.out_len, MK_LIMIT_TURN_BYTES, MK_LIMIT_TURN_BYTES + 1000);
    mk_loop_turn(&lb.worker->loop, 0, NULL, NULL);
    assert_true(lb.out_len > 2 * MK_LIMIT_TURN_BYTES);
    loopback_run(&lb);
    assert_true(lb.out_len > 3 << 20);
    loopback_close(&lb);
    loopback_free(&lb);
}

static void a_turn_answers_no_more_than_its_requests(void **state)
{
    static const char get[] = GET("/small.txt", "");
    enum { COUNT = MK_LIMIT_TURN_REQUESTS + 10 };
    char *in = malloc(COUNT * (sizeof(get) - 1));
    struct fixture *f = &fix;
    struct loopback lb;

    (void)state;
    assert_non_null(in);
    for (int i = 0; i < COUNT; i++)
        memcpy(in + (size_t)i * (sizeof(get) - 1), get, sizeof(get) - 1);
    f->plan.snapshot.set.max_keepalive_requests = 1000;
    lb = begin((struct mk_str){in, COUNT * (sizeof(get) - 1)});
    loopback_open(&lb);
    loopback_arrive(&lb);
    lb.conn->watch.on_event(&lb.conn->watch, EPOLLIN);
    assert_int_equal(loopback_status(&lb, MK_LIMIT_TURN_REQUESTS - 1), 200);
    assert_int_equal(loopback_status(&lb, MK_LIMIT_TURN_REQUESTS), 0);
    loopback_run(&lb);
    assert_int_equal(loopback_status(&lb, COUNT - 1), 200);
    loopback_close(&lb);
    loopback_free(&lb);
    f->plan.snapshot.set.max_keepalive_requests = 50;
    free(in);
}

static void many_pipelined_answers_to_a_slow_reader(void **state)
{
    static const size_t pieces[] = {1000, 5000, 30000, 48000, 60000};
    static const char get[] = GET("/middle.bin", "") GET("/nothing", "");
    enum { COUNT = 20 };
    char in[COUNT * (sizeof(get) - 1)];

    (void)state;
    for (int i = 0; i < COUNT; i++)
        memcpy(in + (size_t)i * (sizeof(get) - 1), get, sizeof(get) - 1);
    for (size_t i = 0; i < MK_ARRAY_LEN(pieces); i++) {
        struct loopback lb = begin((struct mk_str){in, sizeof(in)});

        lb.out_piece = pieces[i];
        loopback_open(&lb);
        loopback_run(&lb);
        assert_int_equal(loopback_status(&lb, 2 * COUNT - 1), 404);
        loopback_close(&lb);
        loopback_free(&lb);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUN(a_cached_file_costs_one_recv_one_send_and_no_allocation),
        RUN(a_connection_costs_one_block_and_its_buffer_only_while_it_talks),
        RUN(pipelined_answers_leave_in_one_send),
        RUN(a_large_file_is_one_send_and_sendfile),
        RUN(the_rest_of_a_file_needs_no_request_any_more),
        RUN(a_turn_sends_no_more_than_its_budget),
        RUN(a_turn_answers_no_more_than_its_requests),
        RUN(many_pipelined_answers_to_a_slow_reader),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
