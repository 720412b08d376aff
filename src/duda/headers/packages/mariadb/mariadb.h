/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DUDA_PACKAGE_MARIADB_H
#define DUDA_PACKAGE_MARIADB_H
#include "duda_api.h"
#define MARIADB_OK 0
#define MARIADB_ERR -1
#define MARIADB_POOL_DEFAULT_MIN_SIZE 2
#define MARIADB_POOL_DEFAULT_MAX_SIZE 8
#ifndef CLIENT_MULTI_STATEMENTS /* else libmariadb's own header has them */
#define CLIENT_MULTI_STATEMENTS (1UL << 16)
#define CLIENT_MULTI_RESULTS (1UL << 17)
#endif
typedef struct mariadb_conn mariadb_conn_t;
typedef struct mariadb_query mariadb_query_t;
typedef struct mariadb_result mariadb_result_t;
/* dr is NULL when there is none, or when its request has ended meanwhile. All are called on the worker that asked. */
typedef void(mariadb_connect_cb)(mariadb_conn_t *conn, int status, duda_request_t *dr);
typedef void(mariadb_disconnect_cb)(mariadb_conn_t *conn, int status, duda_request_t *dr);
typedef void(mariadb_query_result_cb)(void *priv, mariadb_query_t *q, unsigned long n,
                                      char **fields, duda_request_t *dr);
typedef void(mariadb_query_row_cb)(void *priv, unsigned long n, char **fields, char **values,
                                   duda_request_t *dr);
typedef void(mariadb_query_end_cb)(void *priv, mariadb_query_t *q, duda_request_t *dr);
#if DUDA_API_LEVEL >= 3
/* Rows of run() and exec(): with the query. */
typedef void(mariadb_row_cb)(void *priv, mariadb_query_t *q, unsigned long n, char **fields,
                             char **values, duda_request_t *dr);
/* why: NULL: conn is in a transaction; else conn is NULL, and this is the reason. */
typedef void(mariadb_begin_cb)(void *priv, mariadb_conn_t *conn, const char *why,
                               duda_request_t *dr);
#endif
/*
 * mariadb: Databases of MariaDB and MySQL, without waiting: queries are sent, and their rows come by call-back on the same
 * worker. The calls for dthreads suspend their dthread instead, and look as if they waited. [W]
 *
 * Hosts are addresses; other names would block the worker, and are refused. NULL and `localhost` mean the Unix socket. A
 * handshake of TLS blocks the worker, because libmariadb does it so: use a Unix socket, or a network that needs no TLS, where
 * a slow server must not delay others. LOAD DATA LOCAL is off.
 *
 * A connection has one query under way; the next ones wait in order. Each query that was taken has its end call-back
 * exactly once, also when the connection is lost; its result and row call-backs are not made once its request has ended.
 * A connection with a request lives no longer than that: queries that were not sent end with an error, and a transaction that
 * is open is rolled back. Without a request it lives until it is disconnected. An old pointer to a connection is refused.
 * What a service has under way without a request when it is unloaded has no call-back any more.
 *
 * Connecting may take 10 s, and so may each query. The server cancels it a little before by `max_statement_time`, which MySQL
 * lacks; a server that does not answer loses the connection. A row has at most 64 MiB.
 */
