/* SPDX-License-Identifier: Apache-2.0 */
#include "answers.h"

#include <civetweb.h>
#include <stdlib.h>
#include <unistd.h>

/* CivetWeb: a thread for each connection that is served, as many as a case has clients. */

static int send_text(struct mg_connection *c, const char *type, const char *text, size_t len)
{
    mg_send_http_ok(c, type, (long long)len);
    mg_write(c, text, len);
    return 200;
}

static int hello(struct mg_connection *c, void *arg)
{
    (void)arg;
    return send_text(c, "text/plain", HELLO, sizeof(HELLO) - 1);
}

static int json(struct mg_connection *c, void *arg)
{
    char text[JSON_ROOM];

    (void)arg;
    return send_text(c, "application/json", text, write_json(text));
}

static int count(struct mg_connection *c, void *arg)
{
    unsigned long long bytes = 0;
    char text[COUNT_ROOM], part[65536];
    int got;

    (void)arg;
    while ((got = mg_read(c, part, sizeof(part))) > 0)
        bytes += (unsigned)got;
    return send_text(c, "text/plain", text, write_count(text, bytes));
}

int main(int argc, char **argv)
{
    char address[64];
    const char *options[] = {"listening_ports",
                             address,
                             "num_threads",
                             "64",
                             "enable_keep_alive",
                             "yes",
                             "keep_alive_timeout_ms",
                             "120000",
                             "request_timeout_ms",
                             "120000",
                             "listen_backlog",
                             "4096",
                             "tcp_nodelay",
                             "1",
                             NULL};
    struct mg_callbacks callbacks = {0};
    struct mg_context *server;

    (void)snprintf(address, sizeof(address), "127.0.0.1:%s", argc > 1 ? argv[1] : "0");
    mg_init_library(0);
    server = mg_start(&callbacks, NULL, options);
    if (!server)
        return 1;
    mg_set_request_handler(server, "/hello", hello, NULL);
    mg_set_request_handler(server, "/json", json, NULL);
    mg_set_request_handler(server, "/count", count, NULL);
    for (;;)
        pause();
}
