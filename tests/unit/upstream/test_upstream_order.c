/* SPDX-License-Identifier: Apache-2.0 */
#include "upstream_scene.h"

#include <poll.h>
#include <unistd.h>

/* ---- any order, with connections ---- */

enum { SCHEDULES = 200, STEPS = 50, TAKERS = 6 };

static unsigned any(unsigned *seed, unsigned below)
{
    *seed = *seed * 1103515245U + 12345U;
    return (*seed >> 16) % below;
}

static void step(struct taker *t, unsigned *seed)
{
    if (t->s) {
        taker_give(t, any(seed, 3) > 0);
        *t = (struct taker){.calls = 0};
    } else if (t->wait && t->calls == 0) {
        if (any(seed, 3) == 0) {
            mk_upstream_cancel(t->wait);
            *t = (struct taker){.calls = 0};
        }
    } else {
        (void)!taker_ask(t, any(seed, WORKERS), any(seed, 4) == 0);
    }
}

static void disturb(unsigned *seed)
{
    unsigned peer;

    if (backend_accept() == 0)
        return;
    peer = any(seed, scene.npeers);
    if (scene.peers[peer] >= 0)
        backend_end_peer(peer);
}

static void no_permit_is_lost_in_any_order(void **state)
{
    (void)state;
    for (unsigned schedule = 0; schedule < SCHEDULES; schedule++) {
        unsigned seed = schedule, max_idle = any(&seed, 3), max = 1 + any(&seed, 3);
        unsigned max_waiting = any(&seed, 5), open, idle, waiting;
        struct taker t[TAKERS] = {{.calls = 0}};

        scene_open((struct mk_upstream_options){
            .max_idle = max_idle, .max_connections = max, .max_waiting = max_waiting});
        for (int i = 0; i < STEPS; i++) {
            step(&t[any(&seed, TAKERS)], &seed);
            if (any(&seed, 3) == 0)
                mk_loop_turn(&scene.workers[any(&seed, WORKERS)]->loop, 0, NULL, NULL);
            if (any(&seed, 20) == 0)
                disturb(&seed);
        }
        scene_turn();
        for (int i = 0; i < TAKERS; i++) {
            if (t[i].s)
                taker_give(&t[i], true);
            else if (t[i].wait && t[i].calls == 0)
                mk_upstream_cancel(t[i].wait);
            scene_turn();
        }
        mk_upstream_load(scene.u, &open, &idle, &waiting);
        if (open != idle || waiting != 0)
            fail_msg("schedule %u: %u open, %u idle, %u waiting", schedule, open, idle, waiting);
        mk_upstream_free(scene.u);
        scene_turn();
        (void)backend_accept();
        backend_close_peers();
    }
    scene.u = NULL;
}

/* ---- workers of their own ---- */

enum { ROUNDS = 1000, RUNNERS = 4 };

/** Takes and gives in turn, on one worker. */
static struct runner {
    struct mk_worker *w;
    struct mk_upstream_wait *wait;
    unsigned rounds, answered;
} runners[RUNNERS];
static atomic_uint finished, holders;

static void run(struct mk_worker *w, void *arg);

static void on_run(void *arg, struct mk_stream *s, bool fresh, int error)
{
    struct runner *r = arg;

    (void)fresh;
    r->answered++;
    assert_true(error == 0 || error == MK_E_BUSY); /* a backend that accepts too slowly */
    if (s) {
        assert_true(atomic_fetch_add(&holders, 1) < 2);
        atomic_fetch_sub(&holders, 1);
        mk_upstream_give(scene.u, s, r->rounds % 3 > 0);
    }
    assert_int_equal(mk_worker_post(r->w, run, r), 0);
}

static void run(struct mk_worker *w, void *arg)
{
    struct runner *r = arg;

    for (;;) {
        if (++r->rounds > ROUNDS) {
            atomic_fetch_add(&finished, 1);
            return;
        }
        if (mk_upstream_take(scene.u, w, r->rounds % 5 == 0, on_run, r, &r->wait) < 0)
            continue;
        if (r->rounds % 4 > 0)
            return;
        mk_upstream_cancel(r->wait);
    }
}

static void *serve(void *arg)
{
    struct pollfd p = {.fd = scene.listener, .events = POLLIN};

    (void)arg;
    while (atomic_load(&finished) < RUNNERS) {
        (void)poll(&p, 1, scene.npeers > 0 ? 0 : 10);
        (void)backend_accept();
        for (unsigned i = 0; i < scene.npeers;) {
            if (backend_sees_end(i)) {
                close(scene.peers[i]);
                scene.peers[i] = scene.peers[--scene.npeers];
            } else {
                i++;
            }
        }
    }
    return NULL;
}

static void workers_share_a_backend(void **state)
{
    pthread_t backend;

    (void)state;
    atomic_store(&finished, 0);
    scene_open(
        (struct mk_upstream_options){.max_idle = 2, .max_connections = 2, .max_waiting = RUNNERS});
    assert_int_equal(mk_server_start(scene.server), 0);
    assert_int_equal(pthread_create(&backend, NULL, serve, NULL), 0);
    for (unsigned i = 0; i < RUNNERS; i++) {
        runners[i] = (struct runner){.w = scene.workers[i % WORKERS]};
        assert_int_equal(mk_worker_post(runners[i].w, run, &runners[i]), 0);
    }
    pthread_join(backend, NULL);
    for (unsigned i = 0; i < RUNNERS; i++)
        assert_int_equal(runners[i].answered, ROUNDS - ROUNDS / 4);
    mk_server_stop(scene.server, 0); /* idle connections end with their workers */
    assert_int_equal(mk_server_wait(scene.server, -1), 0);
    mk_upstream_free(scene.u);
    scene.u = NULL;
    mk_server_free(scene.server);
    scene.server = NULL;
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, scene_setup, scene_teardown)
    const struct CMUnitTest tests[] = {
        TEST(no_permit_is_lost_in_any_order),
        TEST(workers_share_a_backend),
    };
#undef TEST

    return cmocka_run_group_tests(tests, NULL, NULL);
}
