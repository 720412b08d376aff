/* SPDX-License-Identifier: Apache-2.0 */
#include "ma.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The calls for dthreads: each asks as the other half does, and yields until the call-back resumes it. A call-back comes
 * in any case, unless the worker ends.
 */

struct waiter {
    int id;
    bool is_over;
    int status;
    struct mariadb_result *result;
    struct mariadb_conn *conn;
};

struct row {
    struct row *next;
    char *values[];
};

struct mariadb_result {
    struct mariadb_result *next; /* of its connection */
    int columns;
    struct row *fields;
    struct row *first, **last;
    struct row *given; /* by get_row() */
    size_t size;
    bool is_over; /* its first set of rows */
};

/* ---- rows ---- */

/* One block. @return NULL: no memory, or they are too large */
static struct row *copy_row(struct mariadb_result *r, unsigned n, char **values,
                            const unsigned long *lengths)
{
    size_t size = sizeof(struct row) + ((size_t)n + 1) * sizeof(char *);
    struct row *row;
    char *to;

    for (unsigned i = 0; i < n; i++)
        size += values[i] ? (lengths ? lengths[i] : strlen(values[i])) + 1 : 0;
    if (size > MA_RESULT_MAX - r->size)
        return NULL;
    row = malloc(size);
    if (!row)
        return NULL;
    row->next = NULL;
    r->size += size;
    to = (char *)(row->values + n + 1);
    for (unsigned i = 0; i < n; i++) {
        const size_t len = !values[i] ? 0 : lengths ? lengths[i] : strlen(values[i]);

        row->values[i] = values[i] ? memcpy(to, values[i], len) : NULL;
        if (values[i])
            to[len] = '\0';
        to += values[i] ? len + 1 : 0;
    }
    row->values[n] = NULL;
    return row;
}

static void result_free(struct mariadb_result *r)
{
    while (r->first) {
        struct row *next = r->first->next;

        free(r->first);
        r->first = next;
    }
    free(r->given);
    free(r->fields);
    free(r);
}

void ma_results_free(struct mariadb_conn *c)
{
    while (c->results) {
        struct mariadb_result *next = c->results->next;

        result_free(c->results);
        c->results = next;
    }
}

/* ---- waiting ---- */

static void resume(struct waiter *w)
{
    w->is_over = true;
    dthread->resume(w->id);
}

static void wait_for(const struct waiter *w)
{
    while (!w->is_over)
        dthread->yield();
}

static void keep_error(struct mariadb_conn *c, const char *why)
{
    (void)snprintf(c->last_error, sizeof(c->last_error), "%s", why);
}

/* ---- connections ---- */

static void on_connected(mariadb_conn_t *conn, int status, duda_request_t *dr)
{
    struct waiter *w = conn->waiter;

    (void)dr;
    conn->waiter = NULL;
    w->status = status;
    if (status != MARIADB_OK)
        keep_error(conn, conn->base.why ? conn->base.why : db_no_memory);
    resume(w);
}

static int wait_for_connection(mariadb_conn_t *conn)
{
    struct waiter w = {.id = dthread->running()};

    conn->waiter = &w;
    conn->on_connect = on_connected;
    wait_for(&w);
    return w.status;
}

int ma_connect(mariadb_conn_t *conn)
{
    if (dthread->running() < 0 || !db_conn_is_usable(&ma_package, conn) ||
        conn->base.state != DB_NEW)
        return MARIADB_ERR;
    db_conn_open(&conn->base, &conn->own->base);
    return wait_for_connection(conn);
}

mariadb_conn_t *ma_pool_get_conn(duda_global_t *pool)
{
    struct db_pool *p = dthread->running() >= 0 ? db_pool_of(&ma_package, pool) : NULL;
    struct db_conn *c = p ? db_pool_lend(p, NULL) : NULL;

    if (!c || c->state == DB_READY)
        return c ? ma_conn(c) : NULL;
    return wait_for_connection(ma_conn(c)) == MARIADB_OK ? ma_conn(c) : NULL;
}

