/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/server.h>
#include <monkey/web.h>
#include <monkey/websocket.h>

#include <stdio.h>
#include <unistd.h>

/* libmonkey-websocket: /echo sends each message back, /all sends it to everybody there. One worker, or as many as asked for. */

static struct mk_ws_group *everybody;

static void echo(struct mk_ws *ws, enum mk_ws_kind kind, struct mk_str message)
{
    (void)mk_ws_send(ws, kind, message);
}

static void join(struct mk_ws *ws)
{
    if (mk_ws_group_join(everybody, ws) < 0)
        mk_ws_close(ws, MK_WS_INTERNAL, MK_STR(""));
}

static void broadcast(struct mk_ws *ws, enum mk_ws_kind kind, struct mk_str message)
{
    (void)ws;
    (void)mk_ws_group_send(everybody, kind, message);
}

static const struct mk_ws_spec echoing = {.size = sizeof(echoing), .on_message = echo},
                               joining = {.size = sizeof(joining),
                                          .on_open = join,
                                          .on_message = broadcast};

static enum mk_verdict on_request(struct mk_request *r, void *spec)
{
    return mk_ws_accept(r, spec, NULL, NULL);
}

int main(int argc, char **argv)
{
    struct mk_config *config;
    struct mk_server *server;
    char address[64];

    (void)snprintf(address, sizeof(address), "127.0.0.1:%s", argc > 1 ? argv[1] : "0");
    if (mk_config_new(&config, NULL) != 0 ||
        mk_config_set(config, "SERVER", "Listen", address, "bench") != 0 ||
        mk_config_set(config, "SERVER", "Workers", argc > 2 ? argv[2] : "1", "bench") != 0 ||
        mk_config_handle(config, "GET", "/echo", on_request, (void *)&echoing) != 0 ||
        mk_config_handle(config, "GET", "/all", on_request, (void *)&joining) != 0 ||
        mk_server_new(&server, config, NULL) != 0 || mk_server_listen(server) != 0)
        return 1;
    everybody = mk_ws_group_new(server);
    if (!everybody || mk_server_start(server) != 0)
        return 1;
    for (;;)
        pause();
}
