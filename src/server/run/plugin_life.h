/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_RUN_PLUGIN_LIFE_H
#define MK_SERVER_RUN_PLUGIN_LIFE_H

#include "setup/snapshot.h"

struct mk_server;

/**
 * The configuration is about to be in force: start of each plugin, or of none.
 * @param old  the one before; NULL at the start
 * @return 0 or an error; server->why.
 */
int mk_plugins_start(struct mk_server *server, struct mk_snapshot *s,
                     const struct mk_snapshot *old) MK_MUST_USE;

/** What mk_server_plugin tells. @return 0 or MK_E_NOMEM. */
int mk_plugins_keep_facts(struct mk_server *server) MK_MUST_USE;

#endif
