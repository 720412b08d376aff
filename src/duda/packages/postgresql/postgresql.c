/* SPDX-License-Identifier: Apache-2.0 */
#include "pg.h"

#include "duda_package.h"

#include <stdlib.h>
#include <string.h>

/* The calls of the package. */

/* ---- connections ---- */

static postgresql_conn_t *conn_of(struct db_conn *c)
{
    return (postgresql_conn_t *)(void *)c;
}

static postgresql_conn_t *connect_to(struct pg_target *t, duda_request_t *dr,
                                     postgresql_connect_cb *cb)
{
    struct db_home *home = t ? db_home_made(&pg_package) : NULL;
    struct db_guest *guest;
    struct db_conn *c = NULL;

    if (home && db_guest_new(home, &guest, dr) == 0) {
        c = db_conn_new(pg_package.driver, home, NULL, false);
        if (c) {
            c->guest = guest;
            c->is_lent = true;
            conn_of(c)->on_connect = cb;
            db_conn_open(c, &t->base);
        } else {
            db_guest_put(guest);
        }
    }
    pg_target_free(t);
    return conn_of(c);
}

/* Values may have a password: they are not in the log. */
static struct pg_target *new_target(const char *call, const char *const *keys,
                                    const char *const *values, int expand_dbname)
{
    const char *why;
    struct pg_target *t = pg_target_new(keys, values, expand_dbname, false, &why);

    if (!t)
        msg->err("postgresql->%s(): %s", call, why);
    return t;
}

static postgresql_conn_t *connect_params(duda_request_t *dr, postgresql_connect_cb *cb,
                                         const char *const *keys, const char *const *values,
                                         int expand_dbname)
{
    return connect_to(new_target("connect", keys, values, expand_dbname), dr, cb);
}

/* The only keyword of a URI. */
static struct pg_target *target_of(const char *call, const char *uri)
{
    const char *keys[] = {"dbname", NULL}, *values[] = {uri, NULL};

    return new_target(call, uri ? keys : NULL, values, 1);
}

static postgresql_conn_t *connect_uri(duda_request_t *dr, postgresql_connect_cb *cb,
                                      const char *uri)
{
    return connect_to(target_of("connect_uri", uri), dr, cb);
}

static void disconnect(postgresql_conn_t *conn, postgresql_disconnect_cb *cb)
{
    if (!db_conn_is_alive(&pg_package, conn) || conn->base.is_leaving || !conn->base.is_lent)
        return;
    conn->on_disconnect = cb;
    db_conn_leave(&conn->base);
}

/* ---- pools ---- */

static int create(duda_global_t *pool, int min, int max, struct pg_target *t)
{
    if (t && db_pool_create(&pg_package, pool, min, max, &t->base) == 0)
        return POSTGRESQL_OK;
    pg_target_free(t);
    return POSTGRESQL_ERR;
}

static int create_pool_params(duda_global_t *pool, int min, int max, const char *const *keys,
                              const char *const *values, int expand_dbname)
{
    return create(pool, min, max, new_target("create_pool_params", keys, values, expand_dbname));
}

static int create_pool_uri(duda_global_t *pool, int min, int max, const char *uri)
{
    return create(pool, min, max, target_of("create_pool_uri", uri));
}

static postgresql_conn_t *get_conn(duda_global_t *pool, duda_request_t *dr,
                                   postgresql_connect_cb *cb)
{
    postgresql_conn_t *c = conn_of(db_pool_lend(db_pool_of(&pg_package, pool), dr));

    if (!c)
        return NULL;
    if (c->base.state != DB_READY)
        c->on_connect = cb;
    else if (cb)
        cb(c, POSTGRESQL_OK, dr);
    return db_conn_is_alive(&pg_package, c) ? c : NULL;
}

/* ---- queries ---- */

static postgresql_query_t *query_of(struct db_query *q)
{
    return (postgresql_query_t *)(void *)q;
}

