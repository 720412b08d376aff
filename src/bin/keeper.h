/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BIN_KEEPER_H
#define MK_BIN_KEEPER_H

#include "crash_note.h"
#include "keeper_desk.h"
#include "options.h"
#include "privileges.h"
#include "restarts.h"

#include <sys/types.h>

/*
 * A program started as root that is to serve as somebody else becomes two processes. The keeper
 * is the one that was started: it stays root, opens and binds what the configuration names when
 * the server asks for it, hands signals on and ends with the server's exit code. The server is
 * its child, which gives up every right before it reads the first byte of a request.
 *
 * Where a server that dies is to be replaced (Restart), there is a keeper without root too. It keeps what the next one begins
 * with: the configuration in force, which it has checked itself, and the listening sockets, in whose queues clients wait
 * meanwhile.
 */

enum { MK_KEEPER_REASON = 512 };

struct mk_keeper {
    const struct mk_options *options;
    const struct mk_identity *identity; /* what the server becomes; NULL: it stays who it is */
    const struct mk_host *host;         /* for the configurations that it reads */
    bool restarts;                      /* start another server when one dies */
    struct mk_config *config;           /* in force; taken */
    /** In the server: sock is its end of the line to the keeper. @return its exit code. */
    int (*serve)(void *arg, int sock);
    void (*on_ready)(void *arg); /* the server serves, for the first time or again after a reload */
    void (*on_stop)(void *arg); /* it will not be started again: sockets from elsewhere may close */
    void *arg;

    /* The rest is zeroed by the caller; the server may read it. */
    unsigned restarted;
    char reason[MK_KEEPER_REASON]; /* why, the last time */
    struct mk_crash_note *note;    /* of the server's last moment; NULL: there is none */
    struct mk_keeper_desk desk;
    struct mk_config *coming; /* what a reload that is under way has read; NULL: none */
    struct mk_restarts deaths;
    pid_t server;
    int signals;
    unsigned stops; /* signals to end so far */
    bool has_served, stopping;
    bool owes_reload; /* the server was sent a signal to reload, and has not said that it does */
    bool is_new;      /* the server was started in the place of another, and does not serve yet */
};

/**
 * Fork the server, and keep until the last one has ended. Call before there are threads and with signals blocked. In a
 * server this does not return: it exits with the code of serve.
 * @return the exit code: the server's own, or 128 and the signal that ended it.
 */
int mk_keeper_run(struct mk_keeper *keeper) MK_MUST_USE;

#endif
