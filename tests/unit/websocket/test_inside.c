/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <monkey/ask.h>
#include <monkey/websocket.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "../lib/embedded.h"

/* A program's WebSocket and requests to its own server, which listens nowhere: mk_server_connect. */

enum { PATIENCE_S = 60 };

static const char opening[] =
    "GET /talk HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
static const char hello[] = "\x81\x85\0\0\0\0hello"; /* the mask is zero */
static const char plain[] = "GET /page HTTP/1.1\r\nHost: a\r\n\r\n";

static atomic_uint ncloses, workers_seen;

/* ---- the program ---- */

static void on_message(struct mk_ws *ws, enum mk_ws_kind kind, struct mk_str message)
{
    atomic_fetch_or(&workers_seen, 1U << mk_worker_index(mk_ws_worker(ws)));
    (void)mk_ws_send(ws, kind, message);
}

static void on_close(struct mk_ws *ws, unsigned code, struct mk_str reason)
{
    (void)ws, (void)code, (void)reason;
    atomic_fetch_add(&ncloses, 1);
}

static const struct mk_ws_spec talk = {
    .size = sizeof(talk), .on_message = on_message, .on_close = on_close};

static enum mk_verdict on_handle(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};
    struct mk_conn_facts conn = {.size = sizeof(conn)};

    (void)ctx, (void)data;
    mk_request_facts(r, &facts);
    if (facts.path.len == 5 && memcmp(facts.path.p, "/talk", 5) == 0)
        return mk_ws_accept(r, &talk, NULL, NULL);
    mk_conn_facts(facts.conn, &conn);
    return mk_reply_bytes(r, 200, "text/plain", mk_str_from(conn.listen));
}

static const struct mk_plugin plugin = {
    MK_PLUGIN("inside", "answers its own program"),
    .check_site = embedded_route,
    .on_handle = on_handle,
};

static struct mk_server *make(const char *workers)
{
    struct mk_server *server;

    atomic_store(&ncloses, 0);
    atomic_store(&workers_seen, 0);
    assert_int_equal(mk_server_new(&server, embedded_config(workers, &plugin, NULL), NULL), 0);
    return server;
}

/* ---- the client ---- */

static int open_inside(struct mk_server *server)
{
    const struct timeval patience = {.tv_sec = PATIENCE_S};
    int fd = mk_server_connect(server);

    assert_true(fd >= 0);
    assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    return fd;
}

static void say(int fd, const char *bytes, size_t len)
{
    assert_int_equal(send(fd, bytes, len, MSG_NOSIGNAL), len);
}

/* What comes up to these bytes, which are its end. */
static void hear(int fd, const char *last, size_t len)
{
    char bytes[2000];
    size_t got = 0;

    while (got < len || memcmp(bytes + got - len, last, len) != 0) {
        assert_true(got < sizeof(bytes));
        assert_int_equal(recv(fd, bytes + got, 1, 0), 1);
        got++;
    }
}

#define HEAR(fd, last) hear(fd, last, sizeof(last) - 1)

static void talk_once(int fd)
{
    say(fd, hello, sizeof(hello) - 1);
    HEAR(fd, "\x81\x05hello");
}

static int open_socket(struct mk_server *server)
{
    int fd = open_inside(server);

    say(fd, opening, sizeof(opening) - 1);
    HEAR(fd, "\r\n\r\n");
    return fd;
}

/* ---- */

static void a_websocket_needs_no_address(void **state)
{
    static const char goodbye[] = "\x88\x82\0\0\0\0\x03\xe8";
    struct mk_server *server = make("2");
    int fds[4];
    char byte;

    (void)state;
    assert_int_equal(mk_server_start(server), 0);
    assert_int_equal(mk_server_port(server, 0), 0);
    for (size_t i = 0; i < 4; i++)
        fds[i] = open_socket(server);
    for (size_t i = 0; i < 4; i++)
        talk_once(fds[i]);
    assert_int_equal(atomic_load(&workers_seen), 3); /* they took turns */
    for (size_t i = 0; i < 4; i++) {
        say(fds[i], goodbye, sizeof(goodbye) - 1);
        HEAR(fds[i], "\x88\x02\x03\xe8");
        assert_int_equal(recv(fds[i], &byte, 1, 0), 0);
        close(fds[i]);
    }
    mk_server_free(server);
    assert_int_equal(atomic_load(&ncloses), 4);
}

static void requests_are_answered_as_a_clients(void **state)
{
    struct mk_server *server = make("1");
    int fd;

    (void)state;
    assert_int_equal(mk_server_start(server), 0);
    fd = open_inside(server);
    for (int i = 0; i < 3; i++) {
        say(fd, plain, sizeof(plain) - 1);
        HEAR(fd, "\r\n\r\ninside");
    }
    close(fd);
    mk_server_free(server);
}

static void a_connection_may_wait_for_the_start(void **state)
{
    struct mk_server *server = make("1");
    int fd = open_inside(server);

    (void)state;
    say(fd, plain, sizeof(plain) - 1);
    assert_int_equal(mk_server_start(server), 0);
    HEAR(fd, "\r\n\r\ninside");
    close(fd);
    mk_server_free(server);
}

static void it_ends_with_a_server_that_never_started(void **state)
{
    struct mk_server *server = make("2");
    int fd = open_inside(server);
    char byte;

    (void)state;
    mk_server_free(server);
    assert_int_equal(recv(fd, &byte, 1, 0), 0);
    close(fd);
}

static void a_stop_says_goodbye_and_takes_no_more(void **state)
{
    struct mk_server *server = make("1");
    int fd, other;
    char byte;

    (void)state;
    assert_int_equal(mk_server_connect(NULL), MK_E_INVALID);
    assert_int_equal(mk_server_start(server), 0);
    fd = open_socket(server);
    other = open_inside(server);
    mk_server_stop(server, PATIENCE_S * 1000);
    assert_int_equal(mk_server_connect(server), MK_E_PEER);
    HEAR(fd, "\x88\x02\x03\xe9");
    close(fd);
    assert_int_equal(recv(other, &byte, 1, 0), 0);
    close(other);
    assert_int_equal(mk_server_wait(server, PATIENCE_S * 1000), 0);
    mk_server_free(server);
    assert_int_equal(atomic_load(&ncloses), 1);
}

/* In the program's own loop, whose thread is also the client's. */
static void a_loop_of_the_program_serves_itself(void **state)
{
    struct mk_server *server = make("1");
    char bytes[600] = "";
    size_t got = 0;
    int fd;

    (void)state;
    assert_int_equal(mk_server_start_here(server), 0);
    fd = open_inside(server);
    say(fd, plain, sizeof(plain) - 1);
    while (!strstr(bytes, "\r\n\r\ninside")) {
        ssize_t n;

        assert_int_equal(mk_server_turn(server, 10), 1);
        n = recv(fd, bytes + got, sizeof(bytes) - got - 1, MSG_DONTWAIT);
        got += n > 0 ? (size_t)n : 0;
    }
    close(fd);
    mk_server_free(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_websocket_needs_no_address),
        cmocka_unit_test(requests_are_answered_as_a_clients),
        cmocka_unit_test(a_connection_may_wait_for_the_start),
        cmocka_unit_test(it_ends_with_a_server_that_never_started),
        cmocka_unit_test(a_stop_says_goodbye_and_takes_no_more),
        cmocka_unit_test(a_loop_of_the_program_serves_itself),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
