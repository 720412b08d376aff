/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BIN_KEEPER_CLIENT_H
#define MK_BIN_KEEPER_CLIENT_H

#include <monkey/server.h>

#include <pthread.h>

/* The server's side of the keeper. Any thread; one request is under way at a time. */

struct mk_keeper_client {
    int sock;        /* -1: there is no keeper */
    bool has_rights; /* the keeper's are more than ours */
    bool restarts;   /* it starts another server in the place of one that dies */
    uint32_t number;
    pthread_mutex_t lock;
};

#define MK_KEEPER_CLIENT_INIT                                                                      \
    {                                                                                              \
        .sock = -1, .lock = PTHREAD_MUTEX_INITIALIZER                                              \
    }

/** The members of struct mk_host, with a struct mk_keeper_client as arg. Without a keeper that has rights: MK_E_ACCESS. */
int mk_keeper_open_file(void *arg, const char *path, int flags, mode_t mode);
int mk_keeper_bind(void *arg, const char *address, bool share);
/** Without one: MK_E_UNSUPPORTED. */
int mk_keeper_bind_socket(void *arg, const char *name);
int mk_keeper_start_helper(void *arg, const char *name);

/** Have the keeper read the configuration again. @return 0, also without a keeper, or an enum mk_error. */
int mk_keeper_reload(struct mk_keeper_client *client) MK_MUST_USE;

/** Give the keeper copies of the listening sockets, which count from mk_keeper_ready on, where it starts servers again. */
void mk_keeper_keep(struct mk_keeper_client *client, const struct mk_server *server);

/**
 * Tell the keeper that the server serves what its configuration says; nothing without a keeper.
 * @param failed  why the reload failed, after which the configuration before it stays in force; "": it did not
 */
void mk_keeper_ready(struct mk_keeper_client *client, const char *failed);

/** Tell the keeper that the server stops, before it closes a listening socket; nothing without a keeper. */
void mk_keeper_stops(struct mk_keeper_client *client);

#endif
