/* SPDX-License-Identifier: Apache-2.0 */
#include "ma.h"

#include "duda_package.h"

#include <stdlib.h>

/* The calls of the package. */

/* ---- connections ---- */

static mariadb_conn_t *create_conn(duda_request_t *dr, const char *user, const char *password,
                                   const char *host, const char *db, unsigned int port,
                                   const char *unix_socket, unsigned long flags)
{
    const struct ma_target values = {.user = (char *)(uintptr_t)user,
                                     .password = (char *)(uintptr_t)password,
                                     .host = (char *)(uintptr_t)host,
                                     .db = (char *)(uintptr_t)db,
                                     .port = port,
                                     .unix_socket = (char *)(uintptr_t)unix_socket,
                                     .flags = flags};
    struct db_home *home = db_home_made(&ma_package);
    struct ma_target *t = home ? ma_target_new("create_conn", &values) : NULL;
    struct db_guest *guest;
    struct db_conn *c;

    if (!t || db_guest_new(home, &guest, dr) < 0) {
        ma_target_free(t);
        return NULL;
    }
    c = db_conn_new(&ma_driver, home, NULL, false);
    if (!c) {
        db_guest_put(guest);
        ma_target_free(t);
        return NULL;
    }
    c->guest = guest;
    c->is_lent = true;
    ma_conn(c)->own = t;
    return ma_conn(c);
}

static void set_ssl(mariadb_conn_t *conn, const char *key, const char *cert, const char *ca,
                    const char *capath, const char *cipher)
{
    if (!db_conn_is_usable(&ma_package, conn) || conn->base.state != DB_NEW)
        return;
    if (ma_target_set_tls(conn->own, key, cert, ca, capath, cipher) < 0)
        db_conn_lose(&conn->base, db_no_memory);
}

static int connect_async(mariadb_conn_t *conn, mariadb_connect_cb *cb)
{
    if (!db_conn_is_usable(&ma_package, conn) || conn->base.state != DB_NEW)
        return MARIADB_ERR;
    conn->on_connect = cb;
    db_conn_open(&conn->base, &conn->own->base);
    return MARIADB_OK;
}

static void disconnect_async(mariadb_conn_t *conn, mariadb_disconnect_cb *cb)
{
    if (!db_conn_is_alive(&ma_package, conn) || conn->base.is_leaving || !conn->base.is_lent)
        return;
    conn->on_disconnect = cb;
    db_conn_leave(&conn->base);
}

/* ---- pools ---- */

static int create_pool(duda_global_t *pool, int min, int max, const char *user,
                       const char *password, const char *host, const char *db, unsigned int port,
                       const char *unix_socket, unsigned long flags)
{
    const struct ma_target values = {.user = (char *)(uintptr_t)user,
                                     .password = (char *)(uintptr_t)password,
                                     .host = (char *)(uintptr_t)host,
                                     .db = (char *)(uintptr_t)db,
                                     .port = port,
                                     .unix_socket = (char *)(uintptr_t)unix_socket,
                                     .flags = flags};
    struct ma_target *t = ma_target_new("create_pool", &values);

    if (t && db_pool_create(&ma_package, pool, min, max, &t->base) == 0)
        return MARIADB_OK;
    ma_target_free(t);
    return MARIADB_ERR;
}

static int pool_set_ssl(duda_global_t *pool, const char *key, const char *cert, const char *ca,
                        const char *capath, const char *cipher)
{
    struct db_target *t = db_pool_target(&ma_package, pool);

    if (!t)
        return MARIADB_ERR;
    return ma_target_set_tls((struct ma_target *)(void *)t, key, cert, ca, capath, cipher);
}

static mariadb_conn_t *pool_get_conn_async(duda_global_t *pool, duda_request_t *dr,
                                           mariadb_connect_cb *cb)
{
    struct db_pool *p = db_pool_of(&ma_package, pool);
    mariadb_conn_t *c = p ? ma_conn(db_pool_lend(p, dr)) : NULL;

    if (!c)
        return NULL;
    if (c->base.state != DB_READY)
        c->on_connect = cb;
    else if (cb)
        cb(c, MARIADB_OK, dr);
    return db_conn_is_alive(&ma_package, c) ? c : NULL;
}

/* ---- queries ---- */

static int add(mariadb_conn_t *conn, enum ma_kind kind, const char *sql, int n,
               const char *const *values, const struct mariadb_query *how)
{
    struct db_query *q =
        db_conn_is_usable(&ma_package, conn)
            ? db_query_new(&ma_driver, (int)kind, sql, conn->base.guest, how->base.priv)
            : NULL;

    if (!q)
        return MARIADB_ERR;
    if (kind == MA_KEPT && db_query_params(q, n, values, NULL, NULL) < 0) {
        db_query_free(q);
        return MARIADB_ERR;
    }
    ma_query(q)->on_result = how->on_result;
    ma_query(q)->on_row = how->on_row;
    ma_query(q)->on_own_row = how->on_own_row;
    ma_query(q)->on_end = how->on_end;
    ma_query(q)->is_commit = how->is_commit;
    db_conn_add(&conn->base, q);
    return MARIADB_OK;
}

static int query_async(mariadb_conn_t *conn, const char *sql, mariadb_query_result_cb *on_result,
                       mariadb_query_row_cb *on_row, mariadb_query_end_cb *on_end, void *priv)
{
    const struct mariadb_query how = {
        .on_result = on_result, .on_row = on_row, .on_end = on_end, .base.priv = priv};

    return add(conn, MA_TEXT, sql, 0, NULL, &how);
}

