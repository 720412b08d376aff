/* SPDX-License-Identifier: Apache-2.0 */
#include "upstream_scene.h"

#include <unistd.h>

/* ---- keeping ---- */

static void a_new_connection_says_so(void **state)
{
    struct taker t;

    (void)state;
    scene_open((struct mk_upstream_options){.max_idle = 4});
    taker_take(&t, 0);
    assert_true(t.fresh);
    assert_int_equal(backend_accept(), 1);
    scene_turn();
    assert_int_equal(t.told, MK_IO_READ | MK_IO_WRITE);
    scene_assert_load(1, 0, 0);
    taker_give(&t, true);
    scene_assert_load(1, 1, 0);
}

static void the_one_used_last_comes_first(void **state)
{
    struct taker t[3];
    struct mk_stream *first, *second;

    (void)state;
    scene_open((struct mk_upstream_options){.max_idle = 4});
    taker_take(&t[0], 0);
    taker_take(&t[1], 0);
    first = t[0].s;
    second = t[1].s;
    taker_give(&t[0], true);
    taker_give(&t[1], true);
    taker_take(&t[0], 0);
    assert_ptr_equal(t[0].s, second);
    assert_false(t[0].fresh);
    scene_turn();
    assert_int_equal(t[0].told, MK_IO_READ | MK_IO_WRITE);
    taker_take(&t[1], 0);
    assert_ptr_equal(t[1].s, first);
    taker_take(&t[2], 0);
    assert_true(t[2].fresh);
    assert_int_equal(backend_accept(), 3);
    for (int i = 0; i < 3; i++)
        taker_give(&t[i], true);
}

static void a_retry_gets_a_new_one(void **state)
{
    struct taker a, b;

    (void)state;
    scene_open((struct mk_upstream_options){.max_idle = 4});
    taker_take(&a, 0);
    taker_give(&a, true);
    taker_take_way(&b, 0, true);
    assert_true(b.fresh);
    scene_assert_load(2, 1, 0);
    taker_give(&b, false);
    scene_assert_load(1, 1, 0);
}

static void workers_keep_their_own(void **state)
{
    struct taker a, b;

    (void)state;
    scene_open((struct mk_upstream_options){.max_idle = 4});
    taker_take(&a, 0);
    taker_give(&a, true);
    taker_take(&b, 1);
    assert_true(b.fresh);
    taker_give(&b, true);
    scene_assert_load(2, 2, 0);
}

static void give_when_told(struct mk_stream *s, unsigned events, void *arg)
{
    struct taker *t = arg;
    char answer[8];

    t->told |= events;
    if (mk_stream_read(s, answer, sizeof(answer)) == 2)
        taker_give(t, t->fresh);
}

/* As receivers do: an answer ends inside an event, and with it the use of the connection. */
static void it_is_given_back_inside_an_event(void **state)
{
    struct taker t;

    (void)state;
    scene_open((struct mk_upstream_options){.max_idle = 4});
    for (int i = 0; i < 2; i++) { /* kept the first time, closed the second */
        taker_take(&t, 0);
        mk_stream_tell(t.s, give_when_told, &t);
        assert_int_equal(backend_accept(), 1);
        assert_int_equal(write(scene.peers[0], "OK", 2), 2);
        scene_turn();
        assert_null(t.s);
        scene_assert_load(t.fresh, t.fresh, 0);
    }
    assert_true(backend_sees_end(0));
}

/* Before its first write: what came since the last turn has had no event yet. */
static void a_kept_connection_is_looked_at(void **state)
{
    struct taker t[2];

    (void)state;
    scene_open((struct mk_upstream_options){.max_idle = 4});
    for (int i = 0; i < 2; i++)
        taker_take(&t[i], 0);
    assert_int_equal(backend_accept(), 2);
    for (int i = 1; i >= 0; i--)
        taker_give(&t[i], true);
    taker_take(&t[0], 0);
    assert_false(t[0].fresh);
    assert_true(mk_upstream_is_quiet(scene.u, t[0].s));
    assert_int_equal(write(scene.peers[0], "x", 1), 1);
    assert_false(mk_upstream_is_quiet(scene.u, t[0].s));
    assert_false(mk_upstream_is_trusted(scene.u));
    taker_give(&t[0], true);
    scene_assert_load(1, 1, 0);
    taker_take(&t[0], 0); /* the other one is used no more */
    assert_true(t[0].fresh);
    taker_give(&t[0], true);
    scene_assert_load(0, 0, 0);
}

