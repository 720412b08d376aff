/* SPDX-License-Identifier: Apache-2.0 */
#include "upstream_scene.h"

#include "upstream/resolve.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* ---- connecting ---- */

/* A listener whose queue is full lets others wait. */
static unsigned full_listener(int fillers[3])
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    in.sin_port = htons((uint16_t)backend_listen_tcp(0));
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
    scene_open((struct mk_upstream_options){.host = "127.0.0.1",
                                            .port = port,
                                            .max_connections = 1,
                                            .max_waiting = 1,
                                            .connect_ms = 100});
    assert_int_equal(taker_ask(&a, 0, false), 0);
    scene_turn();
    assert_int_equal(a.calls, 0);
    assert_int_equal(taker_ask(&b, 1, false), 0);
    taker_wait(&a, 2000);
    assert_int_equal(a.error, MK_E_TIMEOUT);
    taker_wait(&b, 2000);
    assert_int_equal(b.error, MK_E_TIMEOUT);
    scene_assert_load(0, 0, 0);

    assert_int_equal(taker_ask(&a, 0, false), 0);
    scene_turn();
    scene_assert_load(1, 0, 0);
    mk_upstream_cancel(a.wait); /* while it is dialled */
    scene_assert_load(0, 0, 0);
    for (int i = 0; i < 3; i++)
        close(fillers[i]);
}

/* Connections to the backend's socket until its queue takes no more. */
static unsigned fill_queue(int fillers[8])
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    unsigned n = 0;

    (void)snprintf(un.sun_path, sizeof(un.sun_path), "%s/backend", scene.dir);
    assert_int_equal(listen(scene.listener, 1), 0);
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
    scene_open((struct mk_upstream_options){.max_connections = 3, .connect_ms = 1000});
    n = fill_queue(fillers);
    assert_int_equal(taker_ask(&a, 0, false), 0);
    assert_int_equal(taker_ask(&b, 1, false), 0);
    scene_turn();
    assert_int_equal(a.calls + b.calls, 0);
    mk_upstream_cancel(b.wait);
    scene_assert_load(1, 0, 0);
    (void)backend_accept();
    taker_wait(&a, 2000);
    assert_int_equal(a.error, 0);
    taker_give(&a, false);

    backend_close_peers();
    for (unsigned i = 0; i < n; i++)
        close(fillers[i]);
    (void)backend_accept();
    n = fill_queue(fillers);
    assert_int_equal(taker_ask(&c, 0, false), 0);
    taker_wait(&c, 3000);
    assert_int_equal(c.error, MK_E_TIMEOUT);
    scene_assert_load(0, 0, 0);
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
        {"nobody listens", {.host = "127.0.0.1", .port = backend_listen_tcp(-1)}, MK_E_PEER},
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
        scene_open(o);
        assert_int_equal(taker_ask(&a, 0, false), 0);
        assert_int_equal(taker_ask(&b, 1, false), 0);
        taker_wait(&a, 2000);
        taker_wait(&b, 2000);
        if (a.error != rows[i].error || b.error != rows[i].error)
            fail_msg("%s: %d, %d", rows[i].sentence, a.error, b.error);
        scene_assert_load(0, 0, 0);
        mk_upstream_free(scene.u);
        scene.u = NULL;
    }
}

/* ---- names ---- */

/* In place of the C library's: a host without IPv6, where no address of its own can be assigned. */
int connect_here(int fd, const struct sockaddr *addr, socklen_t len) __asm__("connect");

int connect_here(int fd, const struct sockaddr *addr, socklen_t len)
{
    if (addr->sa_family != AF_INET6)
        return (int)syscall(SYS_connect, fd, addr, len);
    errno = EADDRNOTAVAIL;
    return -1;
}

/*
 * Made here: "none" is no name, another has two addresses. "silent" has them the other way round; of "first six" and
 * "last six" one is IPv6.
 */
static sem_t may_look;

