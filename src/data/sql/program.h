/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DATA_SQL_PROGRAM_H
#define MK_DATA_SQL_PROGRAM_H

#include "data/sql/database.h"

#include <monkey/events.h>

/* The home of databases on a worker of a program; requests are struct mk_request. */

struct program_timer;

struct program_home {
    struct db_home base; /* first */
    struct mk_worker *worker;
    struct program_timer *timers;
};

/** @param home  zeroed */
void program_home_init(struct program_home *home, struct mk_worker *w);
/** End its connections, pools and timers. On its worker, or after its thread has ended. */
void program_home_fini(struct program_home *home);

#endif
