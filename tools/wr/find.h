/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_FIND_H
#define WR_FIND_H

#include "tree.h"

/** What a target is named by. */
enum find_by { FIND_PID, FIND_NAME, FIND_PORT, FIND_UNIT };

/**
 * Add the processes that value names: a number; the name of a process or of its executable; a port of TCP where it
 * listens; a unit of systemd. This process itself is never among them.
 * @return how many were added; 0: there is none, or we may not see who has the socket
 */
size_t find_processes(struct tree *t, enum find_by by, const char *value);

#endif
