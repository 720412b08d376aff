/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "core/clock.h"
#include "server/upstream_int.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/un.h>
#include <unistd.h>

/* Connections to a backend of the test, from workers whose loops are turned by hand. */

enum { WORKERS = 2, PEERS = 64 };

static struct {
    struct plan plan;
    char dir[32], host[64];
    struct mk_server *server;
    struct mk_worker *workers[WORKERS];
    struct mk_upstream *u;
    int listener, peers[PEERS];
    unsigned npeers;
    long live;
} all;

/* ---- the backend ---- */

static void listen_unix(void)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};

    (void)snprintf(un.sun_path, sizeof(un.sun_path), "%s/backend", all.dir);
    (void)snprintf(all.host, sizeof(all.host), "unix:%.*s", (int)sizeof(all.host) - 6, un.sun_path);
    all.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_true(all.listener >= 0);
    assert_int_equal(bind(all.listener, (struct sockaddr *)&un, sizeof(un)), 0);
    assert_int_equal(listen(all.listener, 4096), 0);
}

static unsigned listen_tcp(int backlog)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(in);

    close(all.listener);
    all.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_true(all.listener >= 0);
    assert_int_equal(bind(all.listener, (struct sockaddr *)&in, sizeof(in)), 0);
    if (backlog >= 0)
        assert_int_equal(listen(all.listener, backlog), 0);
    assert_int_equal(getsockname(all.listener, (struct sockaddr *)&in, &len), 0);
    return ntohs(in.sin_port);
}