static int add(postgresql_conn_t *conn, enum pg_kind kind, const char *sql,
               const struct db_values *v, const struct postgresql_query *how)
{
    struct db_query *base =
        db_conn_is_usable(&pg_package, conn)
            ? db_query_new(pg_package.driver, (int)kind, sql, conn->base.guest, how->base.priv)
            : NULL;
    struct postgresql_query *q = query_of(base);

    if (!base)
        return POSTGRESQL_ERR;
    if (v && db_query_params(base, v->n, v->values, v->lengths, v->formats) < 0) {
        db_query_free(base);
        return POSTGRESQL_ERR;
    }
    pg_query_tells(q);
    q->own.result_format = how->own.result_format;
    q->on_result = how->on_result;
    q->on_row = how->on_row;
    q->on_end = how->on_end;
    q->own.is_commit = how->own.is_commit;
    db_conn_add(&conn->base, base);
    return POSTGRESQL_OK;
}

static int query_text(postgresql_conn_t *conn, const char *sql,
                      postgresql_query_result_cb *on_result, postgresql_query_row_cb *on_row,
                      postgresql_query_end_cb *on_end, void *priv)
{
    const struct postgresql_query how = {
        .on_result = on_result, .on_row = on_row, .on_end = on_end, .own.base.priv = priv};

    return add(conn, PG_TEXT, sql, NULL, &how);
}

static struct db_values values_of(int n, const char *const *values, const int *lengths,
                                  const int *formats)
{
    return (struct db_values){n, (const char **)(uintptr_t)values, (int *)(uintptr_t)lengths,
                              (int *)(uintptr_t)formats};
}

static int query_params(postgresql_conn_t *conn, const char *sql, int n, const char *const *values,
                        const int *lengths, const int *formats, int result_format,
                        postgresql_query_result_cb *on_result, postgresql_query_row_cb *on_row,
                        postgresql_query_end_cb *on_end, void *priv)
{
    const struct postgresql_query how = {
        .on_result = on_result,
        .on_row = on_row,
        .on_end = on_end,
        .own = {.base.priv = priv, .result_format = result_format}};
    const struct db_values v = values_of(n, values, lengths, formats);

    return add(conn, PG_PARAMS, sql, &v, &how);
}

static int query_prepared(postgresql_conn_t *conn, const char *name, int n,
                          const char *const *values, const int *lengths, const int *formats,
                          int result_format, postgresql_query_result_cb *on_result,
                          postgresql_query_row_cb *on_row, postgresql_query_end_cb *on_end,
                          void *priv)
{
    const struct postgresql_query how = {
        .on_result = on_result,
        .on_row = on_row,
        .on_end = on_end,
        .own = {.base.priv = priv, .result_format = result_format}};
    const struct db_values v = values_of(n, values, lengths, formats);

    return add(conn, PG_PREPARED, name, &v, &how);
}

static void abort_query(postgresql_query_t *q)
{
    if (q)
        q->base.is_aborted = true;
}

/* ---- texts ---- */

/* libpq's own memory is that of malloc() here, but its documents promise nothing. */
static void *own(void *text, size_t size)
{
    void *copy = text ? malloc(size) : NULL;

    if (copy)
        memcpy(copy, text, size);
    PQfreemem(text);
    return copy;
}

static bool can_escape(const postgresql_conn_t *conn, const void *text)
{
    return text && db_conn_is_alive(&pg_package, conn) && conn->base.state == DB_READY;
}

static char *escape_literal(postgresql_conn_t *conn, const char *text, size_t len)
{
    char *escaped = can_escape(conn, text) ? PQescapeLiteral(conn->own.pg, text, len) : NULL;

    return own(escaped, escaped ? strlen(escaped) + 1 : 0);
}

static char *escape_identifier(postgresql_conn_t *conn, const char *text, size_t len)
{
    char *escaped = can_escape(conn, text) ? PQescapeIdentifier(conn->own.pg, text, len) : NULL;

    return own(escaped, escaped ? strlen(escaped) + 1 : 0);
}

static unsigned char *escape_binary(postgresql_conn_t *conn, const unsigned char *bytes, size_t len,
                                    size_t *size)
{
    size_t n = 0;
    unsigned char *escaped =
        can_escape(conn, bytes) ? PQescapeByteaConn(conn->own.pg, bytes, len, &n) : NULL;

    if (size)
        *size = escaped ? n : 0;
    return own(escaped, n);
}

static unsigned char *unescape_binary(const unsigned char *text, size_t *len)
{
    size_t n = 0;
    unsigned char *bytes = text ? PQunescapeBytea(text, &n) : NULL;

    if (len)
        *len = bytes ? n : 0;
    return own(bytes, n + 1);
}