static int set_one_six(const char *host,
                       union mk_host_address addresses[MK_LIMIT_RESOLVE_ADDRESSES])
{
    int six = strcmp(host, "first six") == 0 ? 0 : 1;

    addresses[six] = (union mk_host_address){
        .in6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT}};
    addresses[1 - six] = (union mk_host_address){
        .in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}};
    return 2;
}

static int fake_lookup(const char *host,
                       union mk_host_address addresses[MK_LIMIT_RESOLVE_ADDRESSES])
{
    (void)sem_wait(&may_look);
    if (strcmp(host, "none") == 0)
        return MK_E_NOENT;
    if (strstr(host, "six"))
        return set_one_six(host, addresses);
    for (uint32_t i = 0; i < 2; i++)
        addresses[strcmp(host, "silent") == 0 ? 1 - i : i] = (union mk_host_address){
            .in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1 - i)}};
    return 2;
}

static void open_named(const char *name, unsigned lookups, unsigned connect_ms)
{
    mk_resolver_of(mk_shared_of(scene.server))->lookup = fake_lookup;
    sem_init(&may_look, 0, lookups);
    scene_open((struct mk_upstream_options){.host = name,
                                            .port = backend_listen_tcp(8),
                                            .max_connections = 1,
                                            .max_waiting = 1,
                                            .connect_ms = connect_ms});
}

static void every_address_is_tried(void **state)
{
    struct taker t;

    (void)state;
    open_named("backend", 1, 0);
    assert_int_equal(taker_ask(&t, 0, false), 0);
    taker_wait(&t, 2000);
    assert_true(t.s && t.fresh);
    assert_int_equal(backend_accept(), 1);
    taker_give(&t, true);
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
    other = scene.listener; /* the silent one */
    scene.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(scene.listener, (struct sockaddr *)&in, sizeof(in)), 0);
    assert_int_equal(listen(scene.listener, 8), 0);
    mk_resolver_of(mk_shared_of(scene.server))->lookup = fake_lookup;
    sem_init(&may_look, 0, 1);
    scene_open((struct mk_upstream_options){
        .host = "silent", .port = port, .max_connections = 1, .connect_ms = 1000});
    assert_int_equal(taker_ask(&t, 0, false), 0);
    taker_wait(&t, 900);
    assert_int_equal(t.error, 0);
    assert_true(t.s && t.fresh);
    taker_give(&t, false);
    assert_int_equal(taker_ask(&t, 0, false), 0); /* it is known which one answers */
    taker_wait(&t, 300);
    assert_true(t.s && t.fresh);
    taker_give(&t, false);
    close(other);
    for (int i = 0; i < 3; i++)
        close(fillers[i]);
}

/* Nothing is gained by waiting for it while there is another, nor when another has refused. */
static void an_address_that_cannot_be_reached_is_passed_over(void **state)
{
    static const struct {
        const char *host;
        int backlog; /* negative: the other refuses */
        int error;
    } rows[] = {
        {"first six", 8, 0},
        {"last six", 8, 0},
        {"first six", -1, MK_E_PEER},
        {"last six", -1, MK_E_PEER},
    };

    (void)state;
    mk_resolver_of(mk_shared_of(scene.server))->lookup = fake_lookup;
    sem_init(&may_look, 0, 8);
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        struct taker t;

        scene_open((struct mk_upstream_options){.host = rows[i].host,
                                                .port = backend_listen_tcp(rows[i].backlog),
                                                .max_connections = 1,
                                                .connect_ms = 2000});
        assert_int_equal(taker_ask(&t, 0, false), 0);
        taker_wait(&t, 1000);
        assert_int_equal(t.calls, 1);
        assert_int_equal(t.error, rows[i].error);
        if (t.s)
            taker_give(&t, false);
        scene_assert_load(0, 0, 0);
        mk_upstream_free(scene.u);
        scene.u = NULL;
    }
}

/* "moves" is at one address, then at the other, where the backend listens. */
static atomic_uint moves;

