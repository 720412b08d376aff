/* SPDX-License-Identifier: Apache-2.0 */
#include "pg.h"

#include "duda_package.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* The calls of the package. */

static duda_global_t homes;
static struct pg_target *targets; /* of pools; duda_main() alone adds some */

/* ---- workers ---- */

/* The worker has no more use for the service, or its thread has ended: no call-back can be made. */
static void end_home(void *value)
{
    struct pg_home *home = value;

    while (home->conns) {
        struct postgresql_conn *next = home->conns->next;

        pg_conn_free(home->conns);
        home->conns = next;
    }
    while (home->pools) {
        struct pg_pool *next = home->pools->next;

        pg_pool_free(home->pools);
        home->pools = next;
    }
    free(home);
}

struct pg_home *pg_home(void)
{
    return global->get(homes);
}

static void nothing(void *arg)
{
    (void)arg;
}

/* Other threads have neither timers nor events. */
static bool is_worker(void)
{
    return timer->cancel(timer->after(PG_LIMIT_MS, nothing, NULL)) == 0;
}

struct pg_home *pg_home_made(void)
{
    struct pg_home *home = pg_home();

    if (home || !is_worker())
        return home;
    home = calloc(1, sizeof(*home));
    if (home && global->set(homes, home) < 0) {
        free(home);
        return NULL;
    }
    return home;
}

/* ---- connections ---- */

static postgresql_conn_t *connect_to(struct pg_target *t, duda_request_t *dr,
                                     postgresql_connect_cb *cb)
{
    struct pg_home *home = t ? pg_home_made() : NULL;
    struct pg_guest *guest;
    struct postgresql_conn *c = NULL;

    if (home && pg_guest_new(&guest, dr) == 0) {
        c = pg_conn_new(home, t, NULL, false);
        if (c) {
            c->guest = guest;
            c->on_connect = cb;
            c->is_lent = true;
        } else {
            pg_guest_put(guest);
        }
    }
    pg_target_free(t);
    return c;
}

static postgresql_conn_t *connect_params(duda_request_t *dr, postgresql_connect_cb *cb,
                                         const char *const *keys, const char *const *values,
                                         int expand_dbname)
{
    return connect_to(pg_target_new("connect", keys, values, expand_dbname), dr, cb);
}

/* The only keyword of a URI. */
static struct pg_target *target_of(const char *call, const char *uri)
{
    const char *keys[] = {"dbname", NULL}, *values[] = {uri, NULL};

    return pg_target_new(call, uri ? keys : NULL, values, 1);
}

static postgresql_conn_t *connect_uri(duda_request_t *dr, postgresql_connect_cb *cb,
                                      const char *uri)
{
    return connect_to(target_of("connect_uri", uri), dr, cb);
}

static void disconnect(postgresql_conn_t *conn, postgresql_disconnect_cb *cb)
{
    if (!pg_conn_is_alive(conn) || conn->is_leaving || !conn->is_lent)
        return;
    conn->on_disconnect = cb;
    pg_conn_leave(conn);
}

/* ---- pools ---- */

static void *same(void *target)
{
    return target;
}

static int create(duda_global_t *pool, int min, int max, struct pg_target *t)
{
    if (min == 0 && max == 0) {
        min = POSTGRESQL_POOL_DEFAULT_MIN_SIZE;
        max = POSTGRESQL_POOL_DEFAULT_MAX_SIZE;
    }
    if (!t || !pool || min < 0 || max < 1 || min > max) {
        pg_target_free(t);
        return POSTGRESQL_ERR;
    }
    t->min = min;
    t->max = max;
    t->limit_ms = PG_LIMIT_MS;
    t->next = targets;
    targets = t;
    global->init(pool, same, t);
    return POSTGRESQL_OK;
}

static int create_pool_params(duda_global_t *pool, int min, int max, const char *const *keys,
                              const char *const *values, int expand_dbname)
{
    return create(pool, min, max, pg_target_new("create_pool_params", keys, values, expand_dbname));
}

static int create_pool_uri(duda_global_t *pool, int min, int max, const char *uri)
{
    return create(pool, min, max, target_of("create_pool_uri", uri));
}