int ma_ask(mariadb_conn_t *conn, const char *sql, mariadb_query_result_cb *on_result,
           mariadb_row_cb *on_row, mariadb_query_end_cb *on_end, void *priv)
{
    const struct mariadb_query how = {
        .on_result = on_result, .on_own_row = on_row, .on_end = on_end, .base.priv = priv};

    return add(conn, MA_TEXT, sql, 0, NULL, &how);
}

static void abort_async(mariadb_query_t *q)
{
    if (q)
        q->base.is_aborted = true;
}

static unsigned long escape(mariadb_conn_t *conn, char *to, const char *from, unsigned long len)
{
    if (!to)
        return 0;
    if (!from || !db_conn_is_alive(&ma_package, conn) || conn->base.state != DB_READY) {
        to[0] = '\0';
        return 0;
    }
    return mysql_real_escape_string(conn->my, to, from, len);
}

/* ---- level 3 ---- */

static const char *error_of(mariadb_query_t *q)
{
    return q ? q->base.error : "no query";
}

static const char *state_of(mariadb_query_t *q)
{
    return q ? q->base.state : "";
}

static unsigned code_of(mariadb_query_t *q)
{
    return q ? q->code : 0;
}

static long long rows_of(mariadb_query_t *q)
{
    return q ? (long long)q->rows : 0;
}

static unsigned long long insert_id_of(mariadb_query_t *q)
{
    return q ? q->insert_id : 0;
}

static int length_of(mariadb_query_t *q, int column)
{
    if (!q || !q->is_in_row || column < 0 || (unsigned)column >= q->columns || !q->row[column])
        return -1;
    return (int)q->lengths[column];
}

static int time_limit(mariadb_conn_t *conn, unsigned ms)
{
    return db_conn_time_limit(&ma_package, (struct db_conn *)(void *)conn, ms);
}

static int pool_queue(duda_global_t *pool, unsigned most)
{
    return db_pool_queue(&ma_package, pool, most);
}

static int pool_time_limit(duda_global_t *pool, unsigned ms)
{
    return db_pool_time_limit(&ma_package, pool, ms);
}

static int run(duda_global_t *pool, duda_request_t *dr, const char *sql, int n,
               const char *const *values, mariadb_row_cb *on_row, mariadb_query_end_cb *on_end,
               void *priv)
{
    struct db_pool *p = db_pool_of(&ma_package, pool);
    struct db_query *q = db_pool_query(p, dr, MA_KEPT, sql, priv);

    if (!q)
        return -1;
    if (db_query_params(q, n, values, NULL, NULL) < 0) {
        db_query_free(q);
        return -1;
    }
    ma_query(q)->on_own_row = on_row;
    ma_query(q)->on_end = on_end;
    return db_pool_run(p, q);
}

static int exec(mariadb_conn_t *conn, const char *sql, int n, const char *const *values,
                mariadb_row_cb *on_row, mariadb_query_end_cb *on_end, void *priv)
{
    const struct mariadb_query how = {.on_own_row = on_row, .on_end = on_end, .base.priv = priv};

    return add(conn, MA_KEPT, sql, n, values, &how);
}

static int begin(duda_global_t *pool, duda_request_t *dr, mariadb_begin_cb *cb, void *priv)
{
    struct db_pool *p = cb ? db_pool_of(&ma_package, pool) : NULL;
    struct db_query *q = db_pool_query(p, dr, MA_TEXT, "BEGIN", priv);

    if (!q)
        return -1;
    q->is_begin = true;
    ma_query(q)->on_begin = cb;
    return db_pool_add(p, q);
}

/* It is a COMMIT when it is sent, unless a statement has failed. */
static int commit(mariadb_conn_t *conn, mariadb_query_end_cb *on_end, void *priv)
{
    const struct mariadb_query how = {.on_end = on_end, .base.priv = priv, .is_commit = true};

    if (add(conn, MA_TEXT, "ROLLBACK", 0, NULL, &how) < 0)
        return -1;
    db_conn_leave(&conn->base);
    return 0;
}

static mariadb_object_t calls = {
    .create_conn = create_conn,
    .create_pool = create_pool,
    .set_ssl = set_ssl,
    .pool_set_ssl = pool_set_ssl,
    .pool_get_conn_async = pool_get_conn_async,
    .connect_async = connect_async,
    .disconnect_async = disconnect_async,
    .escape = escape,
    .query_async = query_async,
    .abort_async = abort_async,
    .connect = ma_connect,
    .query = ma_query_all,
    .get_row = ma_get_row,
    .disconnect = ma_disconnect,
    .get_fields = ma_get_fields,
    .get_field_num = ma_get_field_num,
    .pool_get_conn = ma_pool_get_conn,
    .error = error_of,
    .state = state_of,
    .code = code_of,
    .rows = rows_of,
    .insert_id = insert_id_of,
    .length = length_of,
    .last_error = ma_last_error,
    .time_limit = time_limit,
    .pool_time_limit = pool_time_limit,
    .pool_queue = pool_queue,
    .run = run,
    .exec = exec,
    .begin = begin,
    .commit = commit,
};

duda_package_t *duda_package_main()
{
    static char name[] = "mariadb", version[] = "1.0";
    static duda_package_t package = {.name = name, .version = version, .api = &calls};

    if (mysql_library_init(0, NULL, NULL) != 0)
        return NULL;
    db_package_begin(&ma_package);
    return &package;
}
