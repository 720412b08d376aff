/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_RUN_LISTENER_H
#define MK_SERVER_RUN_LISTENER_H

#include "core/loop.h"
#include "server/h1/endpoint.h"
#include "setup/settings.h"
#include "server/link/transport.h"

#include <stdatomic.h>

struct mk_server;
struct mk_worker;

/**
 * An address that is listened on. It is never freed before the server, since connections name it; a removed
 * one stays, closed, and is opened again when its address comes back. The control thread writes it while no
 * worker looks: before their threads start, or between asking them to update and their answer.
 */
struct mk_listener {
    struct mk_endpoint endpoint; /* of addr */
    struct mk_listener *next;
    struct mk_addr addr;           /* with the real port */
    struct mk_addr asked;          /* as configured */
    char asked_text[MK_ADDR_TEXT]; /* as written */
    bool open;
    bool wanted;           /* in the configuration that is being put in force */
    bool wants_proxy;      /* what it says of proxy */
    bool is_for_some;      /* bound by mk_socket_bind's rules */
    bool fresh;            /* opened for it */
    bool inherited;        /* came from outside */
    atomic_int bound_by;   /* the process that bound its TCP sockets; 0: another did for it */
    bool lingers;          /* unwanted, but its handshakes shall end: another takes its place */
    atomic_uint lingering; /* ports that do so now */
    unsigned nfds;         /* one for each worker, or one in all */
    int *fds;              /* nworkers long; -1: closed */
    atomic_uint users;     /* ports that wait on the one socket */
};

/**
 * A socket of the listener is about to be closed for good: a copy that a child of this process has, forked without exec,
 * keeps neither the port nor clients that would wait for it.
 */
void mk_listener_end_socket(const struct mk_listener *l, int fd);

/** One accepting end: a listener's socket on a worker's loop, or on the acceptor's. */
struct mk_port {
    struct mk_watch watch;
    struct mk_timer resume;
    struct mk_timer leave;
    struct mk_list link;
    struct mk_ports *ports;
    struct mk_server *server;
    struct mk_worker *worker; /* NULL: the acceptor, which chooses one */
    struct mk_loop *loop;
    struct mk_listener *listener;
    const struct mk_worker
        *lender;  /* whose socket it is, while that one is blocked; NULL: our own */
    bool shared;  /* several loops wait on this socket */
    bool paused;  /* no room: not watched */
    bool waiting; /* it was so a moment ago */
    bool leaving; /* the listener has let go of this socket, which accepts until the timer */
};

/** The ports of one loop. */
struct mk_ports {
    struct mk_list list;
    unsigned npaused;
    int reserve_fd; /* given up to be able to refuse when descriptors are short; -1: none */
};

/**
 * Open every address of the settings that is not open yet: inherited socket, plain bind, or the
 * host's bind. One that overlaps with an open one (127.0.0.1:80 and 80) shares its port, and what
 * it covers stays open. On failure those opened by this call are closed again.
 * @param why  out: a sentence; size bytes
 * @return 0 or an error.
 */
int mk_listeners_open(struct mk_server *server, const struct mk_server_settings *set, char *why,
                      size_t size) MK_MUST_USE;
/** Close what the last mk_listeners_open opened. */
void mk_listeners_undo(struct mk_server *server);
/** After all ports were updated: what is no longer wanted is closed now. */
void mk_listeners_settle(struct mk_server *server);
void mk_listeners_free(struct mk_server *server);

void mk_ports_init(struct mk_ports *ports);
/** Begin to accept on every wanted listener that has no port here yet; end those that are not. On the loop's thread. @return 0 or an error. */
int mk_ports_update(struct mk_ports *ports, struct mk_server *server, struct mk_worker *worker,
                    struct mk_loop *loop) MK_MUST_USE;
/** Accept for workers that are blocked, on their sockets, and no longer for those that are back. On the worker's thread. */
void mk_ports_lend(struct mk_worker *w);
/** Accept what waits (up to a bound) and stop listening. On the loop's thread. */
void mk_ports_close(struct mk_ports *ports);
/** What is left after the loop has ended. */
void mk_ports_free(struct mk_ports *ports);
/** Paused ports go on: there is room again. */
void mk_ports_resume(struct mk_ports *ports);

#endif
