/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_RUN_SENTRY_H
#define MK_SERVER_RUN_SENTRY_H

#include "core/loop.h"

#include <semaphore.h>

struct mk_server;

/*
 * The sentry looks after the workers: one whose callback does not return is reported while it is blocked, gets no further
 * connections of Fair, and those that come to its own sockets of ReusePort are accepted by the others. It is a thread that
 * looks a few times a second, and sleeps when all workers do.
 */

struct mk_sentry {
    struct mk_lookout lookout; /* of the workers' loops */
    pthread_t thread;
    bool started;
    sem_t called;
};

/** Before the workers start. Without a thread nobody looks after them. */
void mk_sentry_start(struct mk_server *server);
/** After the workers have ended: it has seen that, or does in its next tick. */
void mk_sentry_join(struct mk_server *server);

#endif
