/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BIN_KEEPER_DESK_H
#define MK_BIN_KEEPER_DESK_H

#include "allowed.h"
#include "kept.h"

#include <sys/types.h>

/*
 * Where the keeper answers the server. Everything that arrives is taken for the words of an
 * enemy: only names of the allowed set are served, one request at a time, and nothing here blocks.
 */

struct mk_keeper_desk {
    int sock;
    struct mk_allowed allowed;
    struct mk_kept kept; /* sockets for the next server */
    const char *user;    /* for helpers that name none */
    uid_t uid;           /* of the server, whose sockets' files become */
    gid_t gid;
    unsigned helpers; /* started since helpers_s */
    int64_t helpers_s;
    unsigned complaints; /* lines that the server provoked so far; there is an end to them */
    void *arg;
    /** Replace the allowed set from the configuration, or keep it when that has faults. @return 0 or an enum mk_error. */
    int (*reload)(void *arg, struct mk_allowed *allowed);
    /** The server is ready, at first or again after a reload; failed: why that failed, printable, or empty. */
    void (*ready)(void *arg, const char *failed);
    /** The server stops by itself. */
    void (*stops)(void *arg);
};

/** Add a name of the configuration; an mk_config_resources function with a struct mk_allowed. */
void mk_keeper_desk_allow(void *allowed, enum mk_resource kind, const char *name);

/**
 * Answer one request.
 * @return false: the server has closed its end.
 */
bool mk_keeper_desk_answer(struct mk_keeper_desk *desk);

#endif
