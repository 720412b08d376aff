/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_askers.h"

/* Random schedules of calls, connects, answers, failures and time-outs. */

enum { SCHEDULES = 600, STEPS = 400 };

static void restart(unsigned server)
{
    for (unsigned i = 0; i < world.nstreams; i++) {
        if (world.streams[i]->is_open && world.streams[i]->u->server == server)
            world.streams[i]->is_over = true;
    }
}

static void turn_any_stream(void)
{
    struct mk_stream *s = world.nstreams > 0 ? world.streams[below(world.nstreams)] : NULL;

    if (!s)
        return;
    if (below(2) == 0)
        serve_stream(s);
    else
        tell_stream(s);
}

static enum mood any_mood(void)
{
    static const enum mood swift[] = {GOOD, REFUSES, CLOSES, CONFUSES, FULL};

    if (world.is_swift)
        return swift[below(5)];
    return below(2) == 0 ? GOOD : (enum mood)below(NMOODS);
}

/* Is a connection on its way, or one that will be given back? */
static bool is_coming(const struct remote_pool *pool)
{
    const struct remote_link *l = pool->links;

    while (l && l->state == REMOTE_LINK_OPEN)
        l = l->next;
    return l != NULL;
}

/* What waits beside connections that work must have something to wait for. */
static void look_at_waiting(void)
{
    for (unsigned i = 0; i < WORKERS; i++) {
        for (unsigned server = 0; server < SERVERS; server++) {
            const struct remote_pool *pool = &world.clients[i]->pools[server];

            if (pool->waiting.first)
                assert_true(is_coming(pool));
        }
    }
}

static void step(void)
{
    const unsigned server = below(SERVERS);

    world.here = below(WORKERS);
    switch (below(11)) {
    case 0:
    case 1:
    case 2:
        submit();
        break;
    case 3:
    case 4:
        serve_wait(&world.upstreams[below(UPSTREAMS)]);
        break;
    case 5:
        pass_time(below(90));
        break;
    case 6:
        if (below(6) == 0)
            world.moods[server] = any_mood();
        if (below(20) == 0)
            restart(server);
        break;
    default:
        for (int i = 0; i < 4; i++)
            turn_any_stream();
        break;
    }
    if (below(world.pace) == 0)
        pass_time(below(90));
    for (unsigned i = 0; i < UPSTREAMS; i++)
        assert_true(world.upstreams[i].nopen <= world.upstreams[i].max);
    look_at_waiting();
}

/* All servers are good again: each call ends, all servers come back, and nothing is left but idle connections. */
static void calm_down(unsigned seed)
{
    int turns = 0;

    for (unsigned i = 0; i < SERVERS; i++) {
        world.moods[i] = GOOD;
        restart(i); /* what was silent has forgotten it */
    }
    world.is_ending = true;
    world.is_rough = false;
    while (!is_at_rest() && turns++ < 1000)
        run_all();
    if (!is_at_rest())
        fail_msg("seed %u: %u of %u calls have ended, and it does not rest", seed, world.nended,
                 world.naccepted);
    for (unsigned i = 0; i < WORKERS; i++)
        assert_int_equal(remote_client_alive(world.clients[i]), (1U << SERVERS) - 1);
    assert_int_equal(world.nsaid, 0);
}

static void each_call_ends_once_in_any_order(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < SCHEDULES; seed++) {
        open_world(seed);
        for (int i = 0; i < STEPS; i++) {
            step();
            if (world.is_swift)
                run_all();
        }
        if (seed % 3 > 0) /* the others end in the middle */
            calm_down(seed);
        close_world();
    }
    assert_true(nanswers > 10000);
    assert_true(nlate > 100);
    for (unsigned i = 0; i <= REMOTE_UNSENT; i++)
        assert_true(seen[i] > 100);
}

/* Who holds the only connection passes it on, busy or not. */
static void workers_take_turns(void **state)
{
    (void)state;
    open_world(1);
    world.is_rough = false;
    world.is_ending = true;
    for (unsigned i = 0; i < SERVERS; i++)
        world.upstreams[i].max = 1;
    set_tight(true);
    for (int turn = 0; turn < 200; turn++) {
        world.here = (unsigned)turn % WORKERS;
        submit();
        if (turn % 3 == 0)
            run_all();
    }
    while (!is_at_rest())
        run_all();
    assert_int_equal(world.naccepted, world.nended);
    assert_true(world.naccepted > 100);
    for (unsigned number = 0; number < world.ncalls; number++)
        assert_int_equal(world.is_accepted[number], world.was_received[number]);
    close_world();
}

/* @return that of a worker which it leaves to others; NULL: none */
static struct mk_stream *find_leaving(const struct remote_client *client)
{
    for (unsigned i = 0; i < SERVERS; i++) {
        for (const struct remote_link *l = client->pools[i].links; l; l = l->next) {
            if (l->state == REMOTE_LINK_LEAVING)
                return l->s;
        }
    }
    return NULL;
}

/*
 * The only connection of a worker is another's after the call that it has, which ends it; calls wait for the next one. Whoever asks
 * for more in the callback of the last answer, without memory for a connection, hears of no other call meanwhile.
 */
static void no_other_call_ends_within_a_call(unsigned seed)
{
    struct mk_stream *s;

    open_world(seed);
    asked.connections = 1;
    world.is_rough = false;
    world.is_ending = true;
    for (unsigned i = 0; i < SERVERS; i++) {
        world.upstreams[i].max = 1;
        world.moods[i] = CONFUSES;
    }
    set_tight(true);
    for (int turn = 0; turn < 24; turn++) {
        world.here = turn < 8 || turn > 15 ? 0 : 1;
        submit();
        if (turn < 8)
            serve_all_waits();
    }
    while ((s = find_leaving(world.clients[0]))) {
        asks_in_vain = true;
        serve_stream(s);
        tell_stream(s);
    }
    close_world();
}

static void nothing_is_called_within_a_call(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 32; seed++)
        no_other_call_ends_within_a_call(seed);
    asks_in_vain = false;
}

/* A worker leaves one of its two connections to another one, and cannot have a third: what waits for that has the second. */
static void a_call_does_not_wait_for_a_connection_that_failed(void **state)
{
    struct mk_stream *s;
    (void)state;
    open_world(1);
    asked.connections = 2;
    world.is_rough = false;
    world.is_ending = true;
    set_tight(false);
    for (unsigned i = 0; i < SERVERS; i++)
        world.upstreams[i].max = 2;
    for (int turn = 0; turn < 24; turn++) {
        world.here = turn < 16 ? 0 : 1;
        submit();
        serve_all_waits();
    }
    set_tight(true);
    world.here = 0;
    submit();
    assert_non_null(find_leaving(world.clients[0]));
    for (unsigned i = 0; i < SERVERS; i++)
        world.moods[i] = REFUSES;
    while ((s = find_leaving(world.clients[0]))) {
        serve_stream(s);
        tell_stream(s);
    }
    serve_all_waits();
    look_at_waiting();
    while (world.nended < world.naccepted)
        run_all();
    close_world();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_ends_once_in_any_order),
        cmocka_unit_test(workers_take_turns),
        cmocka_unit_test(nothing_is_called_within_a_call),
        cmocka_unit_test(a_call_does_not_wait_for_a_connection_that_failed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
