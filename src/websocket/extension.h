/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBSOCKET_EXTENSION_H
#define WEBSOCKET_EXTENSION_H

#include <monkey/types.h>

#include <stdbool.h>

/* The negotiation of permessage-deflate (RFC 7692 sections 5 and 7.1): fields in, an agreement out. */

enum {
    WS_WINDOW_MIN = 9, /* bits; zlib has no raw streams of 8 */
    WS_WINDOW_OURS = 12,
    WS_WINDOW_MAX = 15,
    WS_EXTENSION_ROOM = 160,
};

/** What was agreed on. */
struct ws_deflate {
    bool is_agreed;
    bool keeps_sent,
        keeps_received; /* the window lasts from message to message: context takeover */
    uint8_t sent_bits, received_bits; /* of the windows */
};

/** What the server wants. */
struct ws_deflate_rules {
    bool is_allowed;
    bool may_keep_sent, may_keep_received;
};

/**
 * Take a line of Sec-WebSocket-Extensions: the first offer that can be met is agreed on, others are declined. Offers with
 * parameters that are unknown, appear twice or have wrong values are declined (section 7.1).
 */
void ws_deflate_offer(struct ws_deflate *d, const struct ws_deflate_rules *rules,
                      struct mk_str value);

/** Write the value of the answer's field. @return its length */
size_t ws_deflate_answer(char dst[WS_EXTENSION_ROOM], const struct ws_deflate *d);

#endif
