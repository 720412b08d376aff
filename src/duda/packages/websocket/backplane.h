/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DUDA_WEBSOCKET_BACKPLANE_H
#define DUDA_WEBSOCKET_BACKPLANE_H

#include <monkey/websocket.h>

/*
 * Broadcasts between servers, by Redis. Each server delivers its own at once, publishes them, and hears those of the others on
 * one of its workers. A worker publishes on one connection, so the order of a sender is kept. Without [DUDA] Backplane
 * nothing happens.
 */

/** In duda_package_main(). @return 0; -1: it is configured, and cannot be had: logged */
int backplane_init(void);

/** Send what was delivered here to the other servers. Any thread. */
void backplane_send(const char *room, enum mk_ws_kind kind, struct mk_str message);

/** Call fn when messages were lost: on_gap() of the object. */
void backplane_on_gap(void (*fn)(int missed, unsigned unsent));

#endif
