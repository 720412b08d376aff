/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_askers.h"

/* One server that is full, silent or gone, step by step. */

static void begin_alone(bool greets)
{
    open_world(1);
    asked.protocol = &patient;
    asked.connections = 4;
    world.greets = greets;
    world.is_rough = world.is_swift = false;
    world.is_ending = world.is_alone = true;
    world.here = 0;
    set_tight(false);
    world.upstreams[0].max = CALLS;
}

static void end_alone(void)
{
    while (!is_at_rest())
        run_all();
    assert_int_equal(world.nended, world.naccepted);
    close_world();
}

/* Worker 0 asks server 0. @return the number of the call */
static unsigned ask(void)
{
    const unsigned number = world.ncalls++;
    struct remote_call *call = new_call(number);

    world.begun_ms[number] = world.now_ms;
    world.is_accepted[number] = true;
    world.naccepted++;
    world.here = 0;
    assert_int_equal(remote_client_begin(world.clients[0], call), 0);
    assert_int_equal(remote_client_send(world.clients[0], 0, call), 0);
    return number;
}

static bool is_up(void)
{
    return remote_client_alive(world.clients[0]) & 1;
}

static void go_on(struct mk_stream *s)
{
    serve_stream(s);
    tell_stream(s);
}

/* All is answered on it. */
static void finish(struct mk_stream *s)
{
    for (int i = 0; i < 100 && s->is_open; i++)
        go_on(s);
}

static void refuses(struct mk_stream *s)
{
    refuse(s);
    for (int i = 0; i < LINE && s->is_open; i++)
        tell_stream(s);
    assert_false(s->is_open);
}

/* The server closes it. */
static void ends(struct mk_stream *s)
{
    s->is_over = true;
    tell_stream(s);
    assert_false(s->is_open);
}

/* It is full, and has refused all connections but the first one before that has greeted. */
static void a_connection_that_is_still_made_is_waited_for(void **state)
{
    (void)state;
    begin_alone(true);
    for (int i = 0; i < 4; i++)
        (void)ask();
    serve_all_waits();
    assert_int_equal(world.nstreams, 4);
    for (unsigned i = 1; i < 4; i++)
        refuses(world.streams[i]);
    assert_true(is_up());
    assert_int_equal(world.nended, 0);
    finish(world.streams[0]);
    assert_int_equal(world.nended, 4);
    for (unsigned i = 0; i < 4; i++)
        assert_true(world.was_received[i]);
    end_alone();
}

/* The calls of a refused connection were not sent. */
static void a_refused_connection_leaves_its_calls_to_others(void **state)
{
    (void)state;
    begin_alone(false);
    for (int i = 0; i < 3; i++)
        (void)ask();
    for (unsigned i = 0; i < 2; i++) {
        serve_wait(&world.upstreams[0]);
        assert_int_equal(world.nstreams, i + 1);
    }
    refuses(world.streams[0]);
    assert_true(is_up());
    serve_wait(&world.upstreams[0]);
    refuses(world.streams[1]);
    assert_true(is_up());
    assert_int_equal(world.nended, 0);
    finish(world.streams[2]);
    assert_int_equal(world.nended, 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_ptr_equal(world.sent_on[i], world.streams[2]);
        assert_true(world.was_received[i]);
    }
    end_alone();
}

/* A connection that has answered was not refused, also if another link had it then. */
static void what_reads_like_a_refusal_later_is_an_answer(void **state)
{
    unsigned number;

    (void)state;
    begin_alone(false);
    (void)ask();
    serve_all_waits();
    finish(world.streams[0]);
    while (!world.streams[0]->is_idle)
        pass_time(20);
    number = ask();
    serve_all_waits();
    while (world.streams[0]->in_at == world.streams[0]->in_len)
        tell_stream(world.streams[0]);
    while (world.streams[0]->in_len - world.streams[0]->in_at < LINE)
        tell_stream(world.streams[0]);
    world.streams[0]->in_at += LINE;
    world.was_received[number] = true;
    reply(world.streams[0], "F000000\n", LINE);
    finish(world.streams[0]);
    assert_true(world.is_ended[number]);
    assert_true(is_up());
    end_alone();
}

/* It gets no new ones, and refuses them all. */
static void a_server_is_asked_over_a_connection_that_it_has(void **state)
{
    (void)state;
    begin_alone(false);
    (void)ask();
    (void)ask();
    serve_all_waits();
    assert_int_equal(world.nstreams, 2);
    finish(world.streams[0]);
    ends(world.streams[1]);
    assert_false(is_up());
    world.moods[0] = REFUSES;
    for (int i = 0; i < 100 && !is_up(); i++)
        run_all();
    assert_true(is_up());
    end_alone();
}