static void on_disconnected(mariadb_conn_t *conn, int status, duda_request_t *dr)
{
    struct waiter *w = conn->waiter;

    (void)dr;
    (void)status;
    conn->waiter = NULL;
    resume(w);
}

void ma_disconnect(mariadb_conn_t *conn)
{
    struct waiter w = {.id = dthread->running()};

    if (!db_conn_is_alive(&ma_package, conn) || conn->base.is_leaving || !conn->base.is_lent)
        return;
    if (w.id >= 0 && conn->base.first) {
        conn->waiter = &w;
        conn->on_disconnect = on_disconnected;
        db_conn_leave(&conn->base);
        wait_for(&w);
    } else {
        db_conn_leave(&conn->base);
    }
}

/* ---- queries ---- */

static void add_result(void *priv, mariadb_query_t *q, unsigned long n, char **fields,
                       duda_request_t *dr)
{
    struct mariadb_result *r = ((struct waiter *)priv)->result;

    (void)dr;
    if (r->fields) { /* only the first set counts */
        r->is_over = true;
        return;
    }
    r->columns = (int)n;
    r->fields = copy_row(r, (unsigned)n, fields, NULL);
    if (!r->fields)
        db_query_fail(&q->base, db_no_memory, NULL);
}

static void add_row(void *priv, mariadb_query_t *q, unsigned long n, char **fields, char **values,
                    duda_request_t *dr)
{
    struct mariadb_result *r = ((struct waiter *)priv)->result;
    struct row *row;

    (void)dr;
    (void)fields;
    if (r->is_over)
        return;
    row = copy_row(r, (unsigned)n, values, q->lengths);
    if (!row) {
        db_query_fail(&q->base, "the rows are too large for the memory", NULL);
        return;
    }
    *r->last = row;
    r->last = &row->next;
}

static void on_end(void *priv, mariadb_query_t *q, duda_request_t *dr)
{
    struct waiter *w = priv;

    (void)dr;
    w->status = q->base.error ? MARIADB_ERR : MARIADB_OK;
    if (q->base.error)
        keep_error(ma_conn(q->base.conn), q->base.error);
    resume(w);
}

mariadb_result_t *ma_query_all(mariadb_conn_t *conn, const char *sql)
{
    struct waiter w = {.id = dthread->running()};

    if (w.id < 0 || !db_conn_is_usable(&ma_package, conn))
        return NULL;
    conn->last_error[0] = '\0';
    w.result = calloc(1, sizeof(*w.result));
    if (!w.result)
        return NULL;
    w.result->last = &w.result->first;
    if (ma_ask(conn, sql, add_result, add_row, on_end, &w) < 0) {
        result_free(w.result);
        return NULL;
    }
    wait_for(&w);
    if (w.status != MARIADB_OK || !db_conn_is_alive(&ma_package, conn)) {
        result_free(w.result);
        return NULL;
    }
    w.result->next = conn->results;
    conn->results = w.result;
    return w.result;
}

/* @return where it stands in the list; NULL: it is none of this connection */
static struct mariadb_result **place_of(mariadb_conn_t *conn, const mariadb_result_t *result)
{
    struct mariadb_result **at = db_conn_is_alive(&ma_package, conn) ? &conn->results : NULL;

    while (at && *at && *at != result)
        at = &(*at)->next;
    return at && *at ? at : NULL;
}

char **ma_get_row(mariadb_conn_t *conn, mariadb_result_t *result, int *error)
{
    struct mariadb_result **at = result ? place_of(conn, result) : NULL;

    if (error)
        *error = at ? 0 : 1;
    if (!at)
        return NULL;
    free(result->given);
    result->given = result->first;
    if (result->given) {
        result->first = result->given->next;
        return result->given->values;
    }
    *at = result->next;
    result_free(result);
    return NULL;
}

char **ma_get_fields(mariadb_result_t *result)
{
    return result && result->fields ? result->fields->values : NULL;
}

int ma_get_field_num(mariadb_result_t *result)
{
    return result ? result->columns : 0;
}

const char *ma_last_error(mariadb_conn_t *conn)
{
    return db_conn_is_alive(&ma_package, conn) ? conn->last_error : "there is no such connection";
}
