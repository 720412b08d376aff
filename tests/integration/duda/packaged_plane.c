/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"
#include "packages/websocket/websocket.h"

/* A chat for several servers. What a client says goes to all others; "+room" joins, "room:text" goes to the others there. */

DUDA_REGISTER("Plane", "plane");

static _Atomic int gaps, unsent, wanted, clients;

static void on_gap(int missed, unsigned int n)
{
    gaps += missed == MK_TRUE;
    unsent += (int)n;
}

static void on_open(duda_request_t *dr, ws_request_t *wr)
{
    (void)dr;
    clients++;
    websocket->write(wr, WS_OPCODE_TEXT, (unsigned char *)"welcome", 7);
}

static void on_close(duda_request_t *dr, ws_request_t *wr)
{
    (void)dr, (void)wr;
    clients--;
}

static void on_message(duda_request_t *dr, ws_request_t *wr)
{
    char text[256] = "", *colon;

    (void)dr;
    if (wr->opcode == WS_OPCODE_TEXT && wr->payload_len < sizeof(text))
        memcpy(text, wr->payload, wr->payload_len);
    colon = strchr(text, ':');
    if (text[0] == '+') {
        websocket->join(wr, text + 1);
        websocket->write(wr, WS_OPCODE_TEXT, (unsigned char *)"in", 2);
    } else if (colon) {
        *colon = '\0';
        websocket->to_room(text, wr, WS_OPCODE_TEXT, colon + 1, strlen(colon + 1));
    } else {
        websocket->broadcast(wr, wr->payload, wr->payload_len, (int)wr->opcode, -1);
    }
}

static void open_socket(duda_request_t *dr)
{
    const struct ws_options options = {
        .origins = "*", .max_queue = 16 << 20, .max_message = 4 << 20};

    websocket->accept(dr, &options);
}

static void shout(int n)
{
    char text[16];

    for (int i = 0; i < n; i++) {
        const int len = snprintf(text, sizeof(text), "%d", i);

        websocket->broadcast_all((unsigned char *)text, (uint64_t)len, WS_OPCODE_TEXT, -1);
    }
}

static int number_of(duda_request_t *dr)
{
    long n = 0;

    query->get_number(dr, "n", &n);
    return (int)n;
}

static void burst(duda_request_t *dr)
{
    shout(number_of(dr));
    response->send(dr, 200, "text/plain", "done");
}

static void *in_a_thread(void *arg)
{
    while (1) {
        shout(__atomic_exchange_n((int *)&wanted, 0, __ATOMIC_SEQ_CST));
        usleep(1000);
    }
    return arg;
}

static void threaded(duda_request_t *dr)
{
    wanted = number_of(dr);
    response->send(dr, 200, "text/plain", "soon");
}

static void counts(duda_request_t *dr)
{
    response->send(dr, 200, "text/plain", "%d %d %d", gaps, unsent, clients);
}

int duda_main()
{
    duda_load_package(websocket, "websocket");
    websocket->broadcaster();
    websocket->set_callback(WS_ON_OPEN, on_open);
    websocket->set_callback(WS_ON_MESSAGE, on_message);
    websocket->set_callback(WS_ON_CLOSE, on_close);
    websocket->on_gap(on_gap);
    router->get("/ws", open_socket);
    router->get("/burst", burst);
    router->get("/thread", threaded);
    router->get("/counts", counts);
    worker->spawn(in_a_thread, NULL);
    return 0;
}
