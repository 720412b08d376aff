/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BIN_BINDING_H
#define MK_BIN_BINDING_H

#include <stdbool.h>
#include <sys/types.h>

/* Binding addresses for others, with more rights than they have. */

/**
 * As mk_address_bind, but the directory of a unix socket may be changed by nobody but root and us
 * (else EACCES), and anybody may connect to it, as with a port: the file belongs to root, its
 * clients hardly ever do.
 * @return the descriptor, or -1 with errno.
 */
int mk_binding_open(const char *address, bool share);

/** Remove the file of a unix socket that nobody serves any more, from such a directory. */
void mk_binding_remove_stale(const char *address);

/** The same for a unix socket that is for some: mk_socket_bind. Its file becomes the owner's. */
int mk_binding_open_socket(const char *name, uid_t owner, gid_t group);
/** mk_binding_remove_stale by the name of such a socket. */
void mk_binding_remove_stale_socket(const char *name);

#endif
