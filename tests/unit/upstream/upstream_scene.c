/* SPDX-License-Identifier: Apache-2.0 */
#include "upstream_scene.h"

#include "core/clock.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/un.h>
#include <unistd.h>

struct scene scene;

/* ---- the backend ---- */

static void listen_unix(void)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};

    (void)snprintf(un.sun_path, sizeof(un.sun_path), "%s/backend", scene.dir);
    (void)snprintf(scene.host, sizeof(scene.host), "unix:%.*s", (int)sizeof(scene.host) - 6,
                   un.sun_path);
    scene.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_true(scene.listener >= 0);
    assert_int_equal(bind(scene.listener, (struct sockaddr *)&un, sizeof(un)), 0);
    assert_int_equal(listen(scene.listener, 4096), 0);
}

unsigned backend_listen_tcp(int backlog)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(in);

    close(scene.listener);
    scene.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_true(scene.listener >= 0);
    assert_int_equal(bind(scene.listener, (struct sockaddr *)&in, sizeof(in)), 0);
    if (backlog >= 0)
        assert_int_equal(listen(scene.listener, backlog), 0);
    assert_int_equal(getsockname(scene.listener, (struct sockaddr *)&in, &len), 0);
    return ntohs(in.sin_port);
}

unsigned backend_accept(void)
{
    int fd;

    while (scene.npeers < PEERS &&
           (fd = accept4(scene.listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0)
        scene.peers[scene.npeers++] = fd;
    return scene.npeers;
}

void backend_close_peers(void)
{
    for (unsigned i = 0; i < scene.npeers; i++) {
        if (scene.peers[i] >= 0)
            close(scene.peers[i]);
    }
    scene.npeers = 0;
}

bool backend_sees_end(unsigned peer)
{
    char byte;

    assert_true(backend_accept() > peer);
    return read(scene.peers[peer], &byte, 1) == 0;
}

void backend_end_peer(unsigned peer)
{
    close(scene.peers[peer]);
    scene.peers[peer] = -1;
}

/* ---- who takes connections ---- */

static void on_stream(struct mk_stream *s, unsigned events, void *arg)
{
    struct taker *t = arg;

    assert_ptr_equal(s, t->s);
    t->told |= events;
}

static void on_taken(void *arg, struct mk_stream *s, bool fresh, int error)
{
    struct taker *t = arg;

    t->calls++;
    t->s = s;
    t->fresh = fresh;
    t->error = error;
    assert_true((s == NULL) == (error < 0));
    if (s)
        mk_stream_tell(s, on_stream, t);
}

void scene_turn(void)
{
    for (int i = 0; i < 4; i++) {
        for (int w = 0; w < WORKERS; w++)
            mk_loop_turn(&scene.workers[w]->loop, 0, NULL, NULL);
    }
}

int taker_ask(struct taker *t, unsigned worker, bool fresh)
{
    *t = (struct taker){.calls = 0};
    return mk_upstream_take(scene.u, scene.workers[worker], fresh, on_taken, t, &t->wait);
}

void taker_take_way(struct taker *t, unsigned worker, bool fresh)
{
    assert_int_equal(taker_ask(t, worker, fresh), 0);
    assert_int_equal(t->calls, 0); /* never inside the call */
    scene_turn();
    assert_int_equal(t->calls, 1);
    assert_int_equal(t->error, 0);
}

void taker_take(struct taker *t, unsigned worker)
{
    taker_take_way(t, worker, false);
}

void taker_give(struct taker *t, bool reusable)
{
    mk_upstream_give(scene.u, t->s, reusable);
    t->s = NULL;
}

void taker_wait(struct taker *t, int ms)
{
    struct mk_clock clock = {0};
    int64_t end_ms;

    mk_clock_update(&clock);
    for (end_ms = clock.mono_ms + ms; t->calls == 0 && clock.mono_ms < end_ms;) {
        scene_turn();
        (void)poll(NULL, 0, 5);
        mk_clock_update(&clock);
    }
}

void scene_assert_load(unsigned open, unsigned idle, unsigned waiting)
{
    unsigned o, i, w;

    mk_upstream_load(scene.u, &o, &i, &w);
    if (o != open || i != idle || w != waiting)
        fail_msg("%u open, %u idle, %u waiting; not %u, %u, %u", o, i, w, open, idle, waiting);
}

/* ---- around each test ---- */

int scene_setup(void **state)
{
    const struct row rows[] = {
        {"SERVER", "Workers", "2", 0},
        {"SERVER", "LogLevel", "error", 0},
        {"HOST", "DocumentRoot", scene.dir, 0},
        {NULL, NULL, NULL, 0},
    };

    (void)state;
    dir_make(scene.dir);
    scene.live = mk_heap_live();
    plan_make(&scene.plan, rows);
    assert_int_equal(scene.plan.error, 0);
    scene.server = mk_server_create(&scene.plan.snapshot, NULL);
    assert_non_null(scene.server);
    for (unsigned i = 0; i < WORKERS; i++)
        scene.workers[i] = mk_server_worker(scene.server, i);
    listen_unix();
    return 0;
}

int scene_teardown(void **state)
{
    (void)state;
    mk_upstream_free(scene.u);
    scene.u = NULL;
    if (scene.server)
        scene_turn();
    mk_server_free(scene.server);
    plan_free(&scene.plan);
    assert_int_equal(mk_heap_live(), scene.live);
    backend_close_peers();
    close(scene.listener);
    dir_remove(scene.dir);
    return 0;
}

void scene_open(struct mk_upstream_options o)
{
    o.size = sizeof(o);
    o.host = o.host ? o.host : scene.host;
    scene.u = mk_upstream_new(scene.server, &o);
    assert_non_null(scene.u);
}
