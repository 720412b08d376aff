/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BIN_SYSTEMD_H
#define MK_BIN_SYSTEMD_H

#include <stddef.h>

/* Being started by systemd: sockets that come along, and telling how we are. */

enum { MK_SYSTEMD_SOCKETS_MAX = 64 };

struct mk_systemd_sockets {
    int fds[MK_SYSTEMD_SOCKETS_MAX];
    size_t count;
};

/**
 * Take what systemd left in the environment, out of it. Sockets meant for another process are left
 * alone; a descriptor that is no listening stream socket is left out with a sentence.
 */
void mk_systemd_take(struct mk_systemd_sockets *sockets);

/** Tell a state such as "READY=1". Nothing without systemd, or after mk_systemd_forget. */
void mk_systemd_notify(const char *state);

/** Tell a sentence that systemctl status shows: what and why in one. Both empty: an earlier one goes. */
void mk_systemd_status(const char *what, const char *why);

/** A reload begins. */
void mk_systemd_reloading(void);

/** From now on another process speaks for us. */
void mk_systemd_forget(void);

#endif
