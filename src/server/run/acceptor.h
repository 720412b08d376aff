/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_RUN_ACCEPTOR_H
#define MK_SERVER_RUN_ACCEPTOR_H

#include "core/loop.h"
#include "server/run/handoff.h"
#include "server/run/listener.h"

/** The Fair scheduler: one thread that accepts and gives each socket to the worker with the fewest connections. */
struct mk_acceptor {
    struct mk_loop loop;
    struct mk_server *server;
    struct mk_ports ports;
    pthread_t thread;
    bool started;
    atomic_bool is_full;      /* every ring was: workers tell when one has room again */
    struct mk_worker *chosen; /* for the next socket; NULL: every ring is full */
    unsigned next; /* where the search for the least loaded begins, so that equals take turns */
};

int mk_acceptor_init(struct mk_acceptor *a, struct mk_server *server) MK_MUST_USE;
int mk_acceptor_start(struct mk_acceptor *a) MK_MUST_USE;
void mk_acceptor_fini(struct mk_acceptor *a);

/** May a socket be accepted? false: every ring is full, and its ports go on when a worker has taken some. */
bool mk_acceptor_has_room(struct mk_acceptor *a);
/** Hand an accepted socket to the worker that mk_acceptor_has_room has chosen for it. */
void mk_acceptor_give(struct mk_acceptor *a, const struct mk_endpoint *endpoint, int fd,
                      const struct mk_peer *peer, bool busy);

/** A worker has taken sockets from its ring. */
void mk_acceptor_taken(struct mk_acceptor *a, const struct mk_handoff *ring);

#endif
