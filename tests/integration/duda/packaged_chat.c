/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"
#include "packages/websocket/websocket.h"

/* A chat as of 2012, without channels, and one with them: what a client sends, the others get. */

DUDA_REGISTER("Chat", "chat");

static _Atomic int opened, closed, failed, ended, refused, misused;
static ws_request_t *last; /* kept longer than it lives */

static void on_open(duda_request_t *dr, ws_request_t *wr)
{
    opened++;
    last = wr;
    websocket->write(wr, WS_OPCODE_TEXT, (unsigned char *)"welcome", 7);
    misused += wr->dr != dr || !request->validate_request(dr);
}

static void on_message(duda_request_t *dr, ws_request_t *wr)
{
    (void)dr;
    if (wr->payload_len == 4 && memcmp(wr->payload, "ping", 4) == 0)
        websocket->write(wr, WS_OPCODE_PING, (unsigned char *)"beat", 4);
    else if (wr->payload_len == 3 && memcmp(wr->payload, "bye", 3) == 0)
        websocket->write(wr, WS_OPCODE_CLOSE,
                         (unsigned char *)"\x0f\xa0"
                                          "so long",
                         9);
    else if (wr->channel == -1)
        websocket->broadcast(wr, wr->payload, wr->payload_len, wr->opcode);
    else
        websocket->broadcast(wr, wr->payload, wr->payload_len, wr->opcode, wr->channel);
}

static void on_error(duda_request_t *dr, ws_request_t *wr)
{
    (void)dr, (void)wr;
    failed++;
}

static void on_close(duda_request_t *dr, ws_request_t *wr)
{
    closed++;
    misused += wr->dr != dr || strncmp(dr->sr->uri.data, "/chat/", 6) != 0;
}

static void on_end(duda_request_t *dr)
{
    (void)dr;
    ended++;
}

/* "/chat/ws", or "/chat/ws?7": a channel. */
void handshake_now(duda_request_t *dr)
{
    int result;

    dr->end_callback = on_end;
    if (dr->sr->query_string.data)
        result = websocket->handshake(dr, atoi(dr->sr->query_string.data));
    else
        result = websocket->handshake(dr);
    refused += result == -1;
    misused += websocket->handshake(dr) != -1 || response->print(dr, "x", 1) != -1;
}

void shout(duda_request_t *dr)
{
    websocket->broadcast_all((unsigned char *)"all", 3, WS_OPCODE_TEXT);
    websocket->broadcast_all((unsigned char *)"seven", 5, WS_OPCODE_TEXT, 7);
    response->http_status(dr, 204);
    response->end(dr, NULL);
}

void counts(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->printf(dr, "%d %d %d %d %d %d", opened, closed, failed, ended, refused, misused);
    response->end(dr, NULL);
}

void wrong(duda_request_t *dr)
{
    unsigned char byte = 'x';

    response->http_status(dr, 200);
    response->printf(dr, "%d %d %d %d %d %d %d", websocket->write(last, WS_OPCODE_TEXT, &byte, 1),
                     websocket->write(NULL, WS_OPCODE_TEXT, &byte, 1),
                     websocket->broadcast(last, &byte, 1, WS_OPCODE_TEXT),
                     websocket->broadcast_all(NULL, 1, WS_OPCODE_TEXT),
                     websocket->broadcast_all(&byte, 1, WS_OPCODE_PING),
                     websocket->set_callback(9, on_open), websocket->handshake(NULL));
    response->end(dr, NULL);
}

int duda_main(void)
{
    unsigned char byte = 'x';

    duda_load_package(websocket, "websocket");
    misused += websocket->broadcast_all(&byte, 1, WS_OPCODE_TEXT) != -1;
    websocket->broadcaster();
    websocket->set_callback(WS_ON_OPEN, on_open);
    websocket->set_callback(WS_ON_MESSAGE, on_message);
    websocket->set_callback(WS_ON_ERROR, on_error);
    websocket->set_callback(WS_ON_CLOSE, on_close);
    map->static_add("/ws", "handshake_now");
    map->static_add("/shout", "shout");
    map->static_add("/counts", "counts");
    map->static_add("/wrong", "wrong");
    return 0;
}
