/* SPDX-License-Identifier: Apache-2.0 */
#include "pg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Queries: what they ask, their call-backs, and the request for which they ask. */

enum { VALUES_MAX = 65535 }; /* of the protocol */

static char pg_no_memory[] = "no memory";

/* ---- requests ---- */

void pg_guest_put(struct pg_guest *g)
{
    if (g && --g->refs == 0)
        free(g);
}

struct pg_guest *pg_guest_get(struct pg_guest *g)
{
    if (g)
        g->refs++;
    return g;
}

/* The connection that it has goes on without it. A call-back may free any other. */
static void leave_connections(const struct pg_guest *g)
{
    struct pg_home *home = pg_home();
    struct postgresql_conn *c = home ? home->conns : NULL;

    while (c) {
        if (c->guest == g && !c->is_left) {
            c->is_left = c->is_leaving = true;
            pg_conn_drive(c);
            c = home->conns;
        } else {
            c = c->next;
        }
    }
}

static void on_gone(void *arg)
{
    struct pg_guest *g = arg;

    g->dr = NULL;
    if (g->refs > 1)
        leave_connections(g);
    pg_guest_put(g);
}

int pg_guest_new(struct pg_guest **guest, duda_request_t *dr)
{
    struct pg_guest *g;

    *guest = NULL;
    if (!dr)
        return 0;
    g = malloc(sizeof(*g));
    if (!g)
        return -1;
    *g = (struct pg_guest){.refs = 2, .dr = dr};
    if (gc->call(dr, on_gone, g) < 0) {
        free(g);
        return -1;
    }
    *guest = g;
    return 0;
}

/* ---- queries ---- */

struct postgresql_query *pg_query_new(enum pg_kind kind, const char *sql, struct pg_guest *guest,
                                      void *priv)
{
    struct postgresql_query *q = sql ? calloc(1, sizeof(*q)) : NULL;

    if (!q)
        return NULL;
    q->sql = strdup(sql);
    if (!q->sql) {
        free(q);
        return NULL;
    }
    q->kind = kind;
    q->guest = pg_guest_get(guest);
    q->priv = priv;
    return q;
}

struct postgresql_query *pg_limit_query(unsigned limit_ms)
{
    char sql[64];

    (void)snprintf(sql, sizeof(sql), "SET statement_timeout = %u", limit_ms - limit_ms / 10);
    return pg_query_new(PG_TEXT, sql, NULL, NULL);
}

static size_t length_of(const char *value, int i, const int *lengths, const int *formats)
{
    if (!value)
        return 0;
    return formats && formats[i] == 1 ? (size_t)lengths[i] : strlen(value);
}

static bool are_values(int n, const char *const *values, const int *lengths, const int *formats)
{
    if (n < 0 || n > VALUES_MAX || (n > 0 && !values))
        return false;
    for (int i = 0; formats && i < n; i++) {
        if (formats[i] != 0 && (formats[i] != 1 || !lengths || lengths[i] < 0))
            return false;
    }
    return true;
}

/* One block: the arrays, and the bytes of the values. */
int pg_query_params(struct postgresql_query *q, int n, const char *const *values,
                    const int *lengths, const int *formats)
{
    size_t size = sizeof(*q->params);
    char *room;

    if (!are_values(n, values, lengths, formats))
        return -1;
    size += (size_t)n * (sizeof(char *) + 2 * sizeof(int));
    for (int i = 0; i < n; i++)
        size += length_of(values[i], i, lengths, formats) + 1;
    q->params = malloc(size);
    if (!q->params)
        return -1;
    q->params->n = n;
    q->params->values = (const char **)(void *)(q->params + 1);
    q->params->lengths = (int *)(void *)(q->params->values + n);
    q->params->formats = q->params->lengths + n;
    room = (char *)(q->params->formats + n);
    for (int i = 0; i < n; i++) {
        const size_t len = length_of(values[i], i, lengths, formats);

        q->params->values[i] = values[i] ? room : NULL;
        q->params->lengths[i] = (int)len;
        q->params->formats[i] = formats ? formats[i] : 0;
        if (values[i])
            memcpy(room, values[i], len);
        room[len] = '\0';
        room += len + 1;
    }
    return 0;
}

