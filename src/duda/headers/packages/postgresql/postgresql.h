/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DUDA_PACKAGE_POSTGRESQL_H
#define DUDA_PACKAGE_POSTGRESQL_H
#include "duda_api.h"
#define POSTGRESQL_OK 0
#define POSTGRESQL_ERR -1
#define POSTGRESQL_POOL_DEFAULT_MIN_SIZE 2
#define POSTGRESQL_POOL_DEFAULT_MAX_SIZE 8
typedef struct postgresql_conn postgresql_conn_t;
typedef struct postgresql_query postgresql_query_t;
/* dr is NULL when there is none, or when its request has ended meanwhile. All are called on the worker that asked. */
typedef void(postgresql_connect_cb)(postgresql_conn_t *conn, int status, duda_request_t *dr);
typedef void(postgresql_disconnect_cb)(postgresql_conn_t *conn, int status, duda_request_t *dr);
typedef void(postgresql_query_result_cb)(void *priv, postgresql_query_t *q, int n, char **fields,
                                         duda_request_t *dr);
typedef void(postgresql_query_row_cb)(void *priv, postgresql_query_t *q, int n, char **fields,
                                      char **values, duda_request_t *dr);
typedef void(postgresql_query_end_cb)(void *priv, postgresql_query_t *q, duda_request_t *dr);
#if DUDA_API_LEVEL >= 3
/* why: NULL: conn is in a transaction; else conn is NULL, and this is the reason. */
typedef void(postgresql_begin_cb)(void *priv, postgresql_conn_t *conn, const char *why,
                                  duda_request_t *dr);
/* payload: NULL: the server hears this worker from now on; what was sent before, also since the connection was lost, is
   missed. */
typedef void(postgresql_notify_cb)(void *priv, const char *channel, const char *payload);
#endif
/*
 * postgresql: Databases of PostgreSQL, without waiting: queries are sent, and their rows come by call-back on the same
 * worker. [W]
 *
 * Hosts are addresses, `localhost` (127.0.0.1) or folders of Unix sockets; other names would block the worker, and are
 * refused unless `hostaddr` is there too. `connect_timeout` is 10 s unless it is set.
 *
 * A connection has one query under way; the next ones wait in order. Each query that was taken has its end call-back
 * exactly once, also when the connection is lost; its result and row call-backs are not made once its request has ended.
 * A connection with a request lives no longer than that: queries that were not sent end with an error, and a transaction that
 * is open is rolled back. Without a request it lives until disconnect(). An old pointer to a connection is refused.
 * What a service has under way without a request when it is unloaded has no call-back any more.
 */
