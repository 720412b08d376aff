/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_SERVER_H
#define MK_SERVER_SERVER_H

#include <monkey/server.h>

/* What lib/ asks of a server beyond its public face: life with a snapshot in hand. */

struct mk_snapshot;

/**
 * Make a server from a checked snapshot, of which it takes a reference.
 * @return it, or NULL without memory.
 */
struct mk_server *mk_server_create(struct mk_snapshot *snapshot,
                                   const struct mk_host *host) MK_MUST_USE;

/** The one in force. */
const struct mk_snapshot *mk_server_snapshot(const struct mk_server *server);

/** Replace the snapshot; see mk_server_reload. Takes a reference on success. @return 0 or an error; server->why. */
int mk_server_swap(struct mk_server *server, struct mk_snapshot *snapshot) MK_MUST_USE;

#endif
