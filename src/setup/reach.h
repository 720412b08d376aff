/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SETUP_REACH_H
#define MK_SETUP_REACH_H

#include "setup/snapshot.h"

#include <monkey/server.h>

/* What the user that the server has become has no right to, said so that it can be mended. */

enum { MK_REACH_NAME = 64 };

/** The name of the user that this process is, or its number. @return name. Any thread. */
const char *mk_reach_user(char name[MK_REACH_NAME]);

/** Give fn a line for each DocumentRoot that this process may not enter, with the folder that is in the way. */
void mk_snapshot_unreachable(const struct mk_snapshot *snapshot, mk_text_fn fn, void *arg);

#endif
