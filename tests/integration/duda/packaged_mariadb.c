/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

#include "packages/mariadb/mariadb.h"

#include <stdlib.h>
#include <string.h>

DUDA_REGISTER("tests", "the published calls of mariadb");

#define ADDRESS "root", NULL, "127.0.0.1", "mysql", DB_PORT, NULL
#define SOCKET "root", "", "localhost", "mysql", 0, DB_SOCKET

static duda_global_t pool;
static long sum;

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

static void on_closed(mariadb_conn_t *conn, int status, duda_request_t *dr)
{
    answer(dr, status == MARIADB_OK ? "closed" : "lost");
}

static void on_result(void *priv, mariadb_query_t *q, unsigned long n, char **fields,
                      duda_request_t *dr)
{
    response->printf(dr, "%s(", (char *)priv);
    for (unsigned long i = 0; i < n; i++)
        response->printf(dr, "%s%s", i ? "," : "", fields[i]);
    response->printf(dr, ")");
    if (strcmp(priv, "aborted") == 0)
        mariadb->abort_async(q);
}

static void on_row(void *priv, unsigned long n, char **fields, char **row, duda_request_t *dr)
{
    for (unsigned long i = 0; i < n; i++)
        response->printf(dr, "%s%s", i ? "," : " ", row[i] ? row[i] : "null");
}

static void on_end(void *priv, mariadb_query_t *q, duda_request_t *dr)
{
    response->printf(dr, " end;");
}

static void on_connect(mariadb_conn_t *conn, int status, duda_request_t *dr)
{
    if (status != MARIADB_OK)
        answer(dr, "not connected");
}

static void ask(mariadb_conn_t *conn)
{
    mariadb->query_async(conn, "SELECT 1 AS a, NULL AS b; SELECT 2 AS c FROM dual WHERE false",
                         on_result, on_row, on_end, "text");
    mariadb->query_async(conn, "SET @twice = 14", on_result, on_row, on_end, "set");
    mariadb->query_async(conn, "SELECT @twice AS n", on_result, on_row, on_end, "kept");
    mariadb->query_async(conn, "SELECT seq AS n FROM seq_1_to_100000", on_result, on_row, on_end,
                         "aborted");
    mariadb->query_async(conn, "SELECT wrong", on_result, on_row, on_end, "wrong");
    mariadb->query_async(conn, "SELECT 'last' AS a", on_result, on_row, on_end, "last");
    mariadb->disconnect_async(conn, on_closed);
}

static void rows(duda_request_t *dr)
{
    mariadb_conn_t *conn = mariadb->create_conn(dr, ADDRESS, CLIENT_MULTI_STATEMENTS);

    response->wait(dr);
    if (mariadb->connect_async(conn, on_connect) < 0)
        answer(dr, "refused");
    else
        ask(conn);
}

static void on_sum(void *priv, unsigned long n, char **fields, char **row, duda_request_t *dr)
{
    sum += strtol(row[0], NULL, 10);
}

static void on_summed(void *priv, mariadb_query_t *q, duda_request_t *dr)
{
    response->printf(dr, "%ld ", sum);
}

static void many(duda_request_t *dr)
{
    mariadb_conn_t *conn = mariadb->create_conn(dr, SOCKET, 0);

    sum = 0;
    response->wait(dr);
    mariadb->connect_async(conn, NULL);
    mariadb->query_async(conn, "SELECT seq FROM seq_1_to_30000", NULL, on_sum, on_summed, NULL);
    mariadb->disconnect_async(conn, on_closed);
}

/* ---- texts ---- */

static void texts(mariadb_conn_t *conn, int status, duda_request_t *dr)
{
    char to[32] = "";
    unsigned long len = mariadb->escape(conn, to, "it's\0", 5);

    response->printf(dr, "%s %lu ", to, len);
    mariadb->disconnect_async(conn, on_closed);
}

static void escape(duda_request_t *dr)
{
    response->wait(dr);
    mariadb->connect_async(mariadb->create_conn(dr, SOCKET, 0), texts);
}

/* ---- the pool ---- */

static void on_pooled(mariadb_conn_t *conn, int status, duda_request_t *dr)
{
    if (status != MARIADB_OK) {
        answer(dr, "not connected");
        return;
    }
    mariadb->query_async(conn, "SELECT 1 AS n", on_result, on_row, NULL, "pooled");
    mariadb->disconnect_async(conn, on_closed);
}

static void pooled(duda_request_t *dr)
{
    response->wait(dr);
    if (!mariadb->pool_get_conn_async(&pool, dr, on_pooled))
        answer(dr, "none is free");
}

/* ---- dthreads ---- */

static void print_rows(duda_request_t *dr, mariadb_conn_t *conn, const char *sql)
{
    mariadb_result_t *result = mariadb->query(conn, sql);
    char **row, **fields = mariadb->get_fields(result);
    int error = -1, n = mariadb->get_field_num(result);

    response->printf(dr, "%s(%d) ", fields ? fields[0] : "none", n);
    while ((row = mariadb->get_row(conn, result, &error)))
        response->printf(dr, "%s ", row[0] ? row[0] : "null");
    response->printf(dr, "%d;", error);
}