/* @return how many connections the backend has seen in all. */
static unsigned accept_all(void)
{
    int fd;

    while (all.npeers < PEERS &&
           (fd = accept4(all.listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0)
        all.peers[all.npeers++] = fd;
    return all.npeers;
}

static void close_peers(void)
{
    for (unsigned i = 0; i < all.npeers; i++) {
        if (all.peers[i] >= 0)
            close(all.peers[i]);
    }
    all.npeers = 0;
}

static bool is_closed(unsigned peer)
{
    char byte;

    assert_true(accept_all() > peer);
    return read(all.peers[peer], &byte, 1) == 0;
}

static void end_peer(unsigned peer)
{
    close(all.peers[peer]);
    all.peers[peer] = -1;
}

/* ---- who takes connections ---- */

struct taker {
    struct mk_upstream_wait *wait;
    struct mk_stream *s;
    unsigned calls, told;
    int error;
    bool fresh;
};

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

static void turn(void)
{
    for (int i = 0; i < 4; i++) {
        for (int w = 0; w < WORKERS; w++)
            mk_loop_turn(&all.workers[w]->loop, 0, NULL, NULL);
    }
}

static int ask(struct taker *t, unsigned worker, bool fresh)
{
    *t = (struct taker){.calls = 0};
    return mk_upstream_take(all.u, all.workers[worker], fresh, on_taken, t, &t->wait);
}

/* Ask, and be answered. */
static void take_way(struct taker *t, unsigned worker, bool fresh)
{
    assert_int_equal(ask(t, worker, fresh), 0);
    assert_int_equal(t->calls, 0); /* never inside the call */
    turn();
    assert_int_equal(t->calls, 1);
    assert_int_equal(t->error, 0);
}

static void take(struct taker *t, unsigned worker)
{
    take_way(t, worker, false);
}

static void give(struct taker *t, bool reusable)
{
    mk_upstream_give(all.u, t->s, reusable);
    t->s = NULL;
}

/* Turn until it was answered, at most so long. */
static void wait_for(struct taker *t, int ms)
{
    struct mk_clock clock = {0};
    int64_t end_ms;

    mk_clock_update(&clock);
    for (end_ms = clock.mono_ms + ms; t->calls == 0 && clock.mono_ms < end_ms;) {
        turn();
        (void)poll(NULL, 0, 5);
        mk_clock_update(&clock);
    }
}

static void assert_load(unsigned open, unsigned idle, unsigned waiting)
{
    unsigned o, i, w;

    mk_upstream_load(all.u, &o, &i, &w);
    if (o != open || i != idle || w != waiting)
        fail_msg("%u open, %u idle, %u waiting; not %u, %u, %u", o, i, w, open, idle, waiting);
}

/* ---- around each test ---- */

static int setup(void **state)
{
    const struct row rows[] = {
        {"SERVER", "Workers", "2", 0},
        {"SERVER", "LogLevel", "error", 0},
        {"HOST", "DocumentRoot", all.dir, 0},
        {NULL, NULL, NULL, 0},
    };

    (void)state;
    dir_make(all.dir);
    all.live = mk_heap_live();
    plan_make(&all.plan, rows);
    assert_int_equal(all.plan.error, 0);
    all.server = mk_server_create(&all.plan.snapshot, NULL);
    assert_non_null(all.server);
    for (unsigned i = 0; i < WORKERS; i++)
        all.workers[i] = mk_server_worker(all.server, i);
    listen_unix();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    mk_upstream_free(all.u);
    all.u = NULL;
    if (all.server)
        turn();
    mk_server_free(all.server);
    plan_free(&all.plan);
    assert_int_equal(mk_heap_live(), all.live);
    close_peers();
    close(all.listener);
    dir_remove(all.dir);
    return 0;
}

static void open_upstream(struct mk_upstream_options o)
{
    o.size = sizeof(o);
    o.host = o.host ? o.host : all.host;
    all.u = mk_upstream_new(all.server, &o);
    assert_non_null(all.u);
}

/* ---- keeping ---- */

static void a_new_connection_says_so(void **state)
{
    struct taker t;

    (void)state;
    open_upstream((struct mk_upstream_options){.max_idle = 4});
    take(&t, 0);
    assert_true(t.fresh);
    assert_int_equal(accept_all(), 1);
    turn();
    assert_int_equal(t.told, MK_IO_READ | MK_IO_WRITE);
    assert_load(1, 0, 0);
    give(&t, true);
    assert_load(1, 1, 0);
}

static void the_one_used_last_comes_first(void **state)
{
    struct taker t[3];
    struct mk_stream *first, *second;

    (void)state;
    open_upstream((struct mk_upstream_options){.max_idle = 4});
    take(&t[0], 0);
    take(&t[1], 0);
    first = t[0].s;
    second = t[1].s;
    give(&t[0], true);
    give(&t[1], true);
    take(&t[0], 0);
    assert_ptr_equal(t[0].s, second);
    assert_false(t[0].fresh);
    turn();
    assert_int_equal(t[0].told, MK_IO_READ | MK_IO_WRITE);
    take(&t[1], 0);
    assert_ptr_equal(t[1].s, first);
    take(&t[2], 0);
    assert_true(t[2].fresh);
    assert_int_equal(accept_all(), 3);
    for (int i = 0; i < 3; i++)
        give(&t[i], true);
}

static void a_retry_gets_a_new_one(void **state)
{
    struct taker a, b;

    (void)state;
    open_upstream((struct mk_upstream_options){.max_idle = 4});
    take(&a, 0);
    give(&a, true);
    take_way(&b, 0, true);
    assert_true(b.fresh);
    assert_load(2, 1, 0);
    give(&b, false);
    assert_load(1, 1, 0);
}

static void workers_keep_their_own(void **state)
{
    struct taker a, b;

    (void)state;
    open_upstream((struct mk_upstream_options){.max_idle = 4});
    take(&a, 0);
    give(&a, true);
    take(&b, 1);
    assert_true(b.fresh);
    give(&b, true);
    assert_load(2, 2, 0);
}

static void give_when_told(struct mk_stream *s, unsigned events, void *arg)
{
    struct taker *t = arg;
    char answer[8];

    t->told |= events;
    if (mk_stream_read(s, answer, sizeof(answer)) == 2)
        give(t, t->fresh);
}

/* As receivers do: an answer ends inside an event, and with it the use of the connection. */
static void it_is_given_back_inside_an_event(void **state)
{
    struct taker t;

    (void)state;
    open_upstream((struct mk_upstream_options){.max_idle = 4});
    for (int i = 0; i < 2; i++) { /* kept the first time, closed the second */
        take(&t, 0);
        mk_stream_tell(t.s, give_when_told, &t);
        assert_int_equal(accept_all(), 1);
        assert_int_equal(write(all.peers[0], "OK", 2), 2);
        turn();
        assert_null(t.s);
        assert_load(t.fresh, t.fresh, 0);
    }
    assert_true(is_closed(0));
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

        open_upstream((struct mk_upstream_options){.max_idle = rows[i].max_idle,
                                                   .max_uses = rows[i].max_uses});
        take(&t, 0);
        assert_int_equal(accept_all(), 1);
        if (rows[i].unread)
            assert_int_equal(write(all.peers[0], "x", 1), 1);
        if (rows[i].ended)
            assert_int_equal(shutdown(all.peers[0], SHUT_WR), 0);
        turn();
        give(&t, !rows[i].not_reusable);
        print_message("%s\n", rows[i].sentence);
        assert_load(0, 0, 0);
        close_peers();
        mk_upstream_free(all.u);
        all.u = NULL;
    }
}

static void it_is_used_so_often(void **state)
{
    struct taker t;

    (void)state;
    open_upstream((struct mk_upstream_options){.max_idle = 4, .max_uses = 3});
    for (unsigned i = 0; i < 9; i++) {
        take(&t, 0);
        assert_int_equal(t.fresh, i % 3 == 0);
        give(&t, true);
    }
    assert_int_equal(accept_all(), 3);
    assert_true(is_closed(0) && is_closed(1) && is_closed(2));
}

static void the_surplus_is_closed(void **state)
{
    struct taker a, b;

    (void)state;
    open_upstream((struct mk_upstream_options){.max_idle = 1});
    take(&a, 0);
    take(&b, 0);
    give(&a, true);
    give(&b, true);
    assert_load(1, 1, 0);
    assert_false(is_closed(0));
    assert_true(is_closed(1));
}

static void idle_ones_that_the_backend_ends_are_dropped(void **state)
{
    struct taker a, b;

    (void)state;
    open_upstream((struct mk_upstream_options){.max_idle = 4});
    take(&a, 0);
    take(&b, 0);
    give(&a, true);
    give(&b, true);
    assert_int_equal(accept_all(), 2);
    end_peer(0);
    turn();
    assert_load(1, 1, 0);
    assert_int_equal(write(all.peers[1], "HTTP/1.1 408", 12), 12);
    turn();
    assert_load(0, 0, 0);
    take(&a, 0);
    assert_true(a.fresh);
    give(&a, false);
}

static void idle_ones_grow_old(void **state)
{
    struct taker t;

    (void)state;
    open_upstream((struct mk_upstream_options){.max_idle = 4, .idle_ms = 100});
    take(&t, 0);
    wait_for(&(struct taker){.calls = 0}, 300); /* in use it does not */
    give(&t, true);
    assert_load(1, 1, 0);
    wait_for(&(struct taker){.calls = 0}, 400);
    assert_load(0, 0, 0);
    assert_true(is_closed(0));
}

static void one_that_breaks_before_it_is_told_is_replaced(void **state)
{
    struct taker t;

    (void)state;
    open_upstream((struct mk_upstream_options){.max_idle = 4, .max_connections = 1});
    take(&t, 0);
    give(&t, true);
    assert_int_equal(accept_all(), 1);
    assert_int_equal(ask(&t, 0, false), 0);
    end_peer(0);
    turn();
    assert_int_equal(t.calls, 1);
    assert_true(t.s && t.fresh);
    assert_load(1, 0, 0);
    give(&t, true);
}

/* ---- waiting ---- */

static void who_waited_longest_comes_first(void **state)
{
    struct taker t[4];
    struct mk_stream *first;

    (void)state;
    open_upstream(
        (struct mk_upstream_options){.max_idle = 4, .max_connections = 1, .max_waiting = 3});
    take(&t[0], 0);
    first = t[0].s;
    for (unsigned i = 1; i < 4; i++)
        assert_int_equal(ask(&t[i], i == 2, false),
                         0); /* the one in the middle on the other worker */
    turn();
    assert_load(1, 0, 3);
    assert_int_equal(t[1].calls + t[2].calls + t[3].calls, 0);
    give(&t[0], true);
    turn();
    assert_ptr_equal(t[1].s, first); /* the very connection */
    assert_false(t[1].fresh);
    assert_int_equal(t[2].calls, 0);
    give(&t[1], true);
    turn();
    assert_true(t[2].s && t[2].fresh);
    assert_int_equal(t[3].calls, 0);
    assert_true(is_closed(0));
    give(&t[2], false);
    turn();
    assert_true(t[3].s && t[3].fresh);
    give(&t[3], true);
    assert_load(1, 1, 0);
}

static void too_many_may_not_wait(void **state)
{
    struct taker a, b, c;

    (void)state;
    open_upstream(
        (struct mk_upstream_options){.max_idle = 4, .max_connections = 1, .max_waiting = 1});
    take(&a, 0);
    assert_int_equal(ask(&b, 0, false), 0);
    assert_int_equal(ask(&c, 1, false), MK_E_BUSY);
    assert_null(c.wait);
    mk_upstream_cancel(b.wait);
    assert_load(1, 0, 0);
    give(&a, true);
}

static void an_idle_one_elsewhere_is_given_up(void **state)
{
    struct taker a, b;

    (void)state;
    open_upstream((struct mk_upstream_options){.max_idle = 4, .max_connections = 1});
    take(&a, 0);
    give(&a, true);
    take(&b, 1);
    assert_true(b.fresh);
    assert_true(is_closed(0));
    assert_load(1, 0, 0);
    give(&b, true);
    take_way(&a, 1, true); /* and one's own, for a new one */
    assert_true(a.fresh);
    give(&a, true);
    assert_load(1, 1, 0);
}

static void waiting_ends_in_time(void **state)
{
    struct taker a, b;

    (void)state;
    open_upstream((struct mk_upstream_options){
        .max_idle = 4, .max_connections = 1, .max_waiting = 1, .queue_ms = 100});
    take(&a, 0);
    assert_int_equal(ask(&b, 1, false), 0);
    wait_for(&b, 2000);
    assert_int_equal(b.calls, 1);
    assert_int_equal(b.error, MK_E_BUSY);
    assert_load(1, 0, 0);
    give(&a, true);
    assert_load(1, 1, 0);
}

/* ---- cancelling ---- */

static void cancelling_loses_no_permit(void **state)
{
    struct taker a, b;

    (void)state;
    open_upstream(
        (struct mk_upstream_options){.max_idle = 4, .max_connections = 1, .max_waiting = 2});
    assert_int_equal(ask(&a, 0, false), 0); /* before anything was begun */
    mk_upstream_cancel(a.wait);
    turn();
    assert_load(0, 0, 0);

    take(&a, 0);
    assert_int_equal(ask(&b, 1, false), 0); /* in the queue */
    mk_upstream_cancel(b.wait);
    assert_load(1, 0, 0);

    assert_int_equal(ask(&b, 1, false), 0); /* a permit is on its way */
    give(&a, true);
    assert_load(1, 0, 0);
    mk_upstream_cancel(b.wait);
    turn();
    assert_load(0, 0, 0);

    take(&a, 0);
    assert_int_equal(ask(&b, 0, false), 0); /* a connection is */
    give(&a, true);
    mk_upstream_cancel(b.wait);
    turn();
    assert_load(1, 1, 0);

    assert_int_equal(ask(&a, 0, false), 0); /* the idle one is */
    assert_load(1, 0, 0);
    mk_upstream_cancel(a.wait);
    turn();
    assert_load(1, 1, 0);
    assert_int_equal(a.calls + b.calls, 0);
}

/* ---- connecting ---- */

/* A listener whose queue is full lets others wait. */
static unsigned full_listener(int fillers[3])
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    in.sin_port = htons((uint16_t)listen_tcp(0));
    for (int i = 0; i < 3; i++) {
        fillers[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        (void)!connect(fillers[i], (struct sockaddr *)&in, sizeof(in));
        (void)poll(NULL, 0, 10);
    }
    return ntohs(in.sin_port);
}

static void connecting_ends_in_time(void **state)
{
    struct taker a, b;
    int fillers[3];
    unsigned port = full_listener(fillers);

    (void)state;
    open_upstream((struct mk_upstream_options){.host = "127.0.0.1",
                                               .port = port,
                                               .max_connections = 1,
                                               .max_waiting = 1,
                                               .connect_ms = 100});
    assert_int_equal(ask(&a, 0, false), 0);
    turn();
    assert_int_equal(a.calls, 0);
    assert_int_equal(ask(&b, 1, false), 0);
    wait_for(&a, 2000);
    assert_int_equal(a.error, MK_E_TIMEOUT);
    wait_for(&b, 2000);
    assert_int_equal(b.error, MK_E_TIMEOUT);
    assert_load(0, 0, 0);

    assert_int_equal(ask(&a, 0, false), 0);
    turn();
    assert_load(1, 0, 0);
    mk_upstream_cancel(a.wait); /* while it is dialled */
    assert_load(0, 0, 0);
    for (int i = 0; i < 3; i++)
        close(fillers[i]);
}

/* Connections to the backend's socket until its queue takes no more. */
static unsigned fill_queue(int fillers[8])
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    unsigned n = 0;

    (void)snprintf(un.sun_path, sizeof(un.sun_path), "%s/backend", all.dir);
    assert_int_equal(listen(all.listener, 1), 0);
    while (n < 8) {
        fillers[n] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (connect(fillers[n++], (struct sockaddr *)&un, sizeof(un)) < 0)
            return n;
    }
    fail_msg("the queue is never full");
    return n;
}

