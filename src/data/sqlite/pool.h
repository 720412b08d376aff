/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DATA_SQLITE_POOL_H
#define MK_DATA_SQLITE_POOL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * A database file of which each thread that asks has a connection of its own, at most 64 of them, with a write-ahead log and
 * synchronous=FULL. Each connection keeps its last 32 statements prepared. NULL for a pool or statement is an error.
 */

typedef struct sqlite_pool sqlite_pool_t;

/**
 * Open a file, which is made if it is missing, with the connection of this thread.
 * @param busy_ms  how long a call waits for locks of others
 * @param why      out: on failure, the reason for people, static
 * @return NULL: it cannot be opened, or no memory.
 */
sqlite_pool_t *sqlite_pool_new(const char *path, int busy_ms, const char **why);
/** After the last call of all threads. */
void sqlite_pool_free(sqlite_pool_t *pool);

/** @return the connection of this thread; NULL: there are 64, or it cannot be opened. */
sqlite3 *sqlite_pool_connection(sqlite_pool_t *pool);
/** @return a statement of this thread's connection, prepared, until it is released; NULL: all 32 are lent, or the text is no statement. */
sqlite3_stmt *sqlite_pool_prepare(sqlite_pool_t *pool, const char *sql);
/** @return 0; -1: it is none of this thread's. */
int sqlite_pool_release(sqlite_pool_t *pool, sqlite3_stmt *handle);
/** Run statements whose rows nobody wants. @return 0; -1 */
int sqlite_pool_run(sqlite_pool_t *pool, const char *queries);

enum { SQLITE_POOL_LOST = -2 };
/**
 * Call work between BEGIN IMMEDIATE and COMMIT.
 * @param work       not 0: roll back
 * @param is_wanted  asked after work; false: roll back; NULL: yes
 * @return 0; -1: it was rolled back; SQLITE_POOL_LOST: likewise, for nobody wants it.
 */
int sqlite_pool_transaction(sqlite_pool_t *pool, int (*work)(sqlite_pool_t *pool, void *arg),
                            void *arg, bool (*is_wanted)(void *of), void *of);
/** @return what has gone wrong in this thread's connection, until its next call. */
const char *sqlite_pool_error(sqlite_pool_t *pool);

#endif
