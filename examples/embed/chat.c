/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/server.h>
#include <monkey/web.h>
#include <monkey/websocket.h>

#include <stdio.h>

/*
 * A chat: each message goes to everybody in the room, on whichever worker.
 *
 *     cc chat.c $(pkg-config --cflags --libs monkey-web monkey-websocket) -o chat && ./chat 127.0.0.1:8080 $PWD/pages
 */

static struct mk_ws_group *room;

static void say(const char *text)
{
    (void)mk_ws_group_send(room, MK_WS_TEXT, mk_str_from(text));
}

static void on_open(struct mk_ws *ws)
{
    if (mk_ws_group_join(room, ws) == 0)
        say("Somebody came.");
    else
        mk_ws_close(ws, MK_WS_TRY_LATER, MK_STR("the room is full"));
}

static void on_message(struct mk_ws *ws, enum mk_ws_kind kind, struct mk_str message)
{
    if (kind == MK_WS_TEXT)
        (void)mk_ws_group_send(room, kind, message);
    else
        mk_ws_close(ws, MK_WS_UNACCEPTABLE, MK_STR("text only"));
}

static void on_close(struct mk_ws *ws, unsigned code, struct mk_str reason)
{
    (void)ws, (void)code, (void)reason;
    say("Somebody left.");
}

static const struct mk_ws_spec spec = {
    .size = sizeof(spec),
    .on_open = on_open,
    .on_message = on_message,
    .on_close = on_close,
    .max_message = 1000,
    .policy = MK_WS_DROP_OLD, /* of what waits for a slow reader */
};

static enum mk_verdict enter(struct mk_request *r, void *arg)
{
    (void)arg;
    return mk_ws_accept(r, &spec, NULL, NULL);
}

static void run(struct mk_server *server)
{
    room = mk_ws_group_new(server);
    if (room && mk_server_start(server) == 0) {
        printf("http://127.0.0.1:%u/\n", mk_server_port(server, 0));
        (void)fflush(stdout);
        (void)getchar(); /* until the end of the input */
    }
}

int main(int argc, char **argv)
{
    struct mk_config *config;
    struct mk_server *server;

    if (argc != 3 || mk_config_new(&config, NULL) != 0 ||
        mk_config_set(config, "SERVER", "Listen", argv[1], "chat") != 0 ||
        mk_config_set(config, "HOST", "DocumentRoot", argv[2], "chat") != 0 ||
        mk_config_set(config, "SERVER", "IndexFile", "chat.html", "chat") != 0 ||
        mk_config_handle(config, "GET", "/room", enter, NULL) != 0 ||
        mk_server_new(&server, config, NULL) != 0 || mk_server_listen(server) != 0)
        return 1;
    run(server);
    mk_server_free(server);
    mk_ws_group_free(room);
    return 0;
}