/* A Unix socket refuses at once and tells nobody when there is room. */
static void a_full_queue_is_waited_for(void **state)
{
    struct taker a, b, c;
    int fillers[8];
    unsigned n;

    (void)state;
    open_upstream((struct mk_upstream_options){.max_connections = 3, .connect_ms = 1000});
    n = fill_queue(fillers);
    assert_int_equal(ask(&a, 0, false), 0);
    assert_int_equal(ask(&b, 1, false), 0);
    turn();
    assert_int_equal(a.calls + b.calls, 0);
    mk_upstream_cancel(b.wait);
    assert_load(1, 0, 0);
    (void)accept_all();
    wait_for(&a, 2000);
    assert_int_equal(a.error, 0);
    give(&a, false);

    close_peers();
    for (unsigned i = 0; i < n; i++)
        close(fillers[i]);
    (void)accept_all();
    n = fill_queue(fillers);
    assert_int_equal(ask(&c, 0, false), 0);
    wait_for(&c, 3000);
    assert_int_equal(c.error, MK_E_TIMEOUT);
    assert_load(0, 0, 0);
    for (unsigned i = 0; i < n; i++)
        close(fillers[i]);
}

static void failures_are_told(void **state)
{
    const struct {
        const char *sentence;
        struct mk_upstream_options options;
        int error;
    } rows[] = {
        {"nobody listens", {.host = "127.0.0.1", .port = listen_tcp(-1)}, MK_E_PEER},
        {"no such socket", {.host = "unix:/tmp/there-is-none"}, MK_E_PEER},
        {"a path that is none", {.host = "unix:"}, MK_E_NOENT},
        {"no such transport",
         {.host = "127.0.0.1", .port = 1, .transport = "none"},
         MK_E_UNSUPPORTED},
    };

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        struct mk_upstream_options o = rows[i].options;
        struct taker a, b;

        o.max_connections = 1;
        o.max_waiting = 1;
        open_upstream(o);
        assert_int_equal(ask(&a, 0, false), 0);
        assert_int_equal(ask(&b, 1, false), 0);
        wait_for(&a, 2000);
        wait_for(&b, 2000);
        if (a.error != rows[i].error || b.error != rows[i].error)
            fail_msg("%s: %d, %d", rows[i].sentence, a.error, b.error);
        assert_load(0, 0, 0);
        mk_upstream_free(all.u);
        all.u = NULL;
    }
}