static void an_end_is_no_reason_for_distrust(void **state)
{
    struct taker t;

    (void)state;
    scene_open((struct mk_upstream_options){.max_idle = 4});
    taker_take(&t, 0);
    assert_int_equal(backend_accept(), 1);
    taker_give(&t, true);
    taker_take(&t, 0);
    backend_end_peer(0);
    assert_false(mk_upstream_is_quiet(scene.u, t.s));
    assert_true(mk_upstream_is_trusted(scene.u));
    taker_give(&t, false);
}

/* What a connection is not kept for. */
static void what_cannot_be_used_again_is_closed(void **state)
{
    static const struct {
        const char *sentence;
        bool not_reusable, unread, ended;
        unsigned max_uses, max_idle;
    } rows[] = {
        {.sentence = "the receiver says so", .not_reusable = true, .max_idle = 4},
        {.sentence = "bytes are unread", .unread = true, .max_idle = 4},
        {.sentence = "the backend has closed", .ended = true, .max_idle = 4},
        {.sentence = "it was used so often", .max_uses = 1, .max_idle = 4},
        {.sentence = "none is kept", .max_idle = 0},
    };

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        struct taker t;

        scene_open((struct mk_upstream_options){.max_idle = rows[i].max_idle,
                                                .max_uses = rows[i].max_uses});
        taker_take(&t, 0);
        assert_int_equal(backend_accept(), 1);
        if (rows[i].unread)
            assert_int_equal(write(scene.peers[0], "x", 1), 1);
        if (rows[i].ended)
            assert_int_equal(shutdown(scene.peers[0], SHUT_WR), 0);
        scene_turn();
        taker_give(&t, !rows[i].not_reusable);
        print_message("%s\n", rows[i].sentence);
        scene_assert_load(0, 0, 0);
        backend_close_peers();
        mk_upstream_free(scene.u);
        scene.u = NULL;
    }
}

static void it_is_used_so_often(void **state)
{
    struct taker t;

    (void)state;
    scene_open((struct mk_upstream_options){.max_idle = 4, .max_uses = 3});
    for (unsigned i = 0; i < 9; i++) {
        taker_take(&t, 0);
        assert_int_equal(t.fresh, i % 3 == 0);
        taker_give(&t, true);
    }
    assert_int_equal(backend_accept(), 3);
    assert_true(backend_sees_end(0) && backend_sees_end(1) && backend_sees_end(2));
}

static void the_surplus_is_closed(void **state)
{
    struct taker a, b;

    (void)state;
    scene_open((struct mk_upstream_options){.max_idle = 1});
    taker_take(&a, 0);
    taker_take(&b, 0);
    taker_give(&a, true);
    taker_give(&b, true);
    scene_assert_load(1, 1, 0);
    assert_false(backend_sees_end(0));
    assert_true(backend_sees_end(1));
}

static void idle_ones_that_the_backend_ends_are_dropped(void **state)
{
    struct taker a, b;

    (void)state;
    scene_open((struct mk_upstream_options){.max_idle = 4});
    taker_take(&a, 0);
    taker_take(&b, 0);
    taker_give(&a, true);
    taker_give(&b, true);
    assert_int_equal(backend_accept(), 2);
    backend_end_peer(0);
    scene_turn();
    scene_assert_load(1, 1, 0);
    assert_int_equal(write(scene.peers[1], "HTTP/1.1 408", 12), 12);
    scene_turn();
    scene_assert_load(0, 0, 0);
    taker_take(&a, 0);
    assert_true(a.fresh);
    taker_give(&a, false);
}

static void idle_ones_grow_old(void **state)
{
    struct taker t;

    (void)state;
    scene_open((struct mk_upstream_options){.max_idle = 4, .idle_ms = 100});
    taker_take(&t, 0);
    taker_wait(&(struct taker){.calls = 0}, 300); /* in use it does not */
    taker_give(&t, true);
    scene_assert_load(1, 1, 0);
    taker_wait(&(struct taker){.calls = 0}, 400);
    scene_assert_load(0, 0, 0);
    assert_true(backend_sees_end(0));
}

