/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DUDA_PACKAGE_MARIADB_H
#define DUDA_PACKAGE_MARIADB_H
#include "duda_api.h"
#define MARIADB_OK 0
#define MARIADB_ERR -1
#define MARIADB_POOL_DEFAULT_MIN_SIZE 2
#define MARIADB_POOL_DEFAULT_MAX_SIZE 8
#define CLIENT_MULTI_STATEMENTS (1UL << 16)
#define CLIENT_MULTI_RESULTS (1UL << 17)
typedef struct mariadb_conn mariadb_conn_t;
typedef struct mariadb_query mariadb_query_t;
typedef struct mariadb_result mariadb_result_t;
typedef void(mariadb_connect_cb)(mariadb_conn_t *conn, int status, duda_request_t *dr);
typedef void(mariadb_disconnect_cb)(mariadb_conn_t *conn, int status, duda_request_t *dr);
typedef void(mariadb_query_result_cb)(void *priv, mariadb_query_t *q, unsigned long n,
                                      char **fields, duda_request_t *dr);
typedef void(mariadb_query_row_cb)(void *priv, unsigned long n, char **fields, char **values,
                                   duda_request_t *dr);
typedef void(mariadb_query_end_cb)(void *priv, mariadb_query_t *q, duda_request_t *dr);
typedef struct duda_api_mariadb {
    mariadb_conn_t *(*create_conn)(duda_request_t *dr, const char *user, const char *password,
                                   const char *host, const char *db, unsigned int port,
                                   const char *unix_socket, unsigned long flags);
    int (*create_pool)(duda_global_t *pool, int min, int max, const char *user,
                       const char *password, const char *host, const char *db, unsigned int port,
                       const char *unix_socket,
                       unsigned long flags); /* [M] per worker; 0,0 = defaults */
    void (*set_ssl)(mariadb_conn_t *conn, const char *key, const char *cert, const char *ca,
                    const char *capath, const char *cipher);
    int (*pool_set_ssl)(duda_global_t *pool, const char *key, const char *cert, const char *ca,
                        const char *capath, const char *cipher);
    mariadb_conn_t *(*pool_get_conn_async)(duda_global_t *pool, duda_request_t *dr,
                                           mariadb_connect_cb *cb);
    int (*connect_async)(mariadb_conn_t *conn, mariadb_connect_cb *cb);
    void (*disconnect_async)(
        mariadb_conn_t *conn,
        mariadb_disconnect_cb *cb); /* after queued queries; returns pooled ones */
    unsigned long (*escape)(mariadb_conn_t *conn, char *to, const char *from, unsigned long len);
    int (*query_async)(mariadb_conn_t *conn, const char *sql, mariadb_query_result_cb *on_result,
                       mariadb_query_row_cb *on_row, mariadb_query_end_cb *on_end, void *priv);
    void (*abort_async)(mariadb_query_t *q);
    /* the rest run inside a dthread and look synchronous */
    int (*connect)(mariadb_conn_t *conn);
    mariadb_result_t *(*query)(mariadb_conn_t *conn, const char *sql);
    char **(*get_row)(mariadb_conn_t *conn, mariadb_result_t *res,
                      int *error); /* NULL at the end */
    void (*disconnect)(mariadb_conn_t *conn);
    char **(*get_fields)(mariadb_result_t *res);
    int (*get_field_num)(mariadb_result_t *res);
    mariadb_conn_t *(*pool_get_conn)(duda_global_t *pool);
} mariadb_object_t;
DUDA_OBJ mariadb_object_t *mariadb;
#endif