/* ---- names ---- */

/* Made here: "none" is no name, another has two addresses. "silent" has them the other way round. */
static sem_t may_look;

static int fake_lookup(const char *host, union mk_host_address addresses[MK_RESOLVE_ADDRESSES])
{
    (void)sem_wait(&may_look);
    if (strcmp(host, "none") == 0)
        return MK_E_NOENT;
    for (uint32_t i = 0; i < 2; i++)
        addresses[strcmp(host, "silent") == 0 ? 1 - i : i] = (union mk_host_address){
            .in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 - i)}};
    return 2;
}

static void open_named(const char *name, unsigned lookups, unsigned connect_ms)
{
    all.server->resolver.lookup = fake_lookup;
    sem_init(&may_look, 0, lookups);
    open_upstream((struct mk_upstream_options){.host = name,
                                               .port = listen_tcp(8),
                                               .max_connections = 1,
                                               .max_waiting = 1,
                                               .connect_ms = connect_ms});
}

static void every_address_is_tried(void **state)
{
    struct taker t;

    (void)state;
    open_named("backend", 1, 0);
    assert_int_equal(ask(&t, 0, false), 0);
    wait_for(&t, 2000);
    assert_true(t.s && t.fresh);
    assert_int_equal(accept_all(), 1);
    give(&t, true);
}

