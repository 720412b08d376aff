/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BIN_DAEMON_H
#define MK_BIN_DAEMON_H

#include <monkey/types.h>

#include <stdbool.h>

/* Running in the background. The process that was started stays until it knows how the start went. */

struct mk_daemon {
    bool on;
    int ready; /* where the one that was started waits; -1: nobody does */
};

/**
 * Go into the background: this returns in the new process only, which leads a session of its own
 * in the root directory and still has its stderr. The old one waits for mk_daemon_ready and then
 * exits with 0; if the new one ends before, with 1.
 * @return 0, or -1 with errno (in the old process).
 */
int mk_daemon_start(struct mk_daemon *daemon) MK_MUST_USE;

/** Standard input and output end here, and reports go to syslog. Nothing unless in the background. */
void mk_daemon_detach(const struct mk_daemon *daemon);

/** The start went well. */
void mk_daemon_ready(struct mk_daemon *daemon);

/** Another process will say so. */
void mk_daemon_leave(struct mk_daemon *daemon);

#endif
