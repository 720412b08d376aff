/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_H1_CONN_PEER_H
#define MK_SERVER_H1_CONN_PEER_H

#include <stdbool.h>
#include <stdint.h>

struct mk_conn;

/* Whose word about addresses is believed. mk_conn_is_trusted is in <monkey/request.h>. */

/** May this peer send a PROXY header? Those of a unix socket that may not are logged. */
bool mk_conn_may_name_peer(const struct mk_conn *c);
/** Take the address of a PROXY header for the connection's peer. @return false: that address has too many connections. */
bool mk_conn_set_peer(struct mk_conn *c, const uint8_t ip[16], uint16_t port);

#endif
