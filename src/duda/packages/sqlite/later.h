/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_SQLITE_LATER_H
#define MK_DUDA_SQLITE_LATER_H

#undef DUDA_API_LEVEL
#define DUDA_API_LEVEL 3 /* all calls of the object */
#include "duda_api.h"

#include "packages/sqlite/sqlite.h"

#include "data/sqlite/pool.h"

#include <stdbool.h>

/** The functions of a service, as query_later() and transaction_later() of packages/sqlite/sqlite.h have them. */
struct sqlite_work {
    int (*work)(sqlite_pool_t *pool, void *arg);
    void (*done)(duda_request_t *dr, int result, void *arg);
    void (*release)(void *arg); /* NULL: nothing to do */
    void *arg;
};

/** @return 0; -1: as for task->run(), and nothing is called */
int sqlite_later(duda_request_t *dr, sqlite_pool_t *pool, bool is_transaction,
                 const struct sqlite_work *calls);

#endif
