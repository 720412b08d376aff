/* SPDX-License-Identifier: Apache-2.0 */
#define WORLD_SERVERS 5 /* the first is the client's; each worker knows two more at a time */
#include "fake_askers.h"

/* Servers that workers add, and which make room for others: src/data/remote/client.c. */

enum { FIRST, ONE, TWO, NKNOWN };

static void open_few(void)
{
    struct remote_home home = {.run = run_at, .log = say};

    memset(&world, 0, sizeof(world));
    memset(world.last_received, 0xff, sizeof(world.last_received));
    world.now_ms = 1000;
    world.connections = 2; /* order is not compared */
    world.is_ending = world.is_alone = true;
    asked = (struct remote_spec){.protocol = &patient,
                                 .servers = world.servers,
                                 .nservers = 1,
                                 .nmore = NKNOWN - 1,
                                 .connections = 1,
                                 .timeout_ms = TIMEOUT_MS,
                                 .calls_max = 32};
    world.servers[0].place.port = 1;
    assert_int_equal(pthread_mutex_init(&world.servers[0].lock, NULL), 0);
    for (unsigned i = 0; i < WORKERS; i++) {
        world.here = world.workers[i].index = askers[i] = i;
        home.worker = &world.workers[i];
        world.clients[i] = remote_client_new(&asked, &home, &askers[i]);
        assert_non_null(world.clients[i]);
    }
    world.here = 0;
}

static int add(unsigned port)
{
    const struct remote_place place = {.port = port};

    return remote_client_add(world.clients[world.here], &place, NULL);
}

/* The worker that is here sends a call, which is taken. */
static void send_to(unsigned server)
{
    struct remote_client *client = world.clients[world.here];
    const unsigned number = world.ncalls++;
    struct remote_call *call = new_call(number);

    world.begun_ms[number] = world.now_ms;
    world.worker_of[number] = world.here;
    assert_int_equal(remote_client_begin(client, call), 0);
    assert_int_equal(remote_client_send(client, server, call), 0);
    world.is_accepted[number] = true;
    world.naccepted++;
}

static void answer_all(void)
{
    while (world.nended < world.naccepted)
        run_all();
    world.here = 0;
}

static unsigned port_of(unsigned server)
{
    return remote_client_place(world.clients[world.here], server)->port;
}

static void the_one_used_longest_ago_makes_room(void **state)
{
    (void)state;
    open_few();
    assert_int_equal(add(2), ONE);
    assert_int_equal(add(3), TWO);
    send_to(ONE);
    answer_all();
    send_to(TWO);
    answer_all();
    send_to(FIRST); /* it stays, whenever it was used */
    answer_all();
    assert_int_equal(add(4), ONE);
    assert_int_equal(port_of(ONE), 4);
    assert_false(world.upstreams[1].is_alive);
    assert_int_equal(world.upstreams[1].nopen, 0);
    send_to(ONE);
    answer_all();
    assert_int_equal(add(5), TWO);
    assert_int_equal(port_of(TWO), 5);
    assert_int_equal(port_of(FIRST), 1);
    assert_int_equal(remote_client_servers(world.clients[0]), NKNOWN);
    assert_true(world.was_received[3]);
    close_world();
}

static void one_with_calls_under_way_stays(void **state)
{
    (void)state;
    open_few();
    assert_int_equal(add(2), ONE);
    assert_int_equal(add(3), TWO);
    send_to(ONE); /* waits for its connection */
    send_to(TWO);
    assert_int_equal(add(4), -1);
    serve_all_waits(); /* waits for its answer */
    assert_int_equal(add(4), -1);
    world.moods[1] = SILENT;
    for (unsigned i = 0; i < 12; i++) /* its answer is late, and may still come */
        run_all(), world.now_ms += 80;
    world.here = 0;
    assert_int_equal(world.nended, 2);
    assert_int_equal(add(4), TWO);
    assert_int_equal(port_of(ONE), 2);
    close_world();
}

/* A server that cannot be reached any more is one of those that make room, in the middle of a probe too. */
static void one_that_is_probed_makes_room(void **state)
{
    (void)state;
    open_few();
    assert_int_equal(add(2), ONE);
    assert_int_equal(add(3), TWO);
    world.moods[1] = REFUSES;
    send_to(ONE);
    answer_all();
    assert_false(remote_client_alive(world.clients[0]) & 1U << ONE);
    world.moods[1] = UNREACHABLE;
    for (unsigned i = 0; i < 10; i++) /* a probe is on its way */
        run_all();
    send_to(TWO);
    answer_all();
    assert_int_equal(world.clients[0]->pools[ONE].state, REMOTE_POOL_TRIED);
    assert_int_equal(add(4), ONE);
    assert_int_equal(remote_client_alive(world.clients[0]), (1U << NKNOWN) - 1);
    send_to(ONE);
    answer_all();
    assert_int_equal(world.servers[0].nout, 0);
    close_world();
}

static void workers_share_one_until_the_last_forgets_it(void **state)
{
    (void)state;
    open_few();
    assert_int_equal(add(2), ONE);
    world.here = 1;
    assert_int_equal(add(3), ONE);
    assert_int_equal(add(2), TWO);
    world.here = 0;
    assert_int_equal(add(4), TWO);
    assert_int_equal(add(5), ONE); /* neither was used: the first */
    assert_true(world.upstreams[1].is_alive);
    world.here = 1;
    assert_int_equal(port_of(TWO), 2);
    assert_int_equal(add(4), ONE);
    assert_int_equal(add(5), ONE);
    assert_int_equal(port_of(TWO), 2);
    close_world();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_one_used_longest_ago_makes_room),
        cmocka_unit_test(one_with_calls_under_way_stays),
        cmocka_unit_test(one_that_is_probed_makes_room),
        cmocka_unit_test(workers_share_one_until_the_last_forgets_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