static void one_that_breaks_before_it_is_told_is_replaced(void **state)
{
    struct taker t;

    (void)state;
    scene_open((struct mk_upstream_options){.max_idle = 4, .max_connections = 1});
    taker_take(&t, 0);
    taker_give(&t, true);
    assert_int_equal(backend_accept(), 1);
    assert_int_equal(taker_ask(&t, 0, false), 0);
    backend_end_peer(0);
    scene_turn();
    assert_int_equal(t.calls, 1);
    assert_true(t.s && t.fresh);
    scene_assert_load(1, 0, 0);
    taker_give(&t, true);
}

/* ---- waiting ---- */

static void who_waited_longest_comes_first(void **state)
{
    struct taker t[4];
    struct mk_stream *first;

    (void)state;
    scene_open((struct mk_upstream_options){.max_idle = 4, .max_connections = 1, .max_waiting = 3});
    taker_take(&t[0], 0);
    first = t[0].s;
    for (unsigned i = 1; i < 4; i++)
        assert_int_equal(taker_ask(&t[i], i == 2, false),
                         0); /* the one in the middle on the other worker */
    scene_turn();
    scene_assert_load(1, 0, 3);
    assert_int_equal(t[1].calls + t[2].calls + t[3].calls, 0);
    taker_give(&t[0], true);
    scene_turn();
    assert_ptr_equal(t[1].s, first); /* the very connection */
    assert_false(t[1].fresh);
    assert_int_equal(t[2].calls, 0);
    taker_give(&t[1], true);
    scene_turn();
    assert_true(t[2].s && t[2].fresh);
    assert_int_equal(t[3].calls, 0);
    assert_true(backend_sees_end(0));
    taker_give(&t[2], false);
    scene_turn();
    assert_true(t[3].s && t[3].fresh);
    taker_give(&t[3], true);
    scene_assert_load(1, 1, 0);
}

static void too_many_may_not_wait(void **state)
{
    struct taker a, b, c;

    (void)state;
    scene_open((struct mk_upstream_options){.max_idle = 4, .max_connections = 1, .max_waiting = 1});
    taker_take(&a, 0);
    assert_int_equal(taker_ask(&b, 0, false), 0);
    assert_int_equal(taker_ask(&c, 1, false), MK_E_BUSY);
    assert_null(c.wait);
    mk_upstream_cancel(b.wait);
    scene_assert_load(1, 0, 0);
    taker_give(&a, true);
}

static void an_idle_one_elsewhere_is_given_up(void **state)
{
    struct taker a, b;

    (void)state;
    scene_open((struct mk_upstream_options){.max_idle = 4, .max_connections = 1});
    taker_take(&a, 0);
    taker_give(&a, true);
    taker_take(&b, 1);
    assert_true(b.fresh);
    assert_true(backend_sees_end(0));
    scene_assert_load(1, 0, 0);
    taker_give(&b, true);
    taker_take_way(&a, 1, true); /* and one's own, for a new one */
    assert_true(a.fresh);
    taker_give(&a, true);
    scene_assert_load(1, 1, 0);
}

static void waiting_ends_in_time(void **state)
{
    struct taker a, b;

    (void)state;
    scene_open((struct mk_upstream_options){
        .max_idle = 4, .max_connections = 1, .max_waiting = 1, .queue_ms = 100});
    taker_take(&a, 0);
    assert_int_equal(taker_ask(&b, 1, false), 0);
    taker_wait(&b, 2000);
    assert_int_equal(b.calls, 1);
    assert_int_equal(b.error, MK_E_BUSY);
    scene_assert_load(1, 0, 0);
    taker_give(&a, true);
    scene_assert_load(1, 1, 0);
}

/* ---- cancelling ---- */

static void cancelling_loses_no_permit(void **state)
{
    struct taker a, b;

    (void)state;
    scene_open((struct mk_upstream_options){.max_idle = 4, .max_connections = 1, .max_waiting = 2});
    assert_int_equal(taker_ask(&a, 0, false), 0); /* before anything was begun */
    mk_upstream_cancel(a.wait);
    scene_turn();
    scene_assert_load(0, 0, 0);

    taker_take(&a, 0);
    assert_int_equal(taker_ask(&b, 1, false), 0); /* in the queue */
    mk_upstream_cancel(b.wait);
    scene_assert_load(1, 0, 0);

    assert_int_equal(taker_ask(&b, 1, false), 0); /* a permit is on its way */
    taker_give(&a, true);
    scene_assert_load(1, 0, 0);
    mk_upstream_cancel(b.wait);
    scene_turn();
    scene_assert_load(0, 0, 0);

    taker_take(&a, 0);
    assert_int_equal(taker_ask(&b, 0, false), 0); /* a connection is */
    taker_give(&a, true);
    mk_upstream_cancel(b.wait);
    scene_turn();
    scene_assert_load(1, 1, 0);

    assert_int_equal(taker_ask(&a, 0, false), 0); /* the idle one is */
    scene_assert_load(1, 0, 0);
    mk_upstream_cancel(a.wait);
    scene_turn();
    scene_assert_load(1, 1, 0);
    assert_int_equal(a.calls + b.calls, 0);
}

