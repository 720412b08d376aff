/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "embedded.h"

/* Where a server of a program listens: a free port, and a descriptor that the program has. */

static enum mk_verdict on_handle(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    (void)ctx, (void)data;
    return mk_reply_bytes(r, 200, "text/plain", MK_STR("heard"));
}

static const struct mk_plugin plugin = {
    MK_PLUGIN("hears", "answers"),
    .check_site = embedded_route,
    .on_handle = on_handle,
};

static void is_answered(const struct mk_server *server)
{
    struct pollfd p = {.fd = embedded_connect(server), .events = POLLIN};
    char text[1000] = "";

    embedded_get(p.fd, "/");
    while (!embedded_read(p.fd, text, sizeof(text)))
        assert_int_equal(poll(&p, 1, 60000), 1);
    assert_non_null(strstr(text, "\r\n\r\nheard"));
    close(p.fd);
}

static void a_free_port_has_a_number(void **state)
{
    struct mk_config *config = embedded_config("1", &plugin, NULL);
    struct mk_server *server;
    unsigned first;

    (void)state;
    assert_int_equal(mk_config_set(config, "SERVER", "Listen", "127.0.0.1:0", "test"), 0);
    assert_int_equal(mk_server_new(&server, config, NULL), 0);
    assert_int_equal(mk_server_port(server, 0), 0); /* it does not listen yet */
    assert_int_equal(mk_server_listen(server), 0);
    assert_int_equal(mk_server_start(server), 0);
    first = mk_server_port(server, 0);
    assert_in_range(first, 1, 65535);
    assert_in_range(mk_server_port(server, 1), 1, 65535);
    assert_int_not_equal(mk_server_port(server, 1), first);
    assert_int_equal(mk_server_port(server, 2), 0);
    is_answered(server);
    mk_server_free(server);
}

/* @param bound  the program's, of some port */
static struct mk_config *config_for(int bound, const char *workers)
{
    struct mk_config *config;
    char text[MK_ADDRESS_TEXT];

    assert_int_equal(mk_address_of(bound, text), 0);
    assert_int_equal(mk_config_new(&config, NULL), 0);
    assert_int_equal(mk_config_set(config, "SERVER", "Listen", text, "test"), 0);
    assert_int_equal(mk_config_set(config, "SERVER", "Workers", workers, "test"), 0);
    assert_int_equal(mk_config_set(config, "SERVER", "LogLevel", "error", "test"), 0);
    return config;
}

static void a_descriptor_of_the_program_is_listened_on(void **state)
{
    int bound = mk_address_bind("127.0.0.1:0", false);
    const struct mk_host host = {.size = sizeof(host), .inherited = &bound, .ninherited = 1};
    struct mk_config *config = config_for(bound, "2");
    struct mk_server *server;
    char text[MK_ADDRESS_TEXT], port[16];

    (void)state;
    assert_int_equal(mk_config_plugin(config, &plugin, NULL), 0);
    assert_int_equal(mk_server_new(&server, config, &host), 0);
    assert_int_equal(mk_server_listen(server), 0);
    assert_int_equal(mk_server_start(server), 0);
    assert_int_equal(mk_address_of(bound, text), 0);
    (void)snprintf(port, sizeof(port), ":%u", mk_server_port(server, 0));
    assert_non_null(strstr(text, port));
    is_answered(server);
    assert_int_equal(mk_server_reload(server, config_for(bound, "2")), 0);
    is_answered(server);
    mk_server_free(server);
    assert_true(fcntl(bound, F_GETFD) >= 0); /* still the program's */
    close(bound);
}

static void only_bound_sockets_have_an_address(void **state)
{
    char text[MK_ADDRESS_TEXT];
    int ends[2], nameless = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    (void)state;
    assert_int_equal(mk_address_of(-1, text), MK_E_INVALID);
    assert_string_equal(text, "");
    assert_int_equal(mk_address_of(nameless, text), MK_E_INVALID);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(mk_address_of(ends[0], text), MK_E_INVALID);
    close(ends[0]);
    close(ends[1]);
    close(nameless);
}

static void a_unix_socket_has_its_path(void **state)
{
    char dir[] = "/tmp/mk-listening-XXXXXX", path[64], expected[80], text[MK_ADDRESS_TEXT];
    int fd;

    (void)state;
    assert_non_null(mkdtemp(dir));
    (void)snprintf(path, sizeof(path), "%s/socket", dir);
    (void)snprintf(expected, sizeof(expected), "unix:%s", path);
    fd = mk_address_bind(expected, false);
    assert_true(fd >= 0);
    assert_int_equal(mk_address_of(fd, text), 0);
    assert_string_equal(text, expected);
    close(fd);
    (void)unlink(path);
    (void)rmdir(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_free_port_has_a_number),
        cmocka_unit_test(a_descriptor_of_the_program_is_listened_on),
        cmocka_unit_test(only_bound_sockets_have_an_address),
        cmocka_unit_test(a_unix_socket_has_its_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
