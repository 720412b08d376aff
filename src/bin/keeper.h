/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BIN_KEEPER_H
#define MK_BIN_KEEPER_H

#include "keeper_client.h"
#include "options.h"
#include "privileges.h"

#include <sys/types.h>

/*
 * A program started as root that is to serve as somebody else becomes two processes. The keeper
 * is the one that was started: it stays root, opens and binds what the configuration names when
 * the server asks for it, hands signals on and ends with the server's exit code. The server is
 * its child, which gives up every right before it reads the first byte of a request.
 */

struct mk_keeper {
    const struct mk_options *options;
    const struct mk_identity *identity; /* what the server becomes */
    pid_t server;
    int sock;
    unsigned stops;              /* signals to end so far */
    void (*on_ready)(void *arg); /* the server serves, for the first time or again after a reload */
    void *arg;
};

/**
 * Fork. In the server, 0 is returned and the client has its socket; in the keeper the server's
 * pid, and keeper is filled but for the callback. Call before there are threads and with signals blocked.
 * @return as said, or -1 with errno.
 */
pid_t mk_keeper_fork(struct mk_keeper *keeper, struct mk_keeper_client *client) MK_MUST_USE;

/**
 * Keep until the server has ended.
 * @param config  of which the first allowed set is made; freed here
 * @return the exit code: the server's own, or 128 and the signal that ended it.
 */
int mk_keeper_run(struct mk_keeper *keeper, struct mk_config *config) MK_MUST_USE;

#endif
