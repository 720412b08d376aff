/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_CORE_FD_H
#define MK_CORE_FD_H

#include "core/addr.h"

#include <stdbool.h>
#include <sys/types.h>

/* Descriptors. All are close-on-exec; sockets are non-blocking. */

/** Close if open and set to -1. */
void mk_fd_close(int *fd);

struct mk_listen_options {
    int backlog;
    bool reuse_port; /* SO_REUSEPORT: several sockets, one address */
    int fast_open;   /* TCP_FASTOPEN queue length; 0: off */
};

/**
 * A socket bound to addr but not listening. A unix socket file that nobody serves is replaced.
 * @return the descriptor, or an error with errno kept: MK_E_BUSY when somebody listens there,
 *         MK_E_ACCESS, MK_E_SYS, ...
 */
int mk_fd_bind(const struct mk_addr *addr, bool reuse_port) MK_MUST_USE;
/** Without IPv6 in the kernel mk_fd_bind takes every IPv4 address for "every address": make that of addr, if it is so. */
void mk_fd_fall_back(struct mk_addr *addr);
/** A unix socket whose file has this mode, less the umask, from its first moment on. @return as mk_fd_bind. */
int mk_fd_bind_file(const struct mk_addr *addr, mode_t mode) MK_MUST_USE;

/**
 * The file of a unix socket outlives its server: remove it if no server listens behind it.
 * @return 0, also when it stays because a server does; MK_E_ACCESS: this process may not find out, or not remove it.
 */
int mk_fd_remove_stale(const struct mk_addr *addr);

/** Let further sockets of this user, bound with reuse_port, overlap with this one, which may listen already. */
void mk_fd_share_port(int fd);

/** Seconds that the kernel keeps a TCP connection to itself while its client says nothing. */
enum { MK_FD_DEFER_S = 1 };

/**
 * Make a bound socket listen with the options. TCP_NODELAY is set here, because accepted sockets
 * inherit it, which saves a call each. TCP_DEFER_ACCEPT lets most connections arrive together with
 * their first bytes, which saves a read in vain, an epoll registration and a turn of the loop; a
 * silent client is seen MK_FD_DEFER_S later.
 * @return 0 or an error with errno kept.
 */
int mk_fd_listen(int fd, const struct mk_addr *addr,
                 const struct mk_listen_options *options) MK_MUST_USE;

#endif