/* One that says nothing costs a share of the time, and only once. */
static void an_address_that_is_silent_is_passed_over(void **state)
{
    struct taker t;
    int fillers[3], other;
    unsigned port = full_listener(fillers);
    struct sockaddr_in in = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1),
                             .sin_port = htons((uint16_t)port)};

    (void)state;
    other = all.listener; /* the silent one */
    all.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(all.listener, (struct sockaddr *)&in, sizeof(in)), 0);
    assert_int_equal(listen(all.listener, 8), 0);
    all.server->resolver.lookup = fake_lookup;
    sem_init(&may_look, 0, 1);
    open_upstream((struct mk_upstream_options){
        .host = "silent", .port = port, .max_connections = 1, .connect_ms = 1000});
    assert_int_equal(ask(&t, 0, false), 0);
    wait_for(&t, 900);
    assert_int_equal(t.error, 0);
    assert_true(t.s && t.fresh);
    give(&t, false);
    assert_int_equal(ask(&t, 0, false), 0); /* it is known which one answers */
    wait_for(&t, 300);
    assert_true(t.s && t.fresh);
    give(&t, false);
    close(other);
    for (int i = 0; i < 3; i++)
        close(fillers[i]);
}

static void no_such_name_is_told(void **state)
{
    struct taker t;

    (void)state;
    open_named("none", 1, 0);
    assert_int_equal(ask(&t, 0, false), 0);
    wait_for(&t, 2000);
    assert_int_equal(t.error, MK_E_NOENT);
    assert_load(0, 0, 0);
}