/* ---- the end ---- */

static void a_freed_one_lives_until_all_is_given_back(void **state)
{
    struct taker t[3];

    (void)state;
    scene_open((struct mk_upstream_options){.max_idle = 4, .max_connections = 3, .max_waiting = 1});
    taker_take(&t[0], 0);
    taker_take(&t[1], 1);
    taker_take(&t[2], 1);
    taker_give(&t[1], true);
    mk_upstream_free(scene.u);
    scene_turn();
    assert_false(backend_sees_end(0));
    assert_true(backend_sees_end(1));
    taker_give(&t[0], true);
    assert_true(backend_sees_end(0));
    taker_give(&t[2], true); /* and that was the last of it */
    scene.u = NULL;
}

static void who_waits_for_a_freed_one_is_served(void **state)
{
    struct taker a, b;

    (void)state;
    scene_open((struct mk_upstream_options){.max_idle = 4, .max_connections = 1, .max_waiting = 1});
    taker_take(&a, 0);
    assert_int_equal(taker_ask(&b, 1, false), 0);
    mk_upstream_free(scene.u);
    taker_give(&a, true);
    scene_turn();
    assert_true(b.s && b.fresh);
    taker_give(&b, true);
    scene.u = NULL;
}

static void an_older_caller_names_no_protocol(void **state)
{
    const struct mk_upstream_options o = {.size = offsetof(struct mk_upstream_options, protocol),
                                          .host = scene.host,
                                          .protocol = "behind the end"};

    (void)state;
    scene.u = mk_upstream_new(scene.server, &o);
    assert_non_null(scene.u);
    assert_null(scene.u->protocol);
}

static void survives_without_memory(void **state)
{
    (void)state;
    for (long n = 0, done = 0; !done; n++) {
        struct mk_upstream_options o = {.size = sizeof(o),
                                        .host = scene.host,
                                        .name = "a",
                                        .transport = "liana",
                                        .max_idle = 1,
                                        .protocol = "h2"};

        mk_heap_fail_after(n);
        scene.u = mk_upstream_new(scene.server, &o);
        mk_heap_fail_after(-1);
        done = scene.u != NULL;
    }
    for (long n = 0, done = 0; !done; n++) {
        struct taker t;
        int err;

        mk_heap_fail_after(n);
        err = taker_ask(&t, 0, true);
        scene_turn();
        mk_heap_fail_after(-1);
        assert_true(err == MK_E_NOMEM || (err == 0 && t.calls == 1));
        if (err == 0 && t.error)
            assert_int_equal(t.error, MK_E_NOMEM);
        done = t.s != NULL;
        if (done)
            taker_give(&t, true);
    }
    scene_assert_load(1, 1, 0);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, scene_setup, scene_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_new_connection_says_so),
        TEST(the_one_used_last_comes_first),
        TEST(a_retry_gets_a_new_one),
        TEST(workers_keep_their_own),
        TEST(a_kept_connection_is_looked_at),
        TEST(an_end_is_no_reason_for_distrust),
        TEST(it_is_given_back_inside_an_event),
        TEST(what_cannot_be_used_again_is_closed),
        TEST(it_is_used_so_often),
        TEST(the_surplus_is_closed),
        TEST(idle_ones_that_the_backend_ends_are_dropped),
        TEST(idle_ones_grow_old),
        TEST(one_that_breaks_before_it_is_told_is_replaced),
        TEST(who_waited_longest_comes_first),
        TEST(too_many_may_not_wait),
        TEST(an_idle_one_elsewhere_is_given_up),
        TEST(waiting_ends_in_time),
        TEST(cancelling_loses_no_permit),
        TEST(a_freed_one_lives_until_all_is_given_back),
        TEST(who_waits_for_a_freed_one_is_served),
        TEST(an_older_caller_names_no_protocol),
        TEST(survives_without_memory),
    };
#undef TEST

    return cmocka_run_group_tests(tests, NULL, NULL);
}
