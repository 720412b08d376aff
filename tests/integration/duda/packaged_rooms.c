/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"
#include "packages/websocket/websocket.h"

/* Rooms of level 3: "+room" joins, "-room" leaves, "room:text" goes to the others there; "close CODE". */

DUDA_REGISTER("Rooms", "rooms");

struct player {
    int messages;
};

static _Atomic unsigned int last_code;
static _Atomic int players;

static void say(ws_request_t *wr, const char *text)
{
    websocket->write(wr, WS_OPCODE_TEXT, (unsigned char *)(uintptr_t)text, strlen(text));
}

static void on_open(duda_request_t *dr, ws_request_t *wr)
{
    char text[32];

    (void)dr;
    snprintf(text, sizeof(text), "protocol %u", websocket->protocol(wr));
    say(wr, text);
}

static void join_many(ws_request_t *wr)
{
    char name[32];
    int joined = 0;

    for (int i = 0; i < 200; i++) {
        snprintf(name, sizeof(name), "many %d", i);
        joined += websocket->join(wr, name) == 0;
    }
    snprintf(name, sizeof(name), "joined %d", joined);
    say(wr, name);
}

static void on_message(duda_request_t *dr, ws_request_t *wr)
{
    char text[128] = "";
    struct player *player = websocket->data(wr);

    (void)dr;
    player->messages++;
    memcpy(text, wr->payload, wr->payload_len < sizeof(text) ? wr->payload_len : sizeof(text) - 1);
    if (text[0] == '+')
        say(wr, websocket->join(wr, text + 1) == 0 ? "in" : "refused");
    else if (text[0] == '-')
        say(wr, websocket->leave(wr, text + 1) == 0 ? "out" : "was not there");
    else if (strcmp(text, "many") == 0)
        join_many(wr);
    else if (strncmp(text, "close ", 6) == 0)
        websocket->close(wr, (unsigned int)atoi(text + 6), "as you wish");
    else if (strchr(text, ':')) {
        char *colon = strchr(text, ':');

        *colon = '\0';
        websocket->to_room(text, wr, WS_OPCODE_TEXT, colon + 1, strlen(colon + 1));
    }
}

static void on_close(duda_request_t *dr, ws_request_t *wr)
{
    (void)dr;
    last_code = websocket->close_code(wr);
    players--;
    free(websocket->data(wr));
}

static void play(duda_request_t *dr)
{
    const struct ws_options options = {.protocols = "chess go",
                                       .origins = "https://games.example",
                                       .max_message = 100,
                                       .deflate = 1,
                                       .data = calloc(1, sizeof(struct player))};

    if (websocket->accept(dr, &options) == 0)
        players++;
    else
        free(options.data);
}

static void state(duda_request_t *dr)
{
    websocket->to_room("lobby", NULL, WS_OPCODE_TEXT, "news", 4);
    response->http_status(dr, 200);
    response->printf(dr, "%u %d", last_code, players);
    response->end(dr, NULL);
}

int duda_main(void)
{
    duda_load_package(websocket, "websocket");
    websocket->set_callback(WS_ON_OPEN, on_open);
    websocket->set_callback(WS_ON_MESSAGE, on_message);
    websocket->set_callback(WS_ON_CLOSE, on_close);
    router->get("/play", play);
    router->get("/state", state);
    return 0;
}