struct duda_api_mariadb {
    /* A connection, which connect_async() or connect() connects. Texts are copied, and may be NULL. flags: of libmariadb, such
       as CLIENT_MULTI_STATEMENTS. dr may be NULL. NULL: refused, logged. */
    mariadb_conn_t *(*create_conn)(duda_request_t *dr, const char *user, const char *password,
                                   const char *host, const char *db, unsigned int port,
                                   const char *unix_socket, unsigned long flags);
    /* [M] A pool for each worker, of at most max connections; min stay open. 0 and 0: 2 and 8. They are opened when they
       are needed. After a failure new ones are tried after 0.1 s, then later and later, at most 10 s. 0; -1: refused, logged. */
    int (*create_pool)(duda_global_t *pool, int min, int max, const char *user,
                       const char *password, const char *host, const char *db, unsigned int port,
                       const char *unix_socket, unsigned long flags);
    /* Use TLS, with files; each may be NULL. With a ca or a capath the certificate of the server has to be valid for its
       host, else any is taken. A server without TLS is refused. Before connecting. */
    void (*set_ssl)(mariadb_conn_t *conn, const char *key, const char *cert, const char *ca,
                    const char *capath, const char *cipher);
    /* [M] Likewise for a pool. 0, -1. */
    int (*pool_set_ssl)(duda_global_t *pool, const char *key, const char *cert, const char *ca,
                        const char *capath, const char *cipher);
    /* A connection of the pool. cb is called once: at once if one is idle, else when it is connected. disconnect_async() gives
       it back. NULL: all are in use, or the server failed a moment ago; cb is not called. */
    mariadb_conn_t *(*pool_get_conn_async)(duda_global_t *pool, duda_request_t *dr,
                                           mariadb_connect_cb *cb);
    /* Connect. cb, unless NULL, is called once, never from within. Queries may be queued before. 0; -1: refused, and nothing
       is called. */
    int (*connect_async)(mariadb_conn_t *conn, mariadb_connect_cb *cb);
    /* Close the connection, or give it back to its pool, after the queries that it has. It takes no more. cb, unless NULL,
       is called once. */
    void (*disconnect_async)(mariadb_conn_t *conn, mariadb_disconnect_cb *cb);
    /* The text for a string of SQL, without its quotes, with its end; to has room for 2 * len + 1 bytes. Its length; 0: not
       connected. */
    unsigned long (*escape)(mariadb_conn_t *conn, char *to, const char *from, unsigned long len);
    /* Queue a statement; several need CLIENT_MULTI_STATEMENTS, and each has its own result. on_result comes once before the
       rows of each that has rows, also if there are none. Names and values are terminated and borrowed for the call; the
       value of null is NULL. Call-backs may be NULL. 0; -1: refused, and nothing is called. */
    int (*query_async)(mariadb_conn_t *conn, const char *sql, mariadb_query_result_cb *on_result,
                       mariadb_query_row_cb *on_row, mariadb_query_end_cb *on_end, void *priv);
    /* Make no more result and row call-backs of this query. Within its call-backs. */
    void (*abort_async)(mariadb_query_t *q);
    /* In a dthread, as the calls that follow: connect. 0, -1. */
    int (*connect)(mariadb_conn_t *conn);
    /* Ask, and wait for all rows of the first result, of at most 64 MiB. NULL: it failed. */
    mariadb_result_t *(*query)(mariadb_conn_t *conn, const char *sql);
    /* The values of the next row, which end with NULL too and live until the next call. NULL: there is no more, and the result
       is freed; *error, unless error is NULL, is 1 if it was none of this connection, else 0. */
    char **(*get_row)(mariadb_conn_t *conn, mariadb_result_t *res, int *error);
    /* Close the connection, or give it back, with all results that were not read to their end. */
    void (*disconnect)(mariadb_conn_t *conn);
    /* The names of the columns, which end with NULL; NULL: the statement had no rows to give. */
    char **(*get_fields)(mariadb_result_t *res);
    /* How many columns; 0: likewise. */
    int (*get_field_num)(mariadb_result_t *res);
    /* A connection of the pool, connected. NULL: it failed, or all are in use. */
    mariadb_conn_t *(*pool_get_conn)(duda_global_t *pool);
#if DUDA_API_LEVEL >= 3
    /* Within call-backs of a query: why it failed; NULL: it did not. */
    const char *(*error)(mariadb_query_t *q);
    /* The SQLSTATE of the error, such as "23000"; "": none. */
    const char *(*state)(mariadb_query_t *q);
    /* The number of the error, such as 1062; 0: none. */
    unsigned (*code)(mariadb_query_t *q);
    /* Rows that the last statement has inserted, changed, deleted or read. */
    long long (*rows)(mariadb_query_t *q);
    /* What AUTO_INCREMENT gave to the first row that the last statement has inserted; 0: nothing. */
    unsigned long long (*insert_id)(mariadb_query_t *q);
    /* Bytes of the value of a column, from 0, within a row call-back; -1: there is none. */
    int (*length)(mariadb_query_t *q, int column);
    /* Why connect() or the last query() of a dthread failed; "": it did not. */
    const char *(*last_error)(mariadb_conn_t *conn);
    /* How long each query that is queued from now on may take. 10 s unless set, at least 100 ms. Not for connections of a
       pool. 0, -1. */
    int (*time_limit)(mariadb_conn_t *conn, unsigned ms);
    /* [M] Likewise for a pool. run() and begin() wait as long for a connection. 0, -1. */
    int (*pool_time_limit)(duda_global_t *pool, unsigned ms);
    /* One statement with texts for each `?` on any connection of the pool, first come, first served; it is prepared, and kept
       by each connection (32 of them). dr, which may be NULL, is parked until the call of on_end, which is made once, never
       from within. 0; -1: refused, or too many wait. */
    int (*run)(duda_global_t *pool, duda_request_t *dr, const char *sql, int n,
               const char *const *values, mariadb_row_cb *on_row, mariadb_query_end_cb *on_end,
               void *priv);
    /* Likewise on this connection. */
    int (*exec)(mariadb_conn_t *conn, const char *sql, int n, const char *const *values,
                mariadb_row_cb *on_row, mariadb_query_end_cb *on_end, void *priv);
    /* Begin a transaction on a connection of the pool, which is cb's until commit() or disconnect_async(), which rolls
       back. So does the end of the request before commit() was sent. cb is called once, never from within. 0; -1: as run. */
    int (*begin)(duda_global_t *pool, duda_request_t *dr, mariadb_begin_cb *cb, void *priv);
    /* Commit, and give the connection back; roll back if a statement has failed since begin(). In on_end error() says whether
       it was rolled back. 0, -1. */
    int (*commit)(mariadb_conn_t *conn, mariadb_query_end_cb *on_end, void *priv);
    /* [M] How many queries of run() and begin() may wait for a connection of the pool on each worker: 16384 unless set, at
       most 1048576. 0: none waits. 0, -1. */
    int (*pool_queue)(duda_global_t *pool, unsigned most);
#endif
};
typedef struct duda_api_mariadb mariadb_object_t;
DUDA_OBJ mariadb_object_t *mariadb;
#endif