static postgresql_conn_t *get_conn(duda_global_t *pool, duda_request_t *dr,
                                   postgresql_connect_cb *cb)
{
    struct pg_pool *p = pg_pool_of(pool);
    struct pg_guest *guest;
    struct postgresql_conn *c;

    if (!p || pg_guest_new(&guest, dr) < 0)
        return NULL;
    c = pg_pool_take(p);
    if (!c) {
        pg_guest_put(guest);
        return NULL;
    }
    c->guest = guest;
    if (c->state != PG_READY)
        c->on_connect = cb;
    else if (cb)
        cb(c, POSTGRESQL_OK, dr);
    return pg_conn_is_alive(c) ? c : NULL;
}

/* ---- queries ---- */

static bool is_usable(const postgresql_conn_t *conn)
{
    return pg_conn_is_alive(conn) && conn->is_lent && !conn->is_leaving && conn->state != PG_LOST;
}

static int add(postgresql_conn_t *conn, enum pg_kind kind, const char *sql,
               const struct pg_values *v, const struct postgresql_query *how)
{
    struct postgresql_query *q =
        is_usable(conn) ? pg_query_new(kind, sql, conn->guest, how->priv) : NULL;

    if (!q)
        return POSTGRESQL_ERR;
    if (kind != PG_TEXT && pg_query_params(q, v->n, v->values, v->lengths, v->formats) < 0) {
        pg_query_free(q);
        return POSTGRESQL_ERR;
    }
    q->result_format = how->result_format;
    q->on_result = how->on_result;
    q->on_row = how->on_row;
    q->on_end = how->on_end;
    q->is_commit = how->is_commit;
    pg_conn_add(conn, q);
    return POSTGRESQL_OK;
}

static int query_text(postgresql_conn_t *conn, const char *sql,
                      postgresql_query_result_cb *on_result, postgresql_query_row_cb *on_row,
                      postgresql_query_end_cb *on_end, void *priv)
{
    const struct postgresql_query how = {
        .on_result = on_result, .on_row = on_row, .on_end = on_end, .priv = priv};

    return add(conn, PG_TEXT, sql, NULL, &how);
}

static struct pg_values values_of(int n, const char *const *values, const int *lengths,
                                  const int *formats)
{
    return (struct pg_values){n, (const char **)(uintptr_t)values, (int *)(uintptr_t)lengths,
                              (int *)(uintptr_t)formats};
}

static int query_params(postgresql_conn_t *conn, const char *sql, int n, const char *const *values,
                        const int *lengths, const int *formats, int result_format,
                        postgresql_query_result_cb *on_result, postgresql_query_row_cb *on_row,
                        postgresql_query_end_cb *on_end, void *priv)
{
    const struct postgresql_query how = {.on_result = on_result,
                                         .on_row = on_row,
                                         .on_end = on_end,
                                         .priv = priv,
                                         .result_format = result_format};
    const struct pg_values v = values_of(n, values, lengths, formats);

    return add(conn, PG_PARAMS, sql, &v, &how);
}

static int query_prepared(postgresql_conn_t *conn, const char *name, int n,
                          const char *const *values, const int *lengths, const int *formats,
                          int result_format, postgresql_query_result_cb *on_result,
                          postgresql_query_row_cb *on_row, postgresql_query_end_cb *on_end,
                          void *priv)
{
    const struct postgresql_query how = {.on_result = on_result,
                                         .on_row = on_row,
                                         .on_end = on_end,
                                         .priv = priv,
                                         .result_format = result_format};
    const struct pg_values v = values_of(n, values, lengths, formats);

    return add(conn, PG_PREPARED, name, &v, &how);
}

static void abort_query(postgresql_query_t *q)
{
    if (q)
        q->is_aborted = true;
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
    return text && pg_conn_is_alive(conn) && conn->state == PG_READY;
}

static char *escape_literal(postgresql_conn_t *conn, const char *text, size_t len)
{
    char *escaped = can_escape(conn, text) ? PQescapeLiteral(conn->pg, text, len) : NULL;

    return own(escaped, escaped ? strlen(escaped) + 1 : 0);
}

static char *escape_identifier(postgresql_conn_t *conn, const char *text, size_t len)
{
    char *escaped = can_escape(conn, text) ? PQescapeIdentifier(conn->pg, text, len) : NULL;

    return own(escaped, escaped ? strlen(escaped) + 1 : 0);
}

