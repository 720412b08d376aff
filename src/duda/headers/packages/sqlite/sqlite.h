/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DUDA_PACKAGE_SQLITE_H
#define DUDA_PACKAGE_SQLITE_H
#include <sqlite3.h>
#include "duda_api.h"
typedef sqlite3 sqlite_db_t;
typedef sqlite3_stmt sqlite_handle_t;
/* The first argument of exec()'s call-back. */
struct sqlite_cb_data {
    duda_request_t *dr;
    void *data;
};
/* A database file of which each thread that asks has a connection of its own. */
typedef struct sqlite_pool sqlite_pool_t;
#define SQLITE_LOST_CLIENT (-2)
/*
 * sqlite: Databases of SQLite. Calls wait for the file and for other writers, and so does the worker that makes them, except
 * for those that end in _later. What open() returns is shared by all workers; pools have a connection for each thread. All
 * calls are there at all levels.
 */
struct duda_api_sqlite {
    /* [M] A database with synchronous=OFF, made if it is missing; NULL: logged. */
    sqlite3 *(*open)(const char *path);
    /* Prepare a statement, which done() ends. 0, -1. */
    int (*dump)(sqlite3 *db, const char *query, sqlite3_stmt **handle);
    /* SQLITE_ROW: a row is there; 0: no more; -1. */
    int (*step)(sqlite3_stmt *handle);
    /* Columns of the row, from 0. */
    int (*get_int)(sqlite3_stmt *handle, int col);
    double (*get_double)(sqlite3_stmt *handle, int col);
    /* Borrowed until the next step; NULL for null. */
    const unsigned char *(*get_text)(sqlite3_stmt *handle, int col);
    /* End a statement of dump(). 0; -1: it is none. */
    int (*done)(sqlite3_stmt *handle);
    /* Run statements. row gets a struct sqlite_cb_data with dr and data for each row, and returns 0 to go on. 0, -1. */
    int (*exec)(duda_request_t *dr, sqlite3 *db, const char *query,
                int (*row)(void *cb_data, int n, char **values, char **names), void *data);
    /* 0; -1: it is none of open(), or has statements. */
    int (*close)(sqlite3 *db);
    /* Open a file for all threads of the service, with a write-ahead log and synchronous=FULL: what a transaction has
       committed survives a crash of the process and of the machine. [M] busy_ms: how long a call waits while another
       connection writes. NULL: logged. Each service opens its own; a file may be in several pools. */
    sqlite_pool_t *(*pool_open)(const char *path, int busy_ms);
    /* Close all connections and free the pool. No thread may use it any more. NULL is allowed. */
    void (*pool_close)(sqlite_pool_t *pool);
    /* The connection of this thread, borrowed; NULL: it cannot be opened, or 64 threads have one. */
    sqlite3 *(*pool_handle)(sqlite_pool_t *pool);
    /* A statement of this thread's connection: one that was kept, or prepared now. NULL: error_text() says why. */
    sqlite3_stmt *(*prepare)(sqlite_pool_t *pool, const char *query);
    /* Give it back to be kept, without rows and parameters. Same thread. 0; -1: it is not one, or was given back before */
    int (*release)(sqlite_pool_t *pool, sqlite3_stmt *handle);
    /* Parameters, from 1; texts and blobs are copied, NULL is null. 0; -1 */
    int (*bind_int64)(sqlite3_stmt *handle, int n, int64_t value);
    int (*bind_double)(sqlite3_stmt *handle, int n, double value);
    int (*bind_text)(sqlite3_stmt *handle, int n, const char *text);
    int (*bind_blob)(sqlite3_stmt *handle, int n, const void *bytes, size_t len);
    int64_t (*get_int64)(sqlite3_stmt *handle, int col);
    /* Borrowed until the next step. */
    const void *(*get_blob)(sqlite3_stmt *handle, int col, size_t *len);
    /* Statements without rows or parameters. 0; -1 */
    int (*run)(sqlite_pool_t *pool, const char *queries);
    /* Call work between BEGIN IMMEDIATE and COMMIT on this thread's connection. It is rolled back when work returns anything
       but 0, when COMMIT fails, and when dr (NULL: none) is no longer a request, whose client nobody can answer. Within work
       no other transaction can begin. 0; -1: rolled back; SQLITE_LOST_CLIENT */
    int (*transaction)(duda_request_t *dr, sqlite_pool_t *pool,
                       int (*work)(sqlite_pool_t *pool, void *arg), void *arg);
    /* The last error of this thread's connection, borrowed until its next call. */
    const char *(*error_text)(sqlite_pool_t *pool);
    /* [R] Park the request and call work on a thread of the server, whose connection is that of this thread, so that the
       worker serves others meanwhile; then done with what work returned, on the worker, where it answers. done is not
       called if the client has left or WaitTimeout is over. work makes no calls that are [M], [W] or [R]: what it needs of
       the request is copied into arg before. end(arg), unless NULL, is called once after both and the request. 0; -1: as
       for task->run(), or without a pool, work or done, and nothing is called. */
    int (*query_later)(duda_request_t *dr, sqlite_pool_t *pool,
                       int (*work)(sqlite_pool_t *pool, void *arg),
                       void (*done)(duda_request_t *dr, int result, void *arg),
                       void (*end)(void *arg), void *arg);
    /* [R] Likewise within transaction(), whose result done gets. It is also rolled back when the request has ended before
       COMMIT, so that a client that left has changed nothing. */
    int (*transaction_later)(duda_request_t *dr, sqlite_pool_t *pool,
                             int (*work)(sqlite_pool_t *pool, void *arg),
                             void (*done)(duda_request_t *dr, int result, void *arg),
                             void (*end)(void *arg), void *arg);
    /* Of a connection: the id of the last row that was inserted; 0: none. Others may insert meanwhile into a database of open(),
       which all workers share; that of pool_handle() is of this thread. */
    int64_t (*last_id)(sqlite3 *db);
    /* Likewise, how many rows the last INSERT, UPDATE or DELETE has changed; -1: db is NULL. */
    int (*changed_rows)(sqlite3 *db);
};
typedef struct duda_api_sqlite sqlite_object_t;
DUDA_OBJ sqlite_object_t *sqlite;
#define SQLITE_FOREACH(handle) while (sqlite->step(handle) == SQLITE_ROW)
#define sqlite_foreach(handle) SQLITE_FOREACH(handle)
#endif