/* ---- level 3 ---- */

static const char *error_of(postgresql_query_t *q)
{
    return q ? q->base.error : "no query";
}

static const char *state_of(postgresql_query_t *q)
{
    return q ? q->base.state : "";
}

static long long rows_of(postgresql_query_t *q)
{
    return q ? q->own.rows : 0;
}

static int length_of(postgresql_query_t *q, int column)
{
    if (!q || !q->own.result || column < 0 || column >= q->own.columns || !q->own.row[column])
        return -1;
    return PQgetlength(q->own.result, 0, column);
}

static int time_limit(postgresql_conn_t *conn, unsigned ms)
{
    return db_conn_time_limit(&pg_package, (struct db_conn *)(void *)conn, ms);
}

static int pool_queue(duda_global_t *pool, unsigned most)
{
    return db_pool_queue(&pg_package, pool, most);
}

static int pool_time_limit(duda_global_t *pool, unsigned ms)
{
    return db_pool_time_limit(&pg_package, pool, ms);
}

static int run(duda_global_t *pool, duda_request_t *dr, const char *sql, int n,
               const char *const *values, postgresql_query_row_cb *on_row,
               postgresql_query_end_cb *on_end, void *priv)
{
    struct db_pool *p = db_pool_of(&pg_package, pool);
    struct db_query *q = db_pool_query(p, dr, PG_KEPT, sql, priv);

    if (!q)
        return -1;
    if (db_query_params(q, n, values, NULL, NULL) < 0) {
        db_query_free(q);
        return -1;
    }
    pg_query_tells(query_of(q));
    query_of(q)->on_row = on_row;
    query_of(q)->on_end = on_end;
    return db_pool_run(p, q);
}

static int exec(postgresql_conn_t *conn, const char *sql, int n, const char *const *values,
                postgresql_query_row_cb *on_row, postgresql_query_end_cb *on_end, void *priv)
{
    const struct postgresql_query how = {.on_row = on_row, .on_end = on_end, .own.base.priv = priv};
    const struct db_values v = values_of(n, values, NULL, NULL);

    return add(conn, PG_KEPT, sql, &v, &how);
}

static int begin(duda_global_t *pool, duda_request_t *dr, postgresql_begin_cb *cb, void *priv)
{
    struct db_pool *p = cb ? db_pool_of(&pg_package, pool) : NULL;
    struct db_query *q = db_pool_query(p, dr, PG_TEXT, "BEGIN", priv);

    if (!q)
        return -1;
    q->is_begin = true;
    query_of(q)->on_begin = cb;
    return db_pool_add(p, q);
}

static int commit(postgresql_conn_t *conn, postgresql_query_end_cb *on_end, void *priv)
{
    const struct postgresql_query how = {.on_end = on_end,
                                         .own = {.base.priv = priv, .is_commit = true}};

    if (add(conn, PG_TEXT, "COMMIT", NULL, &how) < 0)
        return -1;
    db_conn_leave(&conn->base);
    return 0;
}

static postgresql_object_t calls = {
    .connect = connect_params,
    .connect_uri = connect_uri,
    .create_pool_params = create_pool_params,
    .create_pool_uri = create_pool_uri,
    .get_conn = get_conn,
    .query = query_text,
    .query_params = query_params,
    .query_prepared = query_prepared,
    .escape_literal = escape_literal,
    .escape_identifier = escape_identifier,
    .escape_binary = escape_binary,
    .unescape_binary = unescape_binary,
    .abort = abort_query,
    .free = free,
    .disconnect = disconnect,
    .error = error_of,
    .state = state_of,
    .rows = rows_of,
    .length = length_of,
    .time_limit = time_limit,
    .pool_time_limit = pool_time_limit,
    .pool_queue = pool_queue,
    .run = run,
    .exec = exec,
    .begin = begin,
    .commit = commit,
    .listen = pg_listen,
    .unlisten = pg_unlisten,
};

duda_package_t *duda_package_main()
{
    static char name[] = "postgresql", version[] = "1.0";
    static duda_package_t package = {.name = name, .version = version, .api = &calls};

    db_package_begin(&pg_package);
    return &package;
}
