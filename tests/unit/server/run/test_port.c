/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/limits.h"
#include "core/fd.h"
#include "server/run/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* Accepting from a unix socket, turn by turn on the test's own thread. */

enum { TURNS_MAX = 1000, TURN_MS = 10 };

static struct fixture fix;
static char where[64], listen_text[80];
static int accept_error;  /* of the next calls; 0: they accept */
static unsigned nerrors;  /* how many of them */
static unsigned naccepts; /* calls in all */
static int64_t nothers;   /* connections that are only counted */

#ifndef __GLIBC__
#define __SOCKADDR_ARG struct sockaddr *restrict
#endif

/* In the place of the C library's. */
int accept4(int fd, __SOCKADDR_ARG addr, socklen_t *restrict len, int flags)
{
    naccepts++;
    if (nerrors > 0) {
        nerrors--;
        errno = accept_error;
        return -1;
    }
    fd = accept(fd, addr, len);
    if (fd >= 0 && (flags & SOCK_NONBLOCK))
        (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    if (fd >= 0 && (flags & SOCK_CLOEXEC))
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    return fd;
}

static struct mk_ports *ports(void)
{
    return &mk_worker_thread_of(fix.worker)->ports;
}

static void turn(void)
{
    mk_loop_turn(&fix.worker->loop, 0, NULL, NULL);
}

static int set_up(void **state)
{
    const struct row rows[] = {{"SERVER", "Listen", listen_text, 0}, {NULL, NULL, NULL, 0}};
    char why[256];

    (void)state;
    dir_make(fix.dir);
    (void)snprintf(where, sizeof(where), "%s/socket", fix.dir);
    (void)snprintf(listen_text, sizeof(listen_text), "unix:%s", where);
    fixture_open(&fix, rows);
    if (mk_listeners_open(fix.server, &fix.plan.snapshot.set, why, sizeof(why)) < 0)
        fail_msg("%s", why);
    assert_int_equal(mk_ports_update(ports(), fix.server, fix.worker, &fix.worker->loop), 0);
    nerrors = naccepts = 0;
    nothers = 0;
    return 0;
}

static void cut(void *block, void *arg)
{
    (void)arg;
    mk_conn_close(block, MK_CLOSE_STOPPING);
}

static int tear_down(void **state)
{
    (void)state;
    nerrors = 0;
    mk_ports_close(ports());
    mk_pool_each(&fix.worker->conns, cut, NULL);
    turn();
    assert_int_equal(atomic_load(&fix.server->shared.connections), nothers);
    fixture_close(&fix);
    dir_remove(fix.dir);
    return 0;
}

static void limit_connections(int64_t max, enum mk_over_capacity over)
{
    atomic_store(&fix.server->shared.max_connections, max);
    atomic_store(&fix.server->over_capacity, over);
    assert_int_equal(mk_ports_update(ports(), fix.server, fix.worker, &fix.worker->loop), 0);
}

/* As many connections as it takes, of which nobody else knows. */
static void count_others(int64_t count)
{
    atomic_fetch_add(&fix.server->shared.connections, count - nothers);
    nothers = count;
}

static int64_t own_connections(void)
{
    return atomic_load(&fix.server->shared.connections) - nothers;
}

static int dial(void)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    assert_true(fd >= 0);
    memcpy(addr.sun_path, where, strlen(where) + 1);
    assert_int_equal(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
    return fd;
}

/* What the server says first, within so many turns. @return bytes, 0 at the end or -1: nothing. */
static ssize_t hear(int fd, char *buf, size_t size)
{
    ssize_t n = -1;

    for (int i = 0; i < TURNS_MAX && n < 0; i++) {
        mk_loop_turn(&fix.worker->loop, TURN_MS, NULL, NULL);
        n = recv(fd, buf, size, MSG_DONTWAIT);
        if (n < 0 && errno == ECONNRESET)
            return 0;
    }
    return n;
}

static void turns_until_connections(int64_t count)
{
    for (int i = 0; i < TURNS_MAX && own_connections() != count; i++)
        mk_loop_turn(&fix.worker->loop, TURN_MS, NULL, NULL);
    assert_int_equal(own_connections(), count);
}

static void clients_become_connections(void **state)
{
    int one = dial(), two = dial();

    (void)state;
    turn();
    assert_int_equal(own_connections(), 2);
    mk_fd_close(&one);
    turns_until_connections(1);
    mk_fd_close(&two);
    turns_until_connections(0);
}

static void a_turn_accepts_no_more_than_its_share(void **state)
{
    int fd = dial();

    (void)state;
    accept_error = ECONNABORTED; /* such a client has left again: on to the next one */
    nerrors = 10 * MK_LIMIT_TURN_ACCEPTS;
    turn();
    assert_int_equal(naccepts, MK_LIMIT_TURN_ACCEPTS);
    turn();
    assert_int_equal(naccepts, 2 * MK_LIMIT_TURN_ACCEPTS);
    nerrors = 0;
    turn();
    assert_int_equal(own_connections(), 1);
    mk_fd_close(&fd);
}

/* Who waits when a port closes is served; but new ones may arrive as fast as they are taken. */
static void a_port_that_closes_takes_what_waits(void **state)
{
    int fd = dial();

    (void)state;
    mk_ports_close(ports());
    assert_int_equal(own_connections(), 1);
    mk_fd_close(&fd);
}

static void a_port_that_closes_takes_no_more_than_its_share(void **state)
{
    (void)state;
    accept_error = ECONNABORTED;
    nerrors = 2 * MK_LIMIT_DRAIN_ACCEPTS;
    mk_ports_close(ports());
    assert_int_equal(naccepts, MK_LIMIT_DRAIN_ACCEPTS);
}

/* Of a listener that the configuration has no more. */
static void leave(bool lingers)
{
    struct mk_listener *l = fix.server->listeners;

    l->wanted = false;
    l->lingers = lingers;
    assert_int_equal(mk_ports_update(ports(), fix.server, fix.worker, &fix.worker->loop), 0);
    assert_int_equal(l->fds[0], -1); /* the port has the socket alone */
}

static bool is_listening(void)
{
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err;

    memcpy(addr.sun_path, where, strlen(where) + 1);
    err = connect(fd, (struct sockaddr *)&addr, sizeof(addr));
    mk_fd_close(&fd);
    return err == 0;
}

static void a_port_that_nobody_wants_closes_at_once(void **state)
{
    int fd = dial();

    (void)state;
    leave(false);
    assert_int_equal(own_connections(), 1); /* whoever waited is served */
    assert_true(mk_list_is_empty(&ports()->list));
    assert_false(is_listening());
    mk_fd_close(&fd);
}

/* Handshakes with the socket end well, although another takes its place. */
static void a_port_that_is_replaced_lingers(void **state)
{
    struct mk_loop *loop = &fix.worker->loop;
    struct mk_listener *l = fix.server->listeners;
    int fd;

    (void)state;
    leave(true);
    assert_int_equal(atomic_load(&l->lingering), 1);
    fd = dial();
    turn();
    assert_int_equal(own_connections(), 1);
    leave(true); /* another reload does not begin its time anew, nor end it */
    assert_int_equal(atomic_load(&l->lingering), 1);
    mk_wheel_run(&loop->wheel, loop->clock.mono_ms + (MK_FD_DEFER_S + 1) * 1000 - 200);
    assert_true(is_listening());
    mk_wheel_run(&loop->wheel, loop->clock.mono_ms + (MK_FD_DEFER_S + 1) * 1000 + 200);
    assert_false(is_listening());
    assert_int_equal(atomic_load(&l->lingering), 0);
    assert_true(mk_list_is_empty(&ports()->list));
    mk_fd_close(&fd);
}

/* The listener comes back while its old socket lingers: then it has two ports, of which the old one ends. */
static void a_listener_that_comes_back_has_a_port_again(void **state)
{
    struct mk_listener *l = fix.server->listeners;
    char why[256];
    int fd;

    (void)state;
    leave(true);
    mk_listeners_settle(fix.server);
    assert_int_equal(mk_listeners_open(fix.server, &fix.plan.snapshot.set, why, sizeof(why)), 0);
    assert_int_equal(mk_ports_update(ports(), fix.server, fix.worker, &fix.worker->loop), 0);
    assert_true(l->fds[0] >= 0 && is_listening());
    assert_int_equal(atomic_load(&l->lingering), 1);
    mk_wheel_run(&fix.worker->loop.wheel, fix.worker->loop.clock.mono_ms + 10000);
    assert_int_equal(atomic_load(&l->lingering), 0);
    fd = dial();
    turn();
    assert_int_equal(own_connections(), 1);
    mk_fd_close(&fd);
}

static void clients_wait_until_there_is_room(void **state)
{
    int one = dial(), two = dial();

    (void)state;
    limit_connections(1, MK_OVER_RESIST);
    turn();
    assert_int_equal(own_connections(), 1);
    turn(); /* first it hears of those that have left */
    assert_int_equal(atomic_load(&fix.server->waiting_ports), 1);
    naccepts = 0;
    turn();
    assert_int_equal(naccepts, 0); /* nobody asks until there is room */
    mk_fd_close(&one);
    for (int i = 0; i < TURNS_MAX && naccepts == 0; i++)
        mk_loop_turn(&fix.worker->loop, TURN_MS, NULL, NULL);
    assert_int_equal(own_connections(), 1);
    mk_fd_close(&two);
    turns_until_connections(0);
}

static void so_many_above_the_maximum_get_an_answer(void **state)
{
    char said[64] = "";
    int fd;

    (void)state;
    limit_connections(5, MK_OVER_TOO_BUSY);
    count_others(5 + MK_LIMIT_BUSY_ANSWERS - 1);
    fd = dial();
    assert_true(hear(fd, said, sizeof(said)) > 12);
    assert_memory_equal(said, "HTTP/1.1 503", 12);
    mk_fd_close(&fd);
    turns_until_connections(0);
    count_others(5 + MK_LIMIT_BUSY_ANSWERS);
    fd = dial();
    assert_int_equal(hear(fd, said, sizeof(said)), 0);
    assert_int_equal(own_connections(), 0);
    mk_fd_close(&fd);
}

static void above_the_maximum_all_are_closed(void **state)
{
    char said[64];
    int fd;

    (void)state;
    limit_connections(5, MK_OVER_DROP);
    count_others(5);
    fd = dial();
    assert_int_equal(hear(fd, said, sizeof(said)), 0);
    mk_fd_close(&fd);
}

/* The descriptor that was kept for it lets the server end what it cannot serve. */
static void without_descriptors_a_reserve_closes(void **state)
{
    char said[64];
    int fd;

    (void)state;
    limit_connections(5, MK_OVER_DROP);
    assert_true(ports()->reserve_fd >= 0);
    accept_error = EMFILE;
    nerrors = 1;
    fd = dial();
    assert_int_equal(hear(fd, said, sizeof(said)), 0);
    assert_true(ports()->reserve_fd >= 0);
    assert_int_equal(own_connections(), 0);
    mk_fd_close(&fd);
}

/* Where clients are to wait they do so for descriptors, too: it looks again after a while. */
static void without_descriptors_clients_wait(void **state)
{
    int fd = dial();

    (void)state;
    limit_connections(5, MK_OVER_RESIST);
    accept_error = EMFILE;
    nerrors = 1;
    turn();
    assert_int_equal(own_connections(), 0);
    assert_int_equal(atomic_load(&fix.server->waiting_ports), 1);
    turns_until_connections(1);
    mk_fd_close(&fd);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(clients_become_connections),
        TEST(a_turn_accepts_no_more_than_its_share),
        TEST(a_port_that_closes_takes_what_waits),
        TEST(a_port_that_closes_takes_no_more_than_its_share),
        TEST(a_port_that_nobody_wants_closes_at_once),
        TEST(a_port_that_is_replaced_lingers),
        TEST(a_listener_that_comes_back_has_a_port_again),
        TEST(clients_wait_until_there_is_room),
        TEST(so_many_above_the_maximum_get_an_answer),
        TEST(above_the_maximum_all_are_closed),
        TEST(without_descriptors_a_reserve_closes),
        TEST(without_descriptors_clients_wait),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