struct duda_api_postgresql {
    /* Connect by keywords of libpq, which end with NULL, and their values; expand_dbname: "dbname" may be a URI or a list
       of keywords. cb is called once, never from within. Queries may be queued before. dr may be NULL. NULL: refused,
       logged. */
    postgresql_conn_t *(*connect)(duda_request_t *dr, postgresql_connect_cb *cb,
                                  const char *const *keys, const char *const *values,
                                  int expand_dbname);
    /* Likewise, to postgresql://user@address/database or "host=... dbname=...". */
    postgresql_conn_t *(*connect_uri)(duda_request_t *dr, postgresql_connect_cb *cb,
                                      const char *uri);
    /* [M] A pool for each worker, of at most max connections; min stay open. 0 and 0: 2 and 8. They are opened when they
       are needed. After a failure new ones are tried after 0.1 s, then later and later, at most 10 s. 0; -1: refused, logged. */
    int (*create_pool_params)(duda_global_t *pool, int min, int max, const char *const *keys,
                              const char *const *values, int expand_dbname);
    int (*create_pool_uri)(duda_global_t *pool, int min, int max, const char *uri);
    /* A connection of the pool. cb is called once: at once if one is idle, else when it is connected. disconnect() gives it
       back. NULL: all are in use, or the server failed a moment ago; cb is not called. */
    postgresql_conn_t *(*get_conn)(duda_global_t *pool, duda_request_t *dr,
                                   postgresql_connect_cb *cb);
    /* Queue statements, of which each has its own result. on_result comes once before the rows of each that has rows,
       also if there are none. Names and values are terminated and borrowed for the call; the value of null is NULL.
       Call-backs may be NULL. 0; -1: refused, and nothing is called. */
    int (*query)(postgresql_conn_t *conn, const char *sql, postgresql_query_result_cb *on_result,
                 postgresql_query_row_cb *on_row, postgresql_query_end_cb *on_end, void *priv);
    /* One statement, with n values for $1, $2, ...; NULL is null. lengths and formats may be NULL: texts; format 1 is
       binary, with a length. result_format 1: values come in binary form. All are copied. */
    int (*query_params)(postgresql_conn_t *conn, const char *sql, int n, const char *const *values,
                        const int *lengths, const int *formats, int result_format,
                        postgresql_query_result_cb *on_result, postgresql_query_row_cb *on_row,
                        postgresql_query_end_cb *on_end, void *priv);
    /* Likewise for a statement that PREPARE has made on this connection. */
    int (*query_prepared)(postgresql_conn_t *conn, const char *name, int n,
                          const char *const *values, const int *lengths, const int *formats,
                          int result_format, postgresql_query_result_cb *on_result,
                          postgresql_query_row_cb *on_row, postgresql_query_end_cb *on_end,
                          void *priv);
    /* Texts for SQL, with their quotes; free() frees them. NULL: not connected, ill-formed or no memory. */
    char *(*escape_literal)(postgresql_conn_t *conn, const char *text, size_t len);
    char *(*escape_identifier)(postgresql_conn_t *conn, const char *text, size_t len);
    /* Bytes as text of a bytea, without quotes. *size: with the end of the text. */
    unsigned char *(*escape_binary)(postgresql_conn_t *conn, const unsigned char *bytes, size_t len,
                                    size_t *size);
    unsigned char *(*unescape_binary)(const unsigned char *text, size_t *len);
    /* Make no more result and row call-backs of this query. Within its call-backs. */
    void (*abort)(postgresql_query_t *q);
    /* Free what escape and unescape gave. NULL is allowed. */
    void (*free)(void *ptr);
    /* Close the connection, or give it back to its pool, after the queries that it has. It takes no more. cb, unless NULL,
       is called once. */
    void (*disconnect)(postgresql_conn_t *conn, postgresql_disconnect_cb *cb);
#if DUDA_API_LEVEL >= 3
    /* Within call-backs of a query: why it failed; NULL: it did not. */
    const char *(*error)(postgresql_query_t *q);
    /* The SQLSTATE of the error, such as "23505"; "": none. */
    const char *(*state)(postgresql_query_t *q);
    /* Rows that the last statement has inserted, changed, deleted or read. */
    long long (*rows)(postgresql_query_t *q);
    /* Bytes of the value of a column, from 0, within a row call-back; -1: there is none. */
    int (*length)(postgresql_query_t *q, int column);
    /* How long each query that is queued from now on may take, after which it is cancelled and has an error; a
       server that does not answer loses the connection. 10 s unless set, at least 100 ms. Not for connections of a pool.
       0, -1. */
    int (*time_limit)(postgresql_conn_t *conn, unsigned ms);
    /* [M] Likewise for a pool. run() and begin() wait as long for a connection. 0, -1. */
    int (*pool_time_limit)(duda_global_t *pool, unsigned ms);
    /* One statement with texts for $1, $2, ... on any connection of the pool, first come, first served; it is prepared, and
       kept by each connection (32 of them). dr, which may be NULL, is parked until the call of on_end, which is made once,
       never from within. 0; -1: refused, or too many wait. */
    int (*run)(duda_global_t *pool, duda_request_t *dr, const char *sql, int n,
               const char *const *values, postgresql_query_row_cb *on_row,
               postgresql_query_end_cb *on_end, void *priv);
    /* Likewise on this connection. */
    int (*exec)(postgresql_conn_t *conn, const char *sql, int n, const char *const *values,
                postgresql_query_row_cb *on_row, postgresql_query_end_cb *on_end, void *priv);
    /* Begin a transaction on a connection of the pool, which is cb's until commit() or disconnect(), which rolls back. So
       does the end of the request before commit() was sent. cb is called once, never from within. 0; -1: as run. */
    int (*begin)(duda_global_t *pool, duda_request_t *dr, postgresql_begin_cb *cb, void *priv);
    /* Commit, and give the connection back. In on_end error() says whether it was rolled back instead. 0, -1. */
    int (*commit)(postgresql_conn_t *conn, postgresql_query_end_cb *on_end, void *priv);
    /* Hear what NOTIFY sends to the channel, on a connection that the pool has for that alone and makes anew
       when it is lost. 64 channels. cb must not call unlisten(). 0; -1: refused, or it is heard already. */
    int (*listen)(duda_global_t *pool, const char *channel, postgresql_notify_cb *cb, void *priv);
    /* 0; -1: it is not heard. */
    int (*unlisten)(duda_global_t *pool, const char *channel);
    /* [M] How many queries of run() and begin() may wait for a connection of the pool on each worker: 16384 unless set, at
       most 1048576. 0: none waits. 0, -1. */
    int (*pool_queue)(duda_global_t *pool, unsigned most);
#endif
};
typedef struct duda_api_postgresql postgresql_object_t;
DUDA_OBJ postgresql_object_t *postgresql;
#endif
