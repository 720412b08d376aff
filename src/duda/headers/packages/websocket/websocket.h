/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DUDA_PACKAGE_WEBSOCKETS_H
#define DUDA_PACKAGE_WEBSOCKETS_H
#include "duda_api.h"
#define WS_OPCODE_CONTINUE 0x00
#define WS_OPCODE_TEXT 0x01
#define WS_OPCODE_BINARY 0x02
#define WS_OPCODE_CLOSE 0x08
#define WS_OPCODE_PING 0x09
#define WS_OPCODE_PONG 0x0a
#define WS_ON_OPEN 0x0    /* the handshake is sent */
#define WS_ON_MESSAGE 0x1 /* a whole message came */
#define WS_ON_ERROR                                                                                \
    0x2 /* before WS_ON_CLOSE of a connection that ended without a closing handshake, or for a fault */
#define WS_ON_CLOSE 0x3   /* once for each that was open: the last call */
#define WS_ON_TIMEOUT 0x4 /* never called: a client that is silent ends as WS_ON_ERROR tells */
typedef unsigned char ws_msg_t;
typedef struct ws_request {
    int socket;
    int channel; /* given at handshake */
    struct duda_request *dr;
    unsigned int opcode;    /* of the message being delivered */
    unsigned char *payload; /* unmasked; valid during the callback; text is valid UTF-8 */
    uint64_t payload_len;
} ws_request_t;
#if DUDA_API_LEVEL >= 3
/* How a connection is accepted; 0 and NULL are the defaults. */
struct ws_options {
    const char *protocols; /* subprotocols, the best first, with blanks between; NULL: none */
    const char *
        origins; /* of pages that may connect, with blanks between; "*": any; NULL: this site's alone */
    uint32_t max_message; /* bytes; a larger message closes with 1009; 0: 1 MB */
    uint32_t
        max_queue; /* bytes that wait for a slow client, beside one message; more closes with 1013; 0: 1 MB */
    void *data; /* for data(); the service frees it in WS_ON_CLOSE */
    /* 1: messages are compressed if the client offers it (RFC 7692); 2: they may also refer to those before, for up to 80 KB of
       memory a connection. A secret beside a stranger's text in one message can be guessed by its length. */
    int deflate;
};
#endif
/* websocket: Messages in both directions (RFC 6455). A connection belongs to the worker of its request, whose call-backs are
   called there. Messages are at most 1 MB, and what waits for a slow client too: it is closed then. Clients that are silent
   for 30 seconds get a ping. With Backplane of monkey-duda(5), what is sent to channels and rooms reaches those of the same
   service on other servers, too, once and in the order of each sender. */
struct duda_api_websockets {
    /* [R] Answer with the opening handshake; dr lives until the connection ends, and end() is not called. channel: for
       broadcast(); -1: none. 0; -1: it is no such request, and was refused. */
    int (*handshake)(duda_request_t *dr, int channel);
    /* Send a message, or WS_OPCODE_PING or WS_OPCODE_CLOSE. Text must be valid UTF-8. On the connection's worker. 0; -1: it
       has ended, or the message would exceed what may wait. */
    int (*write)(struct ws_request *wr, unsigned int opcode, unsigned char *data, uint64_t len);
    /* Send a message to all connections of a channel (-1: to all) except wr, which may be NULL. On the worker of wr. */
    int (*broadcast)(ws_request_t *wr, unsigned char *data, uint64_t len, int opcode, int channel);
    /* Likewise, without a sender. Any thread. */
    int (*broadcast_all)(unsigned char *data, uint64_t len, int opcode, int channel);
    /* [M] Allow broadcasts: without it they return -1. */
    int (*broadcaster)(void);
    /* [M] The function for WS_ON_*. -1: there is no such type. */
    int (*set_callback)(int type, void (*cb)(duda_request_t *, ws_request_t *));
#if DUDA_API_LEVEL >= 3
    /* [R] Level 3: handshake with options, which are copied. */
    int (*accept)(duda_request_t *dr, const struct ws_options *options);
    /* Level 3: the data of the options. */
    void *(*data)(ws_request_t *wr);
    /* Level 3: the number of the agreed subprotocol in the options, from 1; 0: none. */
    unsigned int (*protocol)(ws_request_t *wr);
    /* Level 3: close with a code of RFC 6455 section 7.4, after what waits. reason: at most 123 bytes of UTF-8, or NULL. */
    int (*close)(ws_request_t *wr, unsigned int code, const char *reason);
    /* Level 3, in WS_ON_CLOSE and WS_ON_ERROR: the code of the end; 1005: the client gave none; 1006: there was no closing
       handshake. */
    unsigned int (*close_code)(ws_request_t *wr);
    /* Level 3: from WS_ON_OPEN on, get what is sent to a room as well; at most 100 rooms. The connection leaves all at its
       end. 0 or -1. */
    int (*join)(ws_request_t *wr, const char *room);
    /* Level 3: no more. */
    int (*leave)(ws_request_t *wr, const char *room);
    /* Level 3: send a message to all in a room except wr, on whose worker this is called; NULL: to all, from any thread. */
    int (*to_room)(const char *room, ws_request_t *wr, int opcode, const void *data, uint64_t len);
    /* [M] Level 3: call fn on a worker when broadcasts between servers were lost. missed: MK_TRUE: those of others, for a
       while that is over now; unsent: so many of this server's own, which others may not have got. They are not sent again.
       Without Backplane of monkey-duda(5) it is never called. 0. */
    int (*on_gap)(void (*fn)(int missed, unsigned int unsent));
#endif
};
DUDA_OBJ struct duda_api_websockets *websocket;

/* Services of 2012 name no channel: handshake(dr), broadcast(wr, data, len, opcode), broadcast_all(data, len, opcode). */
#if DUDA_API_LEVEL < 3 && !defined(DUDA_NO_2012_ARITIES)
#define DUDA_WS_THIRD(a, b, c, ...) c
#define DUDA_WS_FIFTH(a, b, c, d, e, ...) e
#define DUDA_WS_SIXTH(a, b, c, d, e, f, ...) f
#define DUDA_WS_HANDSHAKE_1(dr) handshake(dr, -1)
#define DUDA_WS_HANDSHAKE_2(dr, channel) handshake(dr, channel)
#define DUDA_WS_BROADCAST_4(wr, data, len, opcode) broadcast(wr, data, len, opcode, -1)
#define DUDA_WS_BROADCAST_5(wr, data, len, opcode, channel)                                        \
    broadcast(wr, data, len, opcode, channel)
#define DUDA_WS_BROADCAST_ALL_3(data, len, opcode) broadcast_all(data, len, opcode, -1)
#define DUDA_WS_BROADCAST_ALL_4(data, len, opcode, channel)                                        \
    broadcast_all(data, len, opcode, channel)
#define handshake(...)                                                                             \
    DUDA_WS_THIRD(__VA_ARGS__, DUDA_WS_HANDSHAKE_2, DUDA_WS_HANDSHAKE_1, 0)(__VA_ARGS__)
#define broadcast(...)                                                                             \
    DUDA_WS_SIXTH(__VA_ARGS__, DUDA_WS_BROADCAST_5, DUDA_WS_BROADCAST_4, 0, 0, 0)(__VA_ARGS__)
#define broadcast_all(...)                                                                         \
    DUDA_WS_FIFTH(__VA_ARGS__, DUDA_WS_BROADCAST_ALL_4, DUDA_WS_BROADCAST_ALL_3, 0, 0)(__VA_ARGS__)
#endif
#endif
