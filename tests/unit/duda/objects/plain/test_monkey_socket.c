/* SPDX-License-Identifier: Apache-2.0 */
#include "duda_test.h"

#include "objects/plain/monkey_socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>

static int flag(int fd, int level, int option)
{
    int value = -1;
    socklen_t len = sizeof(value);

    assert_int_equal(getsockopt(fd, level, option, &value, &len), 0);
    return value;
}

/* @return a socket that listens on the loopback address, and its port */
static int listen_here(int *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof(at);
    int fd = mk_duda_socket_create();

    assert_int_equal(mk_duda_socket_reset(fd), 0);
    assert_int_not_equal(flag(fd, SOL_SOCKET, SO_REUSEADDR), 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(fd, 1), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    *port = ntohs(at.sin_port);
    return fd;
}

static void connects_sends_and_reads(void **state)
{
    char text[64], *buf = text, host[] = "127.0.0.1";
    unsigned long len;
    int port, listener = listen_here(&port), client = mk_duda_socket_connect(host, port);
    int server = accept(listener, NULL, NULL);

    (void)state;
    assert_true(client >= 0 && server >= 0);
    assert_int_equal(mk_duda_socket_set_tcp_nodelay(client), 0);
    assert_int_not_equal(flag(client, IPPROTO_TCP, TCP_NODELAY), 0);
    assert_int_equal(mk_duda_socket_cork_flag(client, 1), 0);
    assert_int_not_equal(flag(client, IPPROTO_TCP, TCP_CORK), 0);
    assert_int_equal(mk_duda_socket_cork_flag(client, 0), 0);
    assert_int_equal(mk_duda_socket_send(client, "hello", 5), 5);
    assert_int_equal(mk_duda_socket_read(server, text, sizeof(text)), 5);
    assert_memory_equal(text, "hello", 5);
    assert_int_equal(mk_duda_socket_ip_str(server, &buf, sizeof(text), &len), 0);
    assert_string_equal(text, "127.0.0.1");
    assert_int_equal(len, strlen("127.0.0.1"));
    assert_int_equal(mk_duda_socket_set_nonblocking(server), 0);
    assert_int_equal(mk_duda_socket_read(server, text, sizeof(text)), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(mk_duda_socket_close(client), 0);
    assert_int_equal(mk_duda_socket_close(server), 0);
    assert_int_equal(mk_duda_socket_close(listener), 0);
}

static void sends_files(void **state)
{
    FILE *file = tmpfile();
    int fds[2];
    char text[8];
    off_t offset = 2;

    (void)state;
    assert_true(fputs("abcdef", file) >= 0 && fflush(file) == 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    assert_int_equal(mk_duda_socket_send_file(fds[0], fileno(file), &offset, 3), 3);
    assert_int_equal(offset, 5);
    assert_int_equal(mk_duda_socket_read(fds[1], text, sizeof(text)), 3);
    assert_memory_equal(text, "cde", 3);
    (void)fclose(file);
    (void)close(fds[0]);
    (void)close(fds[1]);
}

static void a_broken_socket_is_an_error_and_no_signal(void **state)
{
    char text[8], *buf = text, host[] = "127.0.0.1";
    int fds[2];

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    (void)close(fds[1]);
    assert_int_equal(mk_duda_socket_send(fds[0], "x", 1), -1);
    assert_int_equal(errno, EPIPE);
    assert_int_equal(mk_duda_socket_read(fds[0], text, -1), -1);
    (void)close(fds[0]);
    assert_int_equal(mk_duda_socket_send(-1, "x", 1), -1);
    assert_int_equal(mk_duda_socket_set_nonblocking(-1), -1);
    assert_int_equal(mk_duda_socket_ip_str(-1, &buf, sizeof(text), NULL), -1);
    assert_int_equal(mk_duda_socket_ip_str(0, NULL, 8, NULL), -1);
    assert_int_equal(mk_duda_socket_connect(NULL, 1), -1);
    assert_int_equal(mk_duda_socket_connect(host, 0), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connects_sends_and_reads),
        cmocka_unit_test(sends_files),
        cmocka_unit_test(a_broken_socket_is_an_error_and_no_signal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