/* The connection that there was is dead without a word, so the second question is over a new one, at once. */
static void a_server_is_asked_anew_where_a_connection_is_dead(void **state)
{
    int64_t asked_ms;

    (void)state;
    begin_alone(false);
    (void)ask();
    (void)ask();
    serve_all_waits();
    finish(world.streams[0]);
    ends(world.streams[1]);
    while (count_waits(&world.upstreams[0]) == 0)
        pass_time(20);
    asked_ms = world.now_ms;
    serve_all_waits();
    assert_int_equal(world.nstreams, 2);
    world.streams[0]->in_at = world.streams[0]->in_len; /* lost */
    while (world.now_ms <= asked_ms + TIMEOUT_MS + 2 * REMOTE_TICK_MS)
        pass_time(20);
    serve_all_waits();
    assert_int_equal(world.nstreams, 3);
    finish(world.streams[2]);
    assert_true(is_up());
    end_alone();
}

/* One connection is silent, and another one answers. */
static void a_server_that_answers_elsewhere_is_not_left_out(void **state)
{
    (void)state;
    begin_alone(false);
    (void)ask();
    (void)ask();
    serve_all_waits();
    assert_int_equal(world.nstreams, 2);
    while (world.streams[0]->in_at == world.streams[0]->in_len)
        tell_stream(world.streams[0]);
    while (world.streams[0]->is_open) {
        world.streams[0]->in_at = world.streams[0]->in_len; /* lost */
        finish(world.streams[1]);
        pass_time(20);
        (void)ask();
        assert_true(is_up());
    }
    assert_true(world.now_ms >= 1000 + 2 * TIMEOUT_MS);
    for (int i = 0; i < 100; i++)
        run_all();
    assert_int_equal(world.nended, world.naccepted);
    assert_true(is_up());
    end_alone();
}

/* What is over stays on its connection, where its answer is awaited. */
static void calls_that_are_over_count(void **state)
{
    struct remote_call *more;

    (void)state;
    begin_alone(false);
    asked.connections = 1;
    for (unsigned i = 0; i < asked.calls_max; i++)
        (void)ask();
    serve_all_waits();
    while (world.nended < world.naccepted)
        pass_time(20);
    more = new_call(world.ncalls);
    assert_int_equal(remote_client_begin(world.clients[0], more), -1);
    finish(world.streams[0]);
    assert_int_equal(remote_client_begin(world.clients[0], more), 0);
    remote_client_cancel(world.clients[0]);
    free(more);
    for (unsigned i = 0; i < asked.calls_max; i++)
        (void)ask();
    serve_all_waits();
    while (world.streams[0]->is_open)
        pass_time(20);
    while (!is_up())
        run_all();
    (void)ask();
    assert_int_equal(world.clients[0]->ncalls, 1);
    end_alone();
}

/* It takes connections, and answers nothing: a new one is no better than the one before. */
static void a_server_that_is_silent_is_left_out(void **state)
{
    (void)state;
    begin_alone(false);
    (void)ask();
    serve_all_waits();
    finish(world.streams[0]);
    world.moods[0] = SILENT;
    (void)ask();
    finish(world.streams[0]);
    while (world.now_ms < world.begun_ms[1] + TIMEOUT_MS * 3 / 2)
        pass_time(20);
    (void)ask();
    serve_all_waits();
    assert_int_equal(world.nstreams, 2);
    while (world.streams[0]->is_open)
        pass_time(20);
    assert_true(world.streams[1]->is_open);
    assert_false(is_up());
    world.moods[0] = GOOD;
    end_alone();
}

/* Another connection has failed. */
static void an_answer_brings_a_server_back(void **state)
{
    (void)state;
    begin_alone(false);
    (void)ask();
    (void)ask();
    serve_all_waits();
    ends(world.streams[1]);
    assert_false(is_up());
    while (count_waits(&world.upstreams[0]) == 0)
        pass_time(20);
    finish(world.streams[0]);
    assert_true(is_up());
    serve_all_waits(); /* nobody wants the probe any more */
    assert_int_equal(world.nstreams, 2);
    assert_int_equal(ask(), 2);
    end_alone();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_connection_that_is_still_made_is_waited_for),
        cmocka_unit_test(a_refused_connection_leaves_its_calls_to_others),
        cmocka_unit_test(what_reads_like_a_refusal_later_is_an_answer),
        cmocka_unit_test(a_server_is_asked_over_a_connection_that_it_has),
        cmocka_unit_test(a_server_is_asked_anew_where_a_connection_is_dead),
        cmocka_unit_test(a_server_that_answers_elsewhere_is_not_left_out),
        cmocka_unit_test(a_server_that_is_silent_is_left_out),
        cmocka_unit_test(calls_that_are_over_count),
        cmocka_unit_test(an_answer_brings_a_server_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
