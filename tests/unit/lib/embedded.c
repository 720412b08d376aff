/* SPDX-License-Identifier: Apache-2.0 */
#include "embedded.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

struct mk_config *embedded_config(const char *workers, const struct mk_plugin *plugin,
                                  void *argument)
{
    struct mk_config *config;

    assert_int_equal(mk_config_new(&config, NULL), 0);
    assert_int_equal(mk_config_set(config, "SERVER", "Listen", "127.0.0.1:0", "test"), 0);
    assert_int_equal(mk_config_set(config, "SERVER", "Workers", workers, "test"), 0);
    assert_int_equal(mk_config_set(config, "SERVER", "LogLevel", "error", "test"), 0);
    if (plugin)
        assert_int_equal(mk_config_plugin(config, plugin, argument), 0);
    return config;
}

int embedded_route(struct mk_setup *setup)
{
    return mk_setup_route(setup, MK_STR("^/"), NULL, NULL, false);
}

void embedded_append(void *arg, const char *text, size_t len)
{
    char *all = arg;

    assert_true(strlen(all) + len < 16000);
    (void)strncat(all, text, len);
}

struct mk_server *embedded_server(struct mk_config *config)
{
    struct mk_server *server;

    assert_int_equal(mk_server_new(&server, config, NULL), 0);
    assert_int_equal(mk_server_listen(server), 0);
    return server;
}

int embedded_connect(const struct mk_server *server)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    to.sin_port = htons((uint16_t)mk_server_port(server, 0));
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    return fd;
}

void embedded_get(int fd, const char *path)
{
    char request[200];
    int len = snprintf(request, sizeof(request),
                       "GET %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", path);

    assert_int_equal(send(fd, request, (size_t)len, MSG_NOSIGNAL), len);
}

int embedded_read(int fd, char *text, size_t size)
{
    size_t len = strlen(text);
    ssize_t n;

    while ((n = recv(fd, text + len, size - len - 1, 0)) > 0) {
        len += (size_t)n;
        text[len] = '\0';
    }
    if (n < 0)
        assert_int_equal(errno, EAGAIN);
    return n == 0;
}