void pg_query_free(struct postgresql_query *q)
{
    pg_guest_put(q->guest);
    if (q->error != pg_no_memory)
        free(q->error);
    free((void *)q->fields);
    free(q->params);
    free(q->sql);
    free(q);
}

/* Messages of the server end in a line end. */
void pg_query_fail(struct postgresql_query *q, const char *why, const char *state)
{
    size_t len = why ? strlen(why) : 0;

    if (q->error)
        return;
    while (len > 0 && why[len - 1] == '\n')
        len--;
    q->error = len > 0 ? strndup(why, len) : strdup("it failed");
    if (!q->error)
        q->error = pg_no_memory;
    if (state)
        memccpy(q->state, state, '\0', sizeof(q->state) - 1);
}

void pg_query_finish(struct postgresql_query *q)
{
    duda_request_t *dr = q->guest ? q->guest->dr : NULL;

    q->result = NULL;
    if (q->on_begin && pg_guest_is_gone(q->guest))
        pg_query_fail(q, "the client has left", NULL);
    if (q->on_begin) {
        if (q->error && q->conn)
            q->conn->is_leaving = true;
        q->on_begin(q->priv, q->error ? NULL : q->conn, q->error, dr);
    } else if (q->on_end) {
        q->on_end(q->priv, q, dr);
    }
    pg_query_free(q);
}

/* ---- results ---- */

static bool is_wanted(const struct postgresql_query *q)
{
    return !q->is_aborted && !q->error && !pg_guest_is_gone(q->guest);
}

static int take_fields(struct postgresql_query *q, const PGresult *result)
{
    const int n = PQnfields(result);

    free((void *)q->fields);
    q->columns = n;
    q->fields = malloc((2 * (size_t)n + 1) * sizeof(char *));
    if (!q->fields) {
        pg_query_fail(q, pg_no_memory, NULL);
        return -1;
    }
    q->row = q->fields + n;
    for (int i = 0; i < n; i++)
        q->fields[i] = PQfname(result, i);
    return 0;
}

/* Names are of this result: each row has a result of its own. */
static void take_row(struct postgresql_query *q, const PGresult *result, int row)
{
    for (int i = 0; i < q->columns; i++)
        q->row[i] = PQgetisnull(result, row, i) ? NULL : PQgetvalue(result, row, i);
    if (q->on_row)
        q->on_row(q->priv, q, q->columns, q->fields, q->row, q->guest ? q->guest->dr : NULL);
}

static void take_rows(struct postgresql_query *q, const PGresult *result)
{
    if (!is_wanted(q) || take_fields(q, result) < 0)
        return;
    q->result = result;
    if (!q->has_result && q->on_result)
        q->on_result(q->priv, q, q->columns, q->fields, q->guest ? q->guest->dr : NULL);
    q->has_result = true;
    for (int i = 0; i < PQntuples(result) && is_wanted(q); i++)
        take_row(q, result, i);
    q->result = NULL;
}

static void take_command(struct postgresql_query *q, const PGresult *result)
{
    q->rows = strtoll(PQcmdTuples((PGresult *)(uintptr_t)result), NULL, 10);
    q->has_result = false;
    if (q->is_commit && strcmp(PQcmdStatus((PGresult *)(uintptr_t)result), "ROLLBACK") == 0)
        pg_query_fail(q, "a statement of the transaction has failed: it was rolled back", "40000");
}

/* A table has changed, or DEALLOCATE came from elsewhere: what was kept is of no use. */
static bool is_stale(const char *state)
{
    return state && (strcmp(state, "0A000") == 0 || strcmp(state, "26000") == 0);
}

void pg_query_take(struct postgresql_query *q, const PGresult *result)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);

    switch (PQresultStatus(result)) {
    case PGRES_SINGLE_TUPLE:
        take_rows(q, result);
        break;
    case PGRES_TUPLES_OK:
        take_rows(q, result);
        take_command(q, result);
        break;
    case PGRES_COMMAND_OK:
        take_command(q, result);
        break;
    case PGRES_EMPTY_QUERY:
        break;
    default:
        q->is_out_of_date = q->kind == PG_KEPT && is_stale(state);
        pg_query_fail(q, PQresultErrorMessage(result), state);
    }
}
