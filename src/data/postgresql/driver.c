/* SPDX-License-Identifier: Apache-2.0 */
#include "data/postgresql/pg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Connections by libpq's calls that do not block. */

static struct pg_conn *conn_of(struct db_conn *conn)
{
    return (struct pg_conn *)(void *)conn;
}

static struct pg_query *first_of(struct pg_conn *c)
{
    return (struct pg_query *)(void *)c->base.first;
}

/* ---- sending ---- */

static int send_params(struct pg_conn *c, struct pg_query *q, const char *prepared)
{
    const struct db_values *v = q->base.params;

    if (prepared)
        return PQsendQueryPrepared(c->pg, prepared, v->n, v->values, v->lengths, v->formats,
                                   q->result_format);
    return PQsendQueryParams(c->pg, q->base.sql, v->n, NULL, v->values, v->lengths, v->formats,
                             q->result_format);
}

static int send_kept(struct pg_conn *c, struct pg_query *q)
{
    const struct db_kept *k = db_kept_find(&c->base, q->base.sql);
    char name[32];

    q->is_preparing = !k;
    if (!k)
        k = db_kept_add(&c->base, q->base.sql);
    if (!k) {
        q->is_preparing = false;
        return send_params(c, q, NULL);
    }
    (void)snprintf(name, sizeof(name), "monkey_%u", k->serial);
    return q->is_preparing ? PQsendPrepare(c->pg, name, q->base.sql, 0, NULL)
                           : send_params(c, q, name);
}

static int send_one(struct pg_conn *c, struct pg_query *q)
{
    switch (q->base.kind) {
    case PG_PARAMS:
        return send_params(c, q, NULL);
    case PG_PREPARED:
        return send_params(c, q, q->base.sql);
    case PG_KEPT:
        return send_kept(c, q);
    default:
        return PQsendQuery(c->pg, q->base.sql);
    }
}

void pg_send(struct db_conn *conn)
{
    struct pg_conn *c = conn_of(conn);
    int left = -1;

    if (conn->is_sent || send_one(c, first_of(c))) {
        if (!conn->is_sent)
            (void)PQsetSingleRowMode(c->pg);
        left = PQflush(c->pg);
    }
    if (left < 0)
        db_conn_lose(conn, PQerrorMessage(c->pg));
    else
        db_conn_watch(conn, PQsocket(c->pg), left > 0);
}

/* ---- receiving ---- */

/* All results are there. When its statement is prepared now, or once more, the query itself follows. */
static enum db_progress end_first(struct pg_conn *c, struct pg_query *q)
{
    const bool is_prepared = q->is_preparing && !q->base.error;

    if ((q->is_preparing && q->base.error) || q->is_out_of_date)
        db_kept_forget(&c->base, q->base.sql);
    return is_prepared ? DB_AGAIN : DB_ENDED;
}

static bool is_copy(const PGresult *result)
{
    const ExecStatusType status = PQresultStatus(result);

    return status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH;
}

enum db_progress pg_receive(struct db_conn *conn)
{
    struct pg_conn *c = conn_of(conn);

    while (conn->state == DB_READY && !PQisBusy(c->pg)) {
        PGresult *result = PQgetResult(c->pg);

        if (!result)
            return end_first(c, first_of(c));
        if (is_copy(result))
            db_conn_lose(conn, "COPY is not possible here");
        else
            pg_query_take(first_of(c), result);
        PQclear(result);
    }
    return DB_WAITS;
}

void pg_input(struct db_conn *conn)
{
    struct pg_conn *c = conn_of(conn);

    if (!PQconsumeInput(c->pg))
        db_conn_lose(conn, PQerrorMessage(c->pg));
}

bool pg_is_in_transaction(const struct db_conn *conn)
{
    const struct pg_conn *c = (const struct pg_conn *)(const void *)conn;

    return PQtransactionStatus(c->pg) != PQTRANS_IDLE;
}

void pg_limit_text(char *sql, size_t room, unsigned limit_ms)
{
    (void)snprintf(sql, room, "SET statement_timeout = %u", limit_ms - limit_ms / 10);
}

/* ---- connecting ---- */

static void ignore_notice(void *arg, const char *text)
{
    (void)arg;
    (void)text;
}

static void begin(struct db_conn *conn, const char *const *keys, const char *const *values)
{
    struct pg_conn *c = conn_of(conn);

    c->pg = PQconnectStartParams(keys, values, 0);
    if (!c->pg) {
        db_conn_lose(conn, db_no_memory);
        return;
    }
    (void)PQsetNoticeProcessor(c->pg, ignore_notice, NULL);
    if (PQstatus(c->pg) == CONNECTION_BAD)
        db_conn_lose(conn, PQerrorMessage(c->pg));
    else
        db_conn_watch(conn, PQsocket(c->pg), true);
}

unsigned pg_connect(struct db_conn *conn, const struct db_target *target)
{
    const struct pg_target *t = (const struct pg_target *)(const void *)target;

    begin(conn, (const char *const *)t->keys, (const char *const *)t->values);
    return t->connect_ms;
}

/* Of a keyword that comes twice the last one counts. */
void pg_connect_at(struct db_conn *conn, const struct pg_target *t, const char *hosts,
                   const char *addresses)
{
    const char **keys = calloc(t->count + 3, sizeof(*keys));
    const char **values = calloc(t->count + 3, sizeof(*values));

    if (keys && values) {
        memcpy(keys, t->keys, t->count * sizeof(*keys));
        memcpy(values, t->values, t->count * sizeof(*values));
        keys[t->count] = "host";
        values[t->count] = hosts;
        keys[t->count + 1] = "hostaddr";
        values[t->count + 1] = addresses;
        begin(conn, keys, values);
    } else {
        db_conn_lose(conn, db_no_memory);
    }
    free((void *)keys);
    free((void *)values);
}

/* libpq may go on with another socket of the same number. */
void pg_connect_on(struct db_conn *conn)
{
    struct pg_conn *c = conn_of(conn);

    db_conn_unwatch(conn);
    switch (PQconnectPoll(c->pg)) {
    case PGRES_POLLING_OK:
        db_conn_connected(conn);
        break;
    case PGRES_POLLING_READING:
        db_conn_watch(conn, PQsocket(c->pg), false);
        break;
    case PGRES_POLLING_WRITING:
        db_conn_watch(conn, PQsocket(c->pg), true);
        break;
    default:
        db_conn_lose(conn, PQerrorMessage(c->pg));
    }
}

void pg_set_up(struct db_conn *conn)
{
    struct pg_conn *c = conn_of(conn);

    (void)PQsetnonblocking(c->pg, 1);
    db_conn_watch(conn, PQsocket(c->pg), false);
}

void pg_free_conn(struct db_conn *conn)
{
    PQfinish(conn_of(conn)->pg);
}
