/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_MARIADB_MA_H
#define MK_DUDA_MARIADB_MA_H

#include "remote/db_service.h"

#include <mysql.h>

#include "packages/mariadb/mariadb.h"

/*
 * The driver of libmariadb, by its calls that do not block: each operation is begun, and goes on with each event that it
 * waits for. Each struct begins with that of remote/database.h.
 */

enum {
    MA_CELL = 64,             /* bytes of a value that need no second look */
    MA_PACKET_MAX = 64 << 20, /* one row */
    MA_RESULT_MAX = 64 << 20, /* rows of query() */
};

struct ma_target {
    struct db_target base;
    char *user, *password, *host, *db, *unix_socket; /* may be NULL */
    unsigned port;
    unsigned long flags;
    bool has_tls;
    char *key, *cert, *ca, *capath, *cipher; /* may be NULL */
};

enum ma_kind { MA_TEXT, MA_KEPT };

/** What an operation leads to; the rows of the table in operation.c. */
enum ma_operation {
    MA_NONE,
    MA_CONNECT,
    MA_QUERY,
    MA_FETCH,
    MA_NEXT,
    MA_PREPARE,
    MA_BIND,
    MA_EXECUTE,
    MA_STMT_FETCH,
    MA_STMT_NEXT,
    MA_STMT_CLOSE,
};

struct mariadb_query {
    struct db_query base;
    mariadb_query_result_cb *on_result;
    mariadb_query_row_cb *on_row;
    mariadb_row_cb *on_own_row; /* of run() and exec(), in place of on_row */
    mariadb_query_end_cb *on_end;
    mariadb_begin_cb *on_begin; /* in place of on_end */
    bool is_commit;
    bool is_in_row;
    unsigned code;
    unsigned long long rows, insert_id;
    /* the result under way */
    unsigned columns;
    char **fields, **row; /* one block */
    unsigned long *lengths;
    MYSQL_BIND *binds; /* of a statement, one block with the next three */
    my_bool *nulls;
    char *cells, *spill;
    size_t spill_room;
};

struct mariadb_conn {
    struct db_conn base;
    MYSQL *my;             /* NULL: it was not connected yet, or no memory */
    struct ma_target *own; /* NULL: it is of a pool */
    enum ma_operation operation;
    int waits; /* for events of libmariadb; 0: the operation is over */
    union {
        MYSQL *my;
        MYSQL_ROW row;
        int number;
        my_bool is_bad;
    } outcome;
    MYSQL_RES *result; /* of a text, being fetched */
    MYSQL_STMT *stmt;  /* being executed */
    bool is_kept;      /* stmt */
    bool has_failed;   /* a statement since BEGIN */
    mariadb_connect_cb *on_connect;
    mariadb_disconnect_cb *on_disconnect;
    struct waiter *waiter;          /* the dthread that connects or disconnects */
    struct mariadb_result *results; /* of query() */
    char last_error[256];           /* of the calls for dthreads */
};

static inline struct mariadb_conn *ma_conn(struct db_conn *c)
{
    return (struct mariadb_conn *)(void *)c;
}

static inline struct mariadb_query *ma_query(struct db_query *q)
{
    return (struct mariadb_query *)(void *)q;
}

static inline struct mariadb_query *ma_first(struct mariadb_conn *c)
{
    return ma_query(c->base.first);
}

/* ---- driver.c ---- */

extern const struct db_driver ma_driver;
extern struct db_package ma_package;

/* ---- target.c ---- */

/** @return NULL: no memory, or logged with the name of the call */
struct ma_target *ma_target_new(const char *call, const struct ma_target *values);
/** @return 0; -1: no memory */
int ma_target_set_tls(struct ma_target *t, const char *key, const char *cert, const char *ca,
                      const char *capath, const char *cipher);
void ma_target_free(struct ma_target *t);
/** @return a handle that is ready to connect; NULL: no memory */
MYSQL *ma_target_handle(const struct ma_target *t);

/* ---- operation.c ---- */

/** Begin to connect. */
void ma_begin_to_connect(struct mariadb_conn *c, const struct ma_target *t);
/** Go on with what waits for an event. */
void ma_go_on(struct mariadb_conn *c);
/** Begin the first query. No call-back is made. */
void ma_send(struct mariadb_conn *c);
enum db_progress ma_receive(struct mariadb_conn *c);
/** Let an operation that waits fail, so that it frees what it has. */
void ma_break(struct mariadb_conn *c);

/* ---- rows.c ---- */

/** Get ready for rows. @return -1: no memory */
int ma_rows_of_text(struct mariadb_query *q, MYSQL_RES *result);
int ma_rows_of_stmt(struct mariadb_query *q, MYSQL_STMT *stmt, MYSQL_RES *names);
/** Call the service. */
void ma_rows_begin(struct mariadb_query *q);
void ma_row_of_text(struct mariadb_query *q, MYSQL_ROW row, const unsigned long *lengths);
/** @return -1: no memory, or the library failed */
int ma_row_of_stmt(struct mariadb_query *q, MYSQL_STMT *stmt);
void ma_rows_free(struct mariadb_query *q);

/* ---- mariadb.c ---- */

/** For the calls for dthreads: its rows come with the query. */
int ma_ask(mariadb_conn_t *conn, const char *sql, mariadb_query_result_cb *on_result,
           mariadb_row_cb *on_row, mariadb_query_end_cb *on_end, void *priv);

/* ---- waiting.c ---- */

int ma_connect(mariadb_conn_t *conn);
mariadb_result_t *ma_query_all(mariadb_conn_t *conn, const char *sql);
char **ma_get_row(mariadb_conn_t *conn, mariadb_result_t *result, int *error);
void ma_disconnect(mariadb_conn_t *conn);
char **ma_get_fields(mariadb_result_t *result);
int ma_get_field_num(mariadb_result_t *result);
mariadb_conn_t *ma_pool_get_conn(duda_global_t *pool);
const char *ma_last_error(mariadb_conn_t *conn);
/** Free those of query() that were not read to their end. */
void ma_results_free(struct mariadb_conn *c);

#endif
