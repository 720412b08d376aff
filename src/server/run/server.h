/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_RUN_SERVER_H
#define MK_SERVER_RUN_SERVER_H

#include <monkey/server.h>

#include <stdbool.h>

/* What lib/ asks of a server beyond its public face: life with a snapshot in hand. */

struct mk_snapshot;
struct mk_worker;

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

/**
 * Start the plugins of a server that was not started, on the calling thread, call fn on its first worker, and stop them: no
 * socket is opened, and no thread begins but those of plugins. It may be freed then, or used so again.
 * @return 0, or an error without a call of fn; server->why.
 */
int mk_server_alone(struct mk_server *server, void (*fn)(struct mk_worker *w, void *arg),
                    void *arg) MK_MUST_USE;

/* ---- telling how a start or a reload went; control thread ---- */

/** Keep a warning of the first configuration, one line without its end, until the error log is open. */
void mk_start_report_line(struct mk_server *server, bool is_warning, struct mk_str line);

/** Another reload begins: what the one before found is forgotten. */
void mk_reload_begin(struct mk_server *server);

/** Log what was found wrong, one line without its end, already escaped; and keep it for mk_server_reload_report. */
void mk_reload_report_line(struct mk_server *server, bool is_warning, struct mk_str line);

/** Log, keep and count that it failed. */
void mk_reload_report_failed(struct mk_server *server, const char *why);

#endif
