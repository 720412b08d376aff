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
#define WS_ON_OPEN 0x0
#define WS_ON_MESSAGE 0x1
#define WS_ON_ERROR 0x2
#define WS_ON_CLOSE 0x3
#define WS_ON_TIMEOUT 0x4
typedef unsigned char ws_msg_t;
typedef struct ws_request {
    int socket;
    int channel; /* given at handshake */
    struct duda_request *dr;
    unsigned int opcode;    /* of the message being delivered */
    unsigned char *payload; /* unmasked; valid during the callback */
    uint64_t payload_len;
} ws_request_t;
struct duda_api_websockets {
    int (*handshake)(duda_request_t *dr,
                     int channel); /* [R] upgrade, or 400 and -1; channel -1 = none in particular */
    int (*write)(struct ws_request *wr, unsigned int opcode, unsigned char *data, uint64_t len);
    int (*broadcast)(ws_request_t *wr, unsigned char *data, uint64_t len, int opcode, int channel);
    /* to everybody on channel (-1 = all) except wr itself */
    int (*broadcast_all)(unsigned char *data, uint64_t len, int opcode,
                         int channel); /* same, no sender; any thread */
    int (*broadcaster)(void);          /* [M] required before any broadcast */
    int (*set_callback)(int type, void (*cb)(duda_request_t *,
                                             ws_request_t *)); /* [M] WS_ON_*; -1 bad type */
};
DUDA_OBJ struct duda_api_websockets *websocket;
#endif
