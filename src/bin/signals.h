/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BIN_SIGNALS_H
#define MK_BIN_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* Signals as something to read. */

/** From keeper to server: end without grace. */
enum { MK_SIGNAL_END_NOW = SIGUSR2 };

/** Block those we wait for, so that none is lost before somebody waits; ignore SIGPIPE. Before there are threads. */
void mk_signals_block(void);

/**
 * A descriptor that is readable when a signal waits.
 * @param children  SIGCHLD too, which is blocked from now on
 * @return it, or -1 with errno.
 */
int mk_signals_open(bool children);

/**
 * @param sender  out: the process that sent it, 0 for one that cannot be seen from here; NULL: nobody asks
 * @return the next signal that waits, or 0.
 */
int mk_signals_next(int fd, unsigned *sender);

#endif
