/* SPDX-License-Identifier: Apache-2.0 */
#include "data/postgresql/pg.h"

#include <stdlib.h>
#include <string.h>

/* What comes of queries: results, rows, errors and the end. */

void pg_free_query(struct db_query *base)
{
    struct pg_query *q = (struct pg_query *)(void *)base;

    free((void *)q->fields);
}

static int take_fields(struct pg_query *q, const PGresult *result)
{
    const int n = PQnfields(result);

    free((void *)q->fields);
    q->columns = n;
    q->fields = malloc((2 * (size_t)n + 1) * sizeof(char *));
    if (!q->fields) {
        db_query_fail(&q->base, db_no_memory, NULL);
        return -1;
    }
    q->row = q->fields + n;
    for (int i = 0; i < n; i++)
        q->fields[i] = PQfname(result, i);
    return 0;
}

/* Names are of this result: each row has a result of its own. */
static void take_row(struct pg_query *q, const PGresult *result, int row)
{
    for (int i = 0; i < q->columns; i++)
        q->row[i] = PQgetisnull(result, row, i) ? NULL : PQgetvalue(result, row, i);
    if (q->on_row)
        q->on_row(q, db_guest_request(q->base.guest));
}

static void take_rows(struct pg_query *q, const PGresult *result)
{
    if (!db_query_is_wanted(&q->base) || take_fields(q, result) < 0)
        return;
    q->result = result;
    if (!q->has_result && q->on_result)
        q->on_result(q, db_guest_request(q->base.guest));
    q->has_result = true;
    for (int i = 0; i < PQntuples(result) && db_query_is_wanted(&q->base); i++)
        take_row(q, result, i);
    q->result = NULL;
}

static void take_command(struct pg_query *q, const PGresult *result)
{
    q->rows = strtoll(PQcmdTuples((PGresult *)(uintptr_t)result), NULL, 10);
    q->has_result = false;
    if (q->is_commit && strcmp(PQcmdStatus((PGresult *)(uintptr_t)result), "ROLLBACK") == 0)
        db_query_fail(&q->base, "a statement of the transaction has failed: it was rolled back",
                      "40000");
}

/* A table has changed, or DEALLOCATE came from elsewhere: what was kept is of no use. */
static bool is_stale(const char *state)
{
    return state && (strcmp(state, "0A000") == 0 || strcmp(state, "26000") == 0);
}

void pg_query_take(struct pg_query *q, const PGresult *result)
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
        q->is_out_of_date = q->base.kind == PG_KEPT && is_stale(state);
        db_query_fail(&q->base, PQresultErrorMessage(result), state);
    }
}
