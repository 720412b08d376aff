/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

#include "packages/mariadb/mariadb.h"

#include <stdio.h>
#include <string.h>

DUDA_REGISTER("tests", "mariadb of level 3");

#ifndef LIMIT_MS
#define LIMIT_MS 10000
#endif
#ifndef DB_USER
#define DB_USER "root"
#endif

/* One worker serves these tests, so this needs no lock. */
static duda_global_t pool;
static int asked, ended, alone;

static void answer(duda_request_t *dr, int status)
{
    response->cont(dr);
    response->http_status(dr, status);
    response->finalize(dr, NULL);
}

/* ---- one query ---- */

static void on_row(void *priv, mariadb_query_t *q, unsigned long n, char **fields, char **row,
                   duda_request_t *dr)
{
    for (unsigned long i = 0; dr && i < n; i++)
        response->printf(dr, "%s=%s/%d ", fields[i], row[i] ? row[i] : "null",
                         mariadb->length(q, (int)i));
}

static void on_end(void *priv, mariadb_query_t *q, duda_request_t *dr)
{
    const char *error = mariadb->error(q);

    ended++;
    if (!dr) {
        alone++;
        return;
    }
    if (error)
        response->printf(dr, "error %u %s: %s", mariadb->code(q), mariadb->state(q), error);
    else
        response->printf(dr, "%lld rows, id %llu", mariadb->rows(q), mariadb->insert_id(q));
    answer(dr, error ? 503 : 200);
}

static void run(duda_request_t *dr, const char *sql, const char *value)
{
    const char *values[] = {value};

    response->wait(dr);
    if (mariadb->run(&pool, dr, sql, value ? 1 : 0, values, on_row, on_end, NULL) < 0) {
        response->printf(dr, "refused");
        answer(dr, 503);
    } else {
        asked++;
    }
}

static void add(duda_request_t *dr)
{
    run(dr, "INSERT INTO orders (name) VALUES (?)", query->get(dr, "name"));
}

static void list(duda_request_t *dr)
{
    run(dr, "SELECT name, NULL AS nothing FROM orders ORDER BY name", NULL);
}

static void one(duda_request_t *dr)
{
    run(dr, "SELECT ? AS one", query->get(dr, "name"));
}

static void fault(duda_request_t *dr)
{
    run(dr, "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no more'", NULL);
}

static void slow(duda_request_t *dr)
{
    run(dr, "SELECT sleep(100)", NULL);
}

/* Longer texts than a cell, numbers, dates, and more results than one. */
static void values(duda_request_t *dr)
{
    run(dr,
        "SELECT repeat('x', 200) AS text, -1.5e300 AS d, 18446744073709551615 AS u, "
        "DATE'2026-01-02' "
        "AS day, CAST(? AS BINARY) AS raw",
        "end");
}

static void parameters(duda_request_t *dr)
{
    run(dr, "SELECT ?, ?", "one");
}

static void procedure(duda_request_t *dr)
{
    run(dr, "CALL two_results(?)", "1");
}

/* More statements than a connection keeps. */
static void another(duda_request_t *dr)
{
    const char *number = query->get(dr, "n");
    char sql[64];

    snprintf(sql, sizeof(sql), "SELECT %s AS n", number ? number : "0");
    run(dr, sql, NULL);
}

/* ---- transactions ---- */

static void on_begun(void *priv, mariadb_conn_t *conn, const char *why, duda_request_t *dr)
{
    const char *name = priv, *values[] = {name};

    if (!conn) {
        ended++;
        alone += !dr;
        if (dr) {
            response->printf(dr, "error %s", why);
            answer(dr, 503);
        }
        return;
    }
    mariadb->exec(conn, "INSERT INTO orders (name) VALUES (?)", 1, values, NULL, NULL, NULL);
    if (strcmp(name, "fault") == 0)
        mariadb->exec(conn, "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no more'", 0, NULL, NULL,
                      NULL, NULL);
    if (strcmp(name, "undone") == 0) {
        ended++;
        mariadb->disconnect_async(conn, NULL);
        response->printf(dr, "undone");
        answer(dr, 200);
    } else if (strcmp(name, "parked") != 0) {
        mariadb->commit(conn, on_end, NULL);
    }
}

static void transaction(duda_request_t *dr)
{
    response->wait(dr);
    asked += mariadb->begin(&pool, dr, on_begun, query->get(dr, "name")) == 0;
}

/* ---- a connection of its own ---- */

static void on_limited(mariadb_conn_t *conn, int status, duda_request_t *dr)
{
    if (status != MARIADB_OK) {
        ended++;
        response->printf(dr, "error: not connected");
        answer(dr, 503);
        return;
    }
    response->printf(dr, "%d ", mariadb->time_limit(conn, 1));
    mariadb->time_limit(conn, 300);
    mariadb->query_async(conn, "SELECT sleep(100)", NULL, NULL, on_end, NULL);
    mariadb->disconnect_async(conn, NULL);
}

static void limited(duda_request_t *dr)
{
    mariadb_conn_t *conn = mariadb->create_conn(dr, "root", NULL, NULL, "shop", 0, DB_SOCKET, 0);

    response->wait(dr);
    asked++;
    mariadb->connect_async(conn, on_limited);
}

/* ---- a dthread ---- */

static void ask_and_wait(void *arg)
{
    duda_request_t *dr = arg;
    mariadb_conn_t *conn = mariadb->pool_get_conn(&pool);
    mariadb_result_t *result = conn ? mariadb->query(conn, "SELECT sleep(100)") : NULL;

    ended++;
    response->printf(dr, "%s: %s", result ? "rows" : "error",
                     conn ? mariadb->last_error(conn) : "no connection");
    if (conn)
        mariadb->disconnect(conn);
    answer(dr, 200);
}

static void waiting(duda_request_t *dr)
{
    response->wait(dr);
    asked++;
    dthread->resume(dthread->create(ask_and_wait, dr));
}

static void count(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->printf(dr, "%d %d %d", asked, ended, alone);
    response->end(dr, NULL);
}

int duda_main()
{
    duda_load_package(mariadb, "mariadb");
    if (mariadb->create_pool(&pool, 1, 2, DB_USER, NULL, "127.0.0.1", "shop", DB_PORT, NULL, 0) <
            0 ||
        mariadb->pool_time_limit(&pool, 1) == 0 || mariadb->pool_time_limit(&pool, LIMIT_MS) < 0 ||
        mariadb->pool_queue(&pool, 2 << 20) == 0)
        return 1;
#ifdef QUEUE
    if (mariadb->pool_queue(&pool, QUEUE) < 0)
        return 1;
#endif
    router->get("/add", add);
    router->get("/list", list);
    router->get("/one", one);
    router->get("/fault", fault);
    router->get("/slow", slow);
    router->get("/values", values);
    router->get("/parameters", parameters);
    router->get("/procedure", procedure);
    router->get("/another", another);
    router->get("/waiting", waiting);
    router->get("/transaction", transaction);
    router->get("/limited", limited);
    router->get("/count", count);
    return 0;
}