static unsigned char *escape_binary(postgresql_conn_t *conn, const unsigned char *bytes, size_t len,
                                    size_t *size)
{
    size_t n = 0;
    unsigned char *escaped =
        can_escape(conn, bytes) ? PQescapeByteaConn(conn->pg, bytes, len, &n) : NULL;

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
    return q ? q->error : "no query";
}

static const char *state_of(postgresql_query_t *q)
{
    return q ? q->state : "";
}

static long long rows_of(postgresql_query_t *q)
{
    return q ? q->rows : 0;
}

static int length_of(postgresql_query_t *q, int column)
{
    if (!q || !q->result || column < 0 || column >= q->columns || !q->row[column])
        return -1;
    return PQgetlength(q->result, 0, column);
}

static int time_limit(postgresql_conn_t *conn, unsigned ms)
{
    struct postgresql_query *q;

    if (!is_usable(conn) || conn->pool || ms < PG_LIMIT_LEAST_MS)
        return -1;
    q = conn->state == PG_READY ? pg_limit_query(ms) : NULL;
    if (conn->state == PG_READY && !q)
        return -1;
    conn->limit_ms = ms;
    if (q)
        pg_conn_add(conn, q);
    return 0;
}

/* The value of a global is there only later, so it is found by its key's data. */
static int pool_time_limit(duda_global_t *pool, unsigned ms)
{
    struct pg_target *t = targets;

    while (t && (!pool || pool->data != t))
        t = t->next;
    if (!t || ms < PG_LIMIT_LEAST_MS)
        return -1;
    t->limit_ms = ms;
    return 0;
}

/* @return a query for a pool; NULL: refused */
static struct postgresql_query *waiter(duda_request_t *dr, enum pg_kind kind, const char *sql,
                                       void *priv)
{
    struct pg_guest *guest;
    struct postgresql_query *q;

    if (pg_guest_new(&guest, dr) < 0)
        return NULL;
    q = pg_query_new(kind, sql, guest, priv);
    pg_guest_put(guest);
    return q;
}

static int wait_for_one(struct pg_pool *p, struct postgresql_query *q)
{
    if (pg_pool_add(p, q) == 0)
        return 0;
    pg_query_free(q);
    return -1;
}

static int run(duda_global_t *pool, duda_request_t *dr, const char *sql, int n,
               const char *const *values, postgresql_query_row_cb *on_row,
               postgresql_query_end_cb *on_end, void *priv)
{
    struct pg_pool *p = pg_pool_of(pool);
    struct postgresql_query *q = p ? waiter(dr, PG_KEPT, sql, priv) : NULL;

    if (!q)
        return -1;
    if (pg_query_params(q, n, values, NULL, NULL) < 0) {
        pg_query_free(q);
        return -1;
    }
    q->on_row = on_row;
    q->on_end = on_end;
    return wait_for_one(p, q);
}

static int exec(postgresql_conn_t *conn, const char *sql, int n, const char *const *values,
                postgresql_query_row_cb *on_row, postgresql_query_end_cb *on_end, void *priv)
{
    const struct postgresql_query how = {.on_row = on_row, .on_end = on_end, .priv = priv};
    const struct pg_values v = values_of(n, values, NULL, NULL);

    return add(conn, PG_KEPT, sql, &v, &how);
}

static int begin(duda_global_t *pool, duda_request_t *dr, postgresql_begin_cb *cb, void *priv)
{
    struct pg_pool *p = cb ? pg_pool_of(pool) : NULL;
    struct postgresql_query *q = p ? waiter(dr, PG_TEXT, "BEGIN", priv) : NULL;

    if (!q)
        return -1;
    q->on_begin = cb;
    return wait_for_one(p, q);
}

static int commit(postgresql_conn_t *conn, postgresql_query_end_cb *on_end, void *priv)
{
    const struct postgresql_query how = {.on_end = on_end, .priv = priv, .is_commit = true};

    if (add(conn, PG_TEXT, "COMMIT", NULL, &how) < 0)
        return -1;
    pg_conn_leave(conn);
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

    global->init_with_end(&homes, NULL, NULL, end_home);
    return &package;
}
