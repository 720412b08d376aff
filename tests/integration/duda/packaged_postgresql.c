/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

#include "packages/postgresql/postgresql.h"

#include <string.h>

DUDA_REGISTER("tests", "the published calls of postgresql");

static duda_global_t pool;
static const char *const none[] = {NULL};
static const char *const keys[] = {"host", "port", "user", "dbname", NULL};
static const char *const values[] = {"localhost", DB_PORT, "monkey", "postgres", NULL};

static void answer(duda_request_t *dr, const char *text)
{
    if (!dr)
        return;
    response->cont(dr);
    response->http_status(dr, 200);
    response->printf(dr, "%s", text);
    response->finalize(dr, NULL);
}

/* ---- rows, after one another on one connection ---- */

static void on_closed(postgresql_conn_t *conn, int status, duda_request_t *dr)
{
    answer(dr, status == POSTGRESQL_OK ? "closed" : "lost");
}

static void on_result(void *priv, postgresql_query_t *q, int n, char **fields, duda_request_t *dr)
{
    response->printf(dr, "%s(", (char *)priv);
    for (int i = 0; i < n; i++)
        response->printf(dr, "%s%s", i ? "," : "", fields[i]);
    response->printf(dr, ")");
    if (strcmp(priv, "aborted") == 0)
        postgresql->abort(q);
}

static void on_row(void *priv, postgresql_query_t *q, int n, char **fields, char **row,
                   duda_request_t *dr)
{
    for (int i = 0; i < n; i++)
        response->printf(dr, "%s%s", i ? "," : " ", row[i] ? row[i] : "null");
}

static void on_end(void *priv, postgresql_query_t *q, duda_request_t *dr)
{
    response->printf(dr, " end;");
}

static void on_connect(postgresql_conn_t *conn, int status, duda_request_t *dr)
{
    if (status != POSTGRESQL_OK)
        answer(dr, "not connected");
}

static void ask(postgresql_conn_t *conn)
{
    const char *params[] = {"7", NULL, "a\0b"};
    const int lengths[] = {0, 0, 3}, formats[] = {0, 0, 1};

    postgresql->query(conn, "SELECT 1 AS a, NULL AS b; SELECT 2 AS c WHERE false", on_result,
                      on_row, on_end, "text");
    postgresql->query_params(conn, "SELECT $1::int + 1 AS n, $2::text AS t, length($3::bytea) AS l",
                             3, params, lengths, formats, 0, on_result, on_row, on_end, "params");
    postgresql->query(conn, "PREPARE twice (int) AS SELECT $1 * 2 AS n", NULL, NULL, on_end,
                      "prepare");
    postgresql->query_prepared(conn, "twice", 1, params, NULL, NULL, 0, on_result, on_row, on_end,
                               "prepared");
    postgresql->query(conn, "SELECT generate_series(1, 100000) AS n", on_result, on_row, on_end,
                      "aborted");
    postgresql->query(conn, "SELECT wrong", on_result, on_row, on_end, "wrong");
    postgresql->disconnect(conn, on_closed);
}

static void rows(duda_request_t *dr)
{
    postgresql_conn_t *conn = postgresql->connect(dr, on_connect, keys, values, 0);

    response->wait(dr);
    ask(conn);
}

/* ---- texts ---- */

static void texts(postgresql_conn_t *conn, int status, duda_request_t *dr)
{
    char *literal = postgresql->escape_literal(conn, "it's", 4),
         *name = postgresql->escape_identifier(conn, "a\"b", 3);
    size_t size, len;
    unsigned char *hex = postgresql->escape_binary(conn, (const unsigned char *)"\0\1", 2, &size),
                  *bytes = postgresql->unescape_binary(hex, &len);

    response->printf(dr, "%s %s %s %d %d ", literal, name, (char *)hex, (int)size,
                     (int)len + bytes[1]);
    postgresql->free(literal);
    postgresql->free(name);
    postgresql->free(hex);
    postgresql->free(bytes);
    postgresql->free(NULL);
    postgresql->disconnect(conn, on_closed);
}

static void escape(duda_request_t *dr)
{
    response->wait(dr);
    if (!postgresql->connect_uri(dr, texts, DATABASE))
        answer(dr, "refused");
}

/* ---- the pool ---- */

static void on_pooled(postgresql_conn_t *conn, int status, duda_request_t *dr)
{
    if (status != POSTGRESQL_OK) {
        answer(dr, "not connected");
        return;
    }
    postgresql->query(conn, "SELECT 1 AS n", on_result, on_row, NULL, "pooled");
    postgresql->disconnect(conn, on_closed);
}

static void pooled(duda_request_t *dr)
{
    response->wait(dr);
    if (!postgresql->get_conn(&pool, dr, on_pooled))
        answer(dr, "none is free");
}

/* ---- misuse ---- */

static void wrong(duda_request_t *dr)
{
    duda_global_t other;
    const char *name[] = {"host", NULL}, *value[] = {"database.example", NULL};
    int is_refused = !postgresql->connect(dr, NULL, name, value, 0) &&
                     !postgresql->connect(dr, NULL, NULL, NULL, 0) &&
                     !postgresql->connect_uri(dr, NULL, NULL) &&
                     !postgresql->connect_uri(dr, NULL, "postgresql://a.example/x");

    is_refused &= postgresql->create_pool_uri(&other, 3, 2, DATABASE) < 0 &&
                  postgresql->create_pool_uri(&other, 0, 0, NULL) < 0 &&
                  postgresql->create_pool_params(&other, 0, 0, none, NULL, 0) < 0;
    is_refused &=
        postgresql->query((postgresql_conn_t *)dr, "SELECT 1", NULL, NULL, NULL, NULL) < 0 &&
        postgresql->query(NULL, "SELECT 1", NULL, NULL, NULL, NULL) < 0 &&
        !postgresql->escape_literal(NULL, "x", 1) && !postgresql->get_conn(NULL, dr, NULL);
    postgresql->disconnect((postgresql_conn_t *)dr, NULL);
    postgresql->abort(NULL);
    response->http_status(dr, 200);
    response->printf(dr, "%s", is_refused ? "all refused" : "accepted");
    response->end(dr, NULL);
}

int duda_main()
{
    duda_load_package(postgresql, "postgresql");
    if (postgresql->connect_uri(NULL, NULL, DATABASE)) /* this is no worker */
        return 1;
    if (postgresql->create_pool_params(&pool, 1, 2, keys, values, 0) < 0)
        return 1;
    map->static_add_ref("/rows", rows);
    map->static_add_ref("/escape", escape);
    map->static_add_ref("/pooled", pooled);
    map->static_add_ref("/wrong", wrong);
    return 0;
}