/* A look-up goes on when nobody waits for it any more, and its answer finds nobody. */
static void a_look_up_outlives_who_asked(void **state)
{
    struct taker a, b;

    (void)state;
    open_named("backend", 0, 100);
    assert_int_equal(ask(&a, 0, false), 0);
    turn();
    assert_load(1, 0, 0);
    mk_upstream_cancel(a.wait);
    assert_load(0, 0, 0);
    assert_int_equal(ask(&b, 1, false), 0);
    wait_for(&b, 2000);
    assert_int_equal(b.error, MK_E_TIMEOUT);
    assert_load(0, 0, 0);
    sem_post(&may_look);
    wait_for(&(struct taker){.calls = 0}, 100);
    assert_int_equal(a.calls, 0);
    assert_int_equal(b.calls, 1);
    take(&a, 0); /* known now */
    give(&a, true);
}

static void the_server_ends_while_a_name_is_looked_up(void **state)
{
    struct taker t;

    (void)state;
    open_named("backend", 0, 0);
    assert_int_equal(ask(&t, 0, false), 0);
    turn();
    mk_upstream_free(all.u);
    all.u = NULL;
    sem_post(&may_look); /* waited for, and told on a worker that dials no more */
    mk_server_free(all.server);
    all.server = NULL;
    assert_int_equal(t.calls, 1);
    assert_true(t.error < 0);
}

