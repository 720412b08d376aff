/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHEETAH_PLACE_H
#define CHEETAH_PLACE_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/un.h>

struct mk_context;
struct mk_setup;

/* Where a shell is found: the file of a Unix socket, or the standard input and output of the program. */

enum { PLACE_PATH = sizeof(((struct sockaddr_un *)0)->sun_path), PLACE_GROUP = 64 };

struct place {
    char path[PLACE_PATH];
    char group[PLACE_GROUP]; /* whose members may use it; "": nobody but its user and root */
    gid_t gid;
    bool has_scripts; /* they may have the server's user, who proves nothing then */
    dev_t dev;        /* of the file, to know it again */
    ino_t ino;
};

/** RUNDIR/cheetah.PORT. @return 0, or an error after saying why (mk_plugin_why). */
int cheetah_place_choose(const struct mk_context *ctx, char path[PLACE_PATH]);

/** In check: the surrounding program may have to make the socket. @return 0 or MK_E_NOMEM. */
int cheetah_place_need(struct mk_setup *setup, const char *socket, const char *group);

/** @param group  name or number; NULL: none @return false: there is no such group. */
bool cheetah_place_find_group(struct place *p, const char *group);

/**
 * Listen at p->path, for this user, root and p->group alone from the first moment on. The socket of a server that
 * has died is replaced.
 * @return the descriptor, non-blocking; or an error after saying why.
 */
int cheetah_place_listen(const struct mk_context *ctx, struct place *p);

/** Remove the file, unless it became another one. */
void cheetah_place_remove(const struct place *p);

/** Why who connected may not use the shell; NULL: it may. The mode of the file said so too, but could have been changed. */
const char *cheetah_place_refusal(const struct place *p, int fd);

/**
 * Standard input and output, as descriptions of their own: those of others who use the same terminal or
 * pipe stay blocking.
 * @return 0, or an error after saying why.
 */
int cheetah_place_open_terminal(const struct mk_context *ctx, int *in, int *out);

#endif
