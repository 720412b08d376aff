/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DUDA_WEBSOCKET_ROOMS_H
#define DUDA_WEBSOCKET_ROOMS_H

#include <monkey/websocket.h>

/* Groups by name. A room is there while it has members. */

struct room_seat;

enum {
    ROOMS_MAX = 100, /* of a connection, beside its channels */
    ROOM_CHANNEL =
        1, /* the first byte of the name of a channel, which no service can give to a room */
};

/** Take a seat in a room, once. @param seats  of the connection, NULL at first. @return 0 or -1. On its worker. */
int room_join(struct room_seat **seats, struct mk_ws *ws, const char *name);
/** @return 0; -1: it was not there. On its worker. */
int room_leave(struct room_seat **seats, struct mk_ws *ws, const char *name);
/** Leave all rooms. */
void room_leave_all(struct room_seat **seats, struct mk_ws *ws);
/** Send to all in the room except a connection; NULL: to all, from any thread. @return 0, also to nobody; -1. */
int room_send(const char *name, struct mk_ws *except, enum mk_ws_kind kind, struct mk_str message);

#endif
