/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHEETAH_PLACE_H
#define CHEETAH_PLACE_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/un.h>

struct mk_context;

/* Where a shell is found: the file of a Unix socket, or the standard input and output of the program. */

struct place {
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
    dev_t dev; /* of the file, to know it again */
    ino_t ino;
};

/** RUNDIR/cheetah.PORT. @return 0, or an error after saying why (mk_plugin_why). */
int place_choose(const struct mk_context *ctx, char path[sizeof(((struct place *)0)->path)]);

/**
 * Listen at p->path, for this user and root alone from the first moment on. The socket of a server that
 * has died is replaced.
 * @return the descriptor, non-blocking; or an error after saying why.
 */
int place_listen(const struct mk_context *ctx, struct place *p);

/** Remove the file, unless it became another one. */
void place_remove(const struct place *p);

/** May who connected use the shell? The mode of the file said so too, but could have been changed. */
bool place_accepts(int fd);

/**
 * Standard input and output, as descriptions of their own: those of others who use the same terminal or
 * pipe stay blocking.
 * @return 0, or an error after saying why.
 */
int place_open_terminal(const struct mk_context *ctx, int *in, int *out);

#endif