/* ---- the end ---- */

static void a_freed_one_lives_until_all_is_given_back(void **state)
{
    struct taker t[3];

    (void)state;
    open_upstream(
        (struct mk_upstream_options){.max_idle = 4, .max_connections = 3, .max_waiting = 1});
    take(&t[0], 0);
    take(&t[1], 1);
    take(&t[2], 1);
    give(&t[1], true);
    mk_upstream_free(all.u);
    turn();
    assert_false(is_closed(0));
    assert_true(is_closed(1));
    give(&t[0], true);
    assert_true(is_closed(0));
    give(&t[2], true); /* and that was the last of it */
    all.u = NULL;
}

static void who_waits_for_a_freed_one_is_served(void **state)
{
    struct taker a, b;

    (void)state;
    open_upstream(
        (struct mk_upstream_options){.max_idle = 4, .max_connections = 1, .max_waiting = 1});
    take(&a, 0);
    assert_int_equal(ask(&b, 1, false), 0);
    mk_upstream_free(all.u);
    give(&a, true);
    turn();
    assert_true(b.s && b.fresh);
    give(&b, true);
    all.u = NULL;
}

static void survives_without_memory(void **state)
{
    (void)state;
    for (long n = 0, done = 0; !done; n++) {
        struct mk_upstream_options o = {
            .size = sizeof(o), .host = all.host, .name = "a", .transport = "liana", .max_idle = 1};

        mk_heap_fail_after(n);
        all.u = mk_upstream_new(all.server, &o);
        mk_heap_fail_after(-1);
        done = all.u != NULL;
    }
    for (long n = 0, done = 0; !done; n++) {
        struct taker t;
        int err;

        mk_heap_fail_after(n);
        err = ask(&t, 0, true);
        turn();
        mk_heap_fail_after(-1);
        assert_true(err == MK_E_NOMEM || (err == 0 && t.calls == 1));
        if (err == 0 && t.error)
            assert_int_equal(t.error, MK_E_NOMEM);
        done = t.s != NULL;
        if (done)
            give(&t, true);
    }
    assert_load(1, 1, 0);
}

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
        give(t, any(seed, 3) > 0);
        *t = (struct taker){.calls = 0};
    } else if (t->wait && t->calls == 0) {
        if (any(seed, 3) == 0) {
            mk_upstream_cancel(t->wait);
            *t = (struct taker){.calls = 0};
        }
    } else {
        (void)!ask(t, any(seed, WORKERS), any(seed, 4) == 0);
    }
}

static void disturb(unsigned *seed)
{
    unsigned peer;

    if (accept_all() == 0)
        return;
    peer = any(seed, all.npeers);
    if (all.peers[peer] >= 0)
        end_peer(peer);
}

