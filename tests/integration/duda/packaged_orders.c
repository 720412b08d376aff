/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

#include "packages/postgresql/postgresql.h"

#include <stdio.h>
#include <string.h>

DUDA_REGISTER("tests", "postgresql of level 3");

#ifndef LIMIT_MS
#define LIMIT_MS 10000
#endif

/* One worker serves these tests, so this needs no lock. */
static duda_global_t pool;
static char heard[4096];
static int asked, ended, alone;

static void answer(duda_request_t *dr, int status)
{
    response->cont(dr);
    response->http_status(dr, status);
    response->finalize(dr, NULL);
}

/* ---- one query ---- */

static void on_row(void *priv, postgresql_query_t *q, int n, char **fields, char **row,
                   duda_request_t *dr)
{
    for (int i = 0; dr && i < n; i++)
        response->printf(dr, "%s=%s/%d ", fields[i], row[i] ? row[i] : "null",
                         postgresql->length(q, i));
}

static void on_end(void *priv, postgresql_query_t *q, duda_request_t *dr)
{
    const char *error = postgresql->error(q);

    ended++;
    if (!dr) {
        alone++;
        return;
    }
    if (error)
        response->printf(dr, "error %s: %s", postgresql->state(q), error);
    else
        response->printf(dr, "%lld rows", postgresql->rows(q));
    answer(dr, error ? 503 : 200);
}

static void run(duda_request_t *dr, const char *sql, const char *value)
{
    const char *values[] = {value};

    if (postgresql->run(&pool, dr, sql, value ? 1 : 0, values, on_row, on_end, NULL) < 0) {
        response->printf(dr, "refused");
        answer(dr, 503);
    } else {
        asked++;
    }
}

static void add(duda_request_t *dr)
{
    run(dr, "INSERT INTO orders (name) VALUES ($1)", query->get(dr, "name"));
}

static void list(duda_request_t *dr)
{
    run(dr, "SELECT name, NULL AS nothing FROM orders ORDER BY name", NULL);
}

static void one(duda_request_t *dr)
{
    run(dr, "SELECT $1::text AS one", query->get(dr, "name"));
}

static void fault(duda_request_t *dr)
{
    run(dr, "SELECT 1 / 0", NULL);
}

static void slow(duda_request_t *dr)
{
    run(dr, "SELECT pg_sleep(100)", NULL);
}

static void copy(duda_request_t *dr)
{
    run(dr, "COPY orders TO STDOUT", NULL);
}

/* ---- transactions ---- */

static void on_begun(void *priv, postgresql_conn_t *conn, const char *why, duda_request_t *dr)
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
    postgresql->exec(conn, "INSERT INTO orders (name) VALUES ($1)", 1, values, NULL, NULL, NULL);
    if (strcmp(name, "fault") == 0)
        postgresql->exec(conn, "SELECT 1 / 0", 0, NULL, NULL, NULL, NULL);
    if (strcmp(name, "undone") == 0) {
        ended++;
        postgresql->disconnect(conn, NULL);
        response->printf(dr, "undone");
        answer(dr, 200);
    } else if (strcmp(name, "parked") != 0) {
        postgresql->commit(conn, on_end, NULL);
    }
}

static void transaction(duda_request_t *dr)
{
    response->wait(dr);
    asked += postgresql->begin(&pool, dr, on_begun, query->get(dr, "name")) == 0;
}

/* ---- a connection of its own ---- */

static void on_limited(void *priv, postgresql_query_t *q, duda_request_t *dr)
{
    on_end(priv, q, dr);
}

static void limited(duda_request_t *dr)
{
    postgresql_conn_t *conn = postgresql->connect_uri(dr, NULL, DATABASE);

    response->wait(dr);
    asked++;
    response->printf(dr, "%d ", postgresql->time_limit(conn, 1));
    postgresql->time_limit(conn, 300);
    postgresql->query(conn, "SELECT pg_sleep(100)", NULL, NULL, on_limited, NULL);
    postgresql->disconnect(conn, NULL);
}

/* ---- LISTEN ---- */

static void on_notify(void *priv, const char *channel, const char *payload)
{
    const size_t len = strlen(heard);

    snprintf(heard + len, sizeof(heard) - len, "%s:%s;", channel,
             payload ? payload : "from now on");
}

static void begin_to_hear(void *arg)
{
    postgresql->listen(&pool, "a \"name\"", on_notify, NULL);
    postgresql->listen(&pool, "orders", on_notify, NULL);
}

static void show_heard(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->printf(dr, "%s", heard);
    response->end(dr, NULL);
}

static void mute(duda_request_t *dr)
{
    int second_time, no_channel = postgresql->listen(&pool, "", on_notify, NULL),
                     twice = postgresql->listen(&pool, "orders", on_notify, NULL);
    int first_time = postgresql->unlisten(&pool, "orders");

    second_time = postgresql->unlisten(&pool, "orders");
    response->http_status(dr, 200);
    response->printf(dr, "%d %d %d %d", no_channel, twice, first_time, second_time);
    response->end(dr, NULL);
}

static void count(duda_request_t *dr)
{
    response->http_status(dr, 200);
    response->printf(dr, "%d %d %d", asked, ended, alone);
    response->end(dr, NULL);
}

int duda_main()
{
    duda_load_package(postgresql, "postgresql");
    if (postgresql->create_pool_uri(&pool, 1, 2, DATABASE) < 0 ||
        postgresql->pool_time_limit(&pool, 1) == 0 ||
        postgresql->pool_time_limit(&pool, LIMIT_MS) < 0 ||
        postgresql->pool_queue(&pool, 2 << 20) == 0)
        return 1;
#ifdef QUEUE
    if (postgresql->pool_queue(&pool, QUEUE) < 0)
        return 1;
#endif
#ifdef HEARS
    worker->pre_loop(begin_to_hear, NULL);
#else
    (void)begin_to_hear;
#endif
    router->get("/add", add);
    router->get("/list", list);
    router->get("/one", one);
    router->get("/fault", fault);
    router->get("/slow", slow);
    router->get("/copy", copy);
    router->get("/transaction", transaction);
    router->get("/limited", limited);
    router->get("/heard", show_heard);
    router->get("/mute", mute);
    router->get("/count", count);
    return 0;
}