static int moving_lookup(const char *host,
                         union mk_host_address addresses[MK_LIMIT_RESOLVE_ADDRESSES])
{
    unsigned nth = atomic_fetch_add(&moves, 1);

    (void)host;
    addresses[0] = (union mk_host_address){
        .in = {.sin_family = AF_INET,
               .sin_addr.s_addr = htonl(INADDR_LOOPBACK + (nth == 0 ? 1 : 0))}};
    return 1;
}

static void a_backend_that_moved_is_found(void **state)
{
    const time_t give_up_at = time(NULL) + 30;
    struct taker t;

    (void)state;
    atomic_store(&moves, 0);
    mk_resolver_of(mk_shared_of(scene.server))->lookup = moving_lookup;
    scene_open((struct mk_upstream_options){
        .host = "moves", .port = backend_listen_tcp(8), .max_connections = 1, .connect_ms = 30000});
    do { /* it is refused where it was, until that answer may be doubted */
        assert_int_equal(taker_ask(&t, 0, false), 0);
        taker_wait(&t, 30000);
        if (t.error != 0)
            assert_int_equal(t.error, MK_E_PEER);
    } while (t.error != 0 && time(NULL) < give_up_at);
    assert_int_equal(atomic_load(&moves), 2);
    assert_true(t.s && t.fresh);
    taker_give(&t, false);
    scene_assert_load(0, 0, 0);
}

static void no_such_name_is_told(void **state)
{
    struct taker t;

    (void)state;
    open_named("none", 1, 0);
    assert_int_equal(taker_ask(&t, 0, false), 0);
    taker_wait(&t, 2000);
    assert_int_equal(t.error, MK_E_NOENT);
    scene_assert_load(0, 0, 0);
}

/* A look-up goes on when nobody waits for it any more, and its answer finds nobody. */
static void a_look_up_outlives_who_asked(void **state)
{
    struct taker a, b;

    (void)state;
    open_named("backend", 0, 100);
    assert_int_equal(taker_ask(&a, 0, false), 0);
    scene_turn();
    scene_assert_load(1, 0, 0);
    mk_upstream_cancel(a.wait);
    scene_assert_load(0, 0, 0);
    assert_int_equal(taker_ask(&b, 1, false), 0);
    taker_wait(&b, 2000);
    assert_int_equal(b.error, MK_E_TIMEOUT);
    scene_assert_load(0, 0, 0);
    sem_post(&may_look);
    taker_wait(&(struct taker){.calls = 0}, 100);
    assert_int_equal(a.calls, 0);
    assert_int_equal(b.calls, 1);
    taker_take(&a, 0); /* known now */
    taker_give(&a, true);
}

static void the_server_ends_while_a_name_is_looked_up(void **state)
{
    struct taker t;

    (void)state;
    open_named("backend", 0, 0);
    assert_int_equal(taker_ask(&t, 0, false), 0);
    scene_turn();
    mk_upstream_free(scene.u);
    scene.u = NULL;
    sem_post(&may_look); /* waited for, and told on a worker that dials no more */
    mk_server_free(scene.server);
    scene.server = NULL;
    assert_int_equal(t.calls, 1);
    assert_true(t.error < 0);
}

int main(void)
{
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, scene_setup, scene_teardown)
    const struct CMUnitTest tests[] = {
        TEST(connecting_ends_in_time),
        TEST(a_full_queue_is_waited_for),
        TEST(failures_are_told),
        TEST(every_address_is_tried),
        TEST(an_address_that_is_silent_is_passed_over),
        TEST(an_address_that_cannot_be_reached_is_passed_over),
        TEST(a_backend_that_moved_is_found),
        TEST(no_such_name_is_told),
        TEST(a_look_up_outlives_who_asked),
        TEST(the_server_ends_while_a_name_is_looked_up),
    };
#undef TEST

    return cmocka_run_group_tests(tests, NULL, NULL);
}