static void wait_for_rows(void *arg)
{
    duda_request_t *dr = arg;
    mariadb_conn_t *conn = mariadb->create_conn(dr, ADDRESS, CLIENT_MULTI_STATEMENTS);

    response->printf(dr, "%d ", mariadb->connect(conn));
    print_rows(dr, conn, "SELECT seq AS n FROM seq_1_to_3; SELECT 9 AS other");
    print_rows(dr, conn, "SELECT NULL AS nothing");
    print_rows(dr, conn, "SET @a = 1");
    print_rows(dr, conn, "SELECT wrong");
    (void)mariadb->query(conn, "SELECT 'is not read'");
    mariadb->disconnect(conn);
    answer(dr, "done");
}

static void wait_for_pool(void *arg)
{
    duda_request_t *dr = arg;
    mariadb_conn_t *conn = mariadb->pool_get_conn(&pool);

    if (conn) {
        print_rows(dr, conn, "SELECT 1 AS n");
        mariadb->disconnect(conn);
    }
    answer(dr, conn ? "done" : "none");
}

static void run_dthread(duda_request_t *dr, duda_dthread_func fn)
{
    response->wait(dr);
    dthread->resume(dthread->create(fn, dr));
}

static void waiting(duda_request_t *dr)
{
    run_dthread(dr, wait_for_rows);
}

static void waiting_pool(duda_request_t *dr)
{
    run_dthread(dr, wait_for_pool);
}

/* ---- TLS ---- */

static void on_cipher(void *priv, unsigned long n, char **fields, char **row, duda_request_t *dr)
{
    response->printf(dr, "%s ", row[1][0] ? "secured" : "plain");
}

static void on_secured(mariadb_conn_t *conn, int status, duda_request_t *dr)
{
    if (status != MARIADB_OK) {
        answer(dr, "refused");
        return;
    }
    mariadb->query_async(conn, "SHOW STATUS LIKE 'Ssl_cipher'", NULL, on_cipher, NULL, NULL);
    mariadb->disconnect_async(conn, on_closed);
}

static void secured(duda_request_t *dr)
{
    mariadb_conn_t *conn = mariadb->create_conn(dr, ADDRESS, 0);
    char *ca = qs->get(dr, "ca"), path[256];

    response->wait(dr);
    snprintf(path, sizeof(path), "%s/%s", DB_FOLDER, ca ? ca : "");
    mariadb->set_ssl(conn, NULL, NULL, ca ? path : NULL, NULL, NULL);
    mariadb->connect_async(conn, on_secured);
}

/* ---- misuse ---- */

static void wrong(duda_request_t *dr)
{
    duda_global_t other;
    mariadb_conn_t *conn = mariadb->create_conn(dr, SOCKET, 0);
    int is_refused =
        !mariadb->create_conn(dr, "root", NULL, "database.example", NULL, 0, NULL, 0) &&
        mariadb->create_pool(&other, 3, 2, SOCKET, 0) < 0 &&
        mariadb->create_pool(&other, 0, 0, "a", "b", "a.example", NULL, 0, NULL, 0) < 0 &&
        mariadb->pool_set_ssl(&other, NULL, NULL, NULL, NULL, NULL) < 0;

    is_refused &= mariadb->query_async((mariadb_conn_t *)dr, "SELECT 1", NULL, NULL, NULL, 0) < 0 &&
                  mariadb->query_async(NULL, "SELECT 1", NULL, NULL, NULL, NULL) < 0 &&
                  mariadb->query_async(conn, NULL, NULL, NULL, NULL, NULL) < 0 &&
                  mariadb->escape(NULL, (char[8]){""}, "x", 1) == 0 &&
                  !mariadb->pool_get_conn_async(NULL, dr, NULL);
    is_refused &= mariadb->connect(conn) < 0 && !mariadb->query(conn, "SELECT 1") &&
                  !mariadb->get_row(conn, NULL, NULL) && !mariadb->get_fields(NULL) &&
                  mariadb->get_field_num(NULL) == 0 && !mariadb->pool_get_conn(&pool);
    mariadb->abort_async(NULL);
    mariadb->query_async(conn, "SELECT 1", NULL, NULL, NULL, NULL); /* it is never connected */
    mariadb->disconnect_async(conn, NULL);
    is_refused &= mariadb->connect_async(conn, NULL) < 0;
    mariadb->disconnect_async(NULL, NULL);
    mariadb->disconnect(NULL);
    response->http_status(dr, 200);
    response->printf(dr, "%s", is_refused ? "all refused" : "something was not refused");
    response->end(dr, NULL);
}

int duda_main()
{
    duda_load_package(mariadb, "mariadb");
    if (mariadb->create_pool(&pool, 1, 1, SOCKET, 0) < 0)
        return 1;
    map->static_add_ref("/rows", rows);
    map->static_add_ref("/many", many);
    map->static_add_ref("/escape", escape);
    map->static_add_ref("/pooled", pooled);
    map->static_add_ref("/waiting", waiting);
    map->static_add_ref("/all", waiting_pool);
    map->static_add_ref("/secured", secured);
    map->static_add_ref("/wrong", wrong);
    return 0;
}
