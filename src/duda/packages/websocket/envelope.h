/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DUDA_WEBSOCKET_ENVELOPE_H
#define DUDA_WEBSOCKET_ENVELOPE_H

#include <monkey/websocket.h>

/*
 * A broadcast on its way between servers: `1 ORIGIN KIND LENGTH\n`, then the room's name of LENGTH bytes, then the message.
 * ORIGIN is the server that sent it, which does not deliver it a second time. Pure functions.
 */

enum {
    ENVELOPE_ORIGIN = 32,   /* hexadecimal digits */
    ENVELOPE_ROOM = 1024,   /* bytes of a room's name */
    ENVELOPE_HEAD_MAX = 64, /* bytes before the name */
};

struct envelope {
    char origin[ENVELOPE_ORIGIN + 1];
    enum mk_ws_kind kind;
    struct mk_str room, message; /* borrowed */
};

/** Write what stands before the name. @return its length */
size_t envelope_head(char head[ENVELOPE_HEAD_MAX], const struct envelope *e);

/** Read one that came from elsewhere. @return 0; -1: it is none, or its text is not UTF-8 */
int envelope_read(struct envelope *e, struct mk_str bytes);

#endif