static void no_permit_is_lost_in_any_order(void **state)
{
    (void)state;
    for (unsigned schedule = 0; schedule < SCHEDULES; schedule++) {
        unsigned seed = schedule, max_idle = any(&seed, 3), max = 1 + any(&seed, 3);
        unsigned max_waiting = any(&seed, 5), open, idle, waiting;
        struct taker t[TAKERS] = {{.calls = 0}};

        open_upstream((struct mk_upstream_options){
            .max_idle = max_idle, .max_connections = max, .max_waiting = max_waiting});
        for (int i = 0; i < STEPS; i++) {
            step(&t[any(&seed, TAKERS)], &seed);
            if (any(&seed, 3) == 0)
                mk_loop_turn(&all.workers[any(&seed, WORKERS)]->loop, 0, NULL, NULL);
            if (any(&seed, 20) == 0)
                disturb(&seed);
        }
        turn();
        for (int i = 0; i < TAKERS; i++) {
            if (t[i].s)
                give(&t[i], true);
            else if (t[i].wait && t[i].calls == 0)
                mk_upstream_cancel(t[i].wait);
            turn();
        }
        mk_upstream_load(all.u, &open, &idle, &waiting);
        if (open != idle || waiting != 0)
            fail_msg("schedule %u: %u open, %u idle, %u waiting", schedule, open, idle, waiting);
        mk_upstream_free(all.u);
        turn();
        (void)accept_all();
        close_peers();
    }
    all.u = NULL;
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
        mk_upstream_give(all.u, s, r->rounds % 3 > 0);
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
        if (mk_upstream_take(all.u, w, r->rounds % 5 == 0, on_run, r, &r->wait) < 0)
            continue;
        if (r->rounds % 4 > 0)
            return;
        mk_upstream_cancel(r->wait);
    }
}

static void *serve(void *arg)
{
    struct pollfd p = {.fd = all.listener, .events = POLLIN};

    (void)arg;
    while (atomic_load(&finished) < RUNNERS) {
        (void)poll(&p, 1, all.npeers > 0 ? 0 : 10);
        (void)accept_all();
        for (unsigned i = 0; i < all.npeers;) {
            if (is_closed(i)) {
                close(all.peers[i]);
                all.peers[i] = all.peers[--all.npeers];
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
    open_upstream(
        (struct mk_upstream_options){.max_idle = 2, .max_connections = 2, .max_waiting = RUNNERS});
    assert_int_equal(mk_server_start(all.server), 0);
    assert_int_equal(pthread_create(&backend, NULL, serve, NULL), 0);
    for (unsigned i = 0; i < RUNNERS; i++) {
        runners[i] = (struct runner){.w = all.workers[i % WORKERS]};
        assert_int_equal(mk_worker_post(runners[i].w, run, &runners[i]), 0);
    }
    pthread_join(backend, NULL);
    for (unsigned i = 0; i < RUNNERS; i++)
        assert_int_equal(runners[i].answered, ROUNDS - ROUNDS / 4);
    mk_server_stop(all.server, 0); /* idle connections end with their workers */
    assert_int_equal(mk_server_wait(all.server, -1), 0);
    mk_upstream_free(all.u);
    all.u = NULL;
    mk_server_free(all.server);
    all.server = NULL;
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_new_connection_says_so),
        TEST(the_one_used_last_comes_first),
        TEST(a_retry_gets_a_new_one),
        TEST(workers_keep_their_own),
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
        TEST(connecting_ends_in_time),
        TEST(a_full_queue_is_waited_for),
        TEST(failures_are_told),
        TEST(every_address_is_tried),
        TEST(an_address_that_is_silent_is_passed_over),
        TEST(no_such_name_is_told),
        TEST(a_look_up_outlives_who_asked),
        TEST(the_server_ends_while_a_name_is_looked_up),
        TEST(a_freed_one_lives_until_all_is_given_back),
        TEST(who_waits_for_a_freed_one_is_served),
        TEST(survives_without_memory),
        TEST(no_permit_is_lost_in_any_order),
        TEST(workers_share_a_backend),
    };
#undef TEST

    return cmocka_run_group_tests(tests, NULL, NULL);
}
