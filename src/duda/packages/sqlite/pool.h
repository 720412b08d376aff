/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_SQLITE_POOL_H
#define MK_DUDA_SQLITE_POOL_H

#undef DUDA_API_LEVEL
#define DUDA_API_LEVEL 3 /* all calls of the object */
#include "duda_api.h"

#include "packages/sqlite/sqlite.h"

#include <stdbool.h>

/* The calls of pools, as packages/sqlite/sqlite.h has them. NULL for a pool or statement is an error. */

sqlite_pool_t *sqlite_pool_new(const char *path, int busy_ms, char *why, size_t size);
void sqlite_pool_free(sqlite_pool_t *pool);
sqlite3 *sqlite_pool_connection(sqlite_pool_t *pool);
sqlite3_stmt *sqlite_pool_prepare(sqlite_pool_t *pool, const char *sql);
int sqlite_pool_release(sqlite_pool_t *pool, sqlite3_stmt *handle);
int sqlite_pool_run(sqlite_pool_t *pool, const char *queries);

/** @param is_wanted  asked after work; false: roll back; NULL: yes */
int sqlite_pool_transaction(sqlite_pool_t *pool, int (*work)(sqlite_pool_t *pool, void *arg),
                            void *arg, bool (*is_wanted)(void *of), void *of);
const char *sqlite_pool_error(sqlite_pool_t *pool);

#endif
