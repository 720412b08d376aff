/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

#include "packages/mariadb/mariadb.h"
#include "packages/memcached/memcached.h"
#include "packages/postgresql/postgresql.h"
#include "packages/redis/redis.h"
#include "packages/sqlite/sqlite.h"
#include "packages/websocket/websocket.h"

#include <stdio.h>
#include <stdlib.h>

/* One row by its key from each kind of server: /db/KIND?id=N answers its name. bench/packages/run has the addresses. And a
   message that comes to all that are connected: /db/all. */

DUDA_REGISTER("bench", "rows by key");

static duda_global_t postgres, maria;
static redis_client_t *cached;
static memcached_client_t *remembered;
static sqlite_pool_t *file;

static void answer(duda_request_t *dr, const char *name, const char *error)
{
    if (!dr)
        return;
    if (name)
        response->send(dr, 200, "text/plain", "%s", name);
    else
        response->problem(dr, 503, error ? error : "no such row", NULL);
}

/* ---- databases: the row is kept until the query ends ---- */

struct row {
    char name[64];
};

static void keep(void *priv, char **values)
{
    (void)snprintf(((struct row *)priv)->name, sizeof(struct row), "%s", values[0]);
}

static void finish(duda_request_t *dr, struct row *row, const char *error)
{
    if (dr)
        (void)response->cont(dr);
    answer(dr, error || !row->name[0] ? NULL : row->name, error);
    free(row);
}

static void on_postgres_row(void *priv, postgresql_query_t *q, int n, char **fields, char **values,
                            duda_request_t *dr)
{
    keep(priv, values);
}

static void on_postgres_end(void *priv, postgresql_query_t *q, duda_request_t *dr)
{
    finish(dr, priv, postgresql->error(q));
}

static void from_postgres(duda_request_t *dr)
{
    const char *values[] = {query->get(dr, "id")};

    response->wait(dr);
    if (postgresql->run(&postgres, dr, "SELECT name FROM items WHERE id = $1", 1, values,
                        on_postgres_row, on_postgres_end, calloc(1, sizeof(struct row))) < 0)
        abort();
}

static void on_maria_row(void *priv, mariadb_query_t *q, unsigned long n, char **fields,
                         char **values, duda_request_t *dr)
{
    keep(priv, values);
}

static void on_maria_end(void *priv, mariadb_query_t *q, duda_request_t *dr)
{
    finish(dr, priv, mariadb->error(q));
}

static void from_maria(duda_request_t *dr)
{
    const char *values[] = {query->get(dr, "id")};

    response->wait(dr);
    if (mariadb->run(&maria, dr, "SELECT name FROM items WHERE id = ?", 1, values, on_maria_row,
                     on_maria_end, calloc(1, sizeof(struct row))) < 0)
        abort();
}

/* ---- caches ---- */

static void on_redis(duda_request_t *dr, const struct redis_answer *got, void *arg)
{
    const int is_text = got->reply && got->reply->type == REDIS_REPLY_STRING;

    answer(dr, is_text ? got->reply->str : NULL, got->text);
}

static void from_redis(duda_request_t *dr)
{
    if (redis->run(cached, dr, on_redis, NULL, "GET item:%s", query->get(dr, "id")) != 0)
        answer(dr, NULL, "refused");
}

static void on_memcached(duda_request_t *dr, const struct memcached_answer *got, void *arg)
{
    answer(dr, got->value, got->text);
}

static void from_memcached(duda_request_t *dr)
{
    char key[32];

    (void)snprintf(key, sizeof(key), "item:%s", query->get(dr, "id"));
    if (memcached->get(remembered, dr, key, on_memcached, NULL) != 0)
        answer(dr, NULL, "refused");
}

/* ---- SQLite, on the worker as Node.js has it on its thread ---- */

static void from_sqlite(duda_request_t *dr)
{
    sqlite3_stmt *statement = sqlite->prepare(file, "SELECT name FROM items WHERE id = ?");

    (void)sqlite->bind_text(statement, 1, query->get(dr, "id"));
    if (sqlite->step(statement) == SQLITE_ROW)
        answer(dr, (const char *)sqlite->get_text(statement, 0), NULL);
    else
        answer(dr, NULL, NULL);
    (void)sqlite->release(file, statement);
}

/* ---- WebSocket ---- */

static void join(duda_request_t *dr)
{
    (void)websocket->handshake(dr, -1);
}

static void on_message(duda_request_t *dr, ws_request_t *wr)
{
    (void)websocket->broadcast_all(wr->payload, wr->payload_len, (int)wr->opcode, -1);
}

int duda_main()
{
    duda_load_package(postgresql, "postgresql");
    duda_load_package(mariadb, "mariadb");
    duda_load_package(redis, "redis");
    duda_load_package(memcached, "memcached");
    duda_load_package(sqlite, "sqlite");
    duda_load_package(websocket, "websocket");
    websocket->broadcaster();
    websocket->set_callback(WS_ON_MESSAGE, on_message);
    cached = redis->client(&(struct redis_options){.server = REDIS});
    remembered = memcached->client(&(struct memcached_options){.servers = MEMCACHED});
    file = sqlite->pool_open(SQLITE, 1000);
    if (!cached || !remembered || !file ||
        postgresql->create_pool_uri(&postgres, POOL, POOL, POSTGRESQL) < 0 ||
        mariadb->create_pool(&maria, POOL, POOL, "root", NULL, "127.0.0.1", "shop", MARIADB, NULL,
                             0) < 0)
        return 1;
    router->get("/postgresql", from_postgres);
    router->get("/mariadb", from_maria);
    router->get("/redis", from_redis);
    router->get("/memcached", from_memcached);
    router->get("/sqlite", from_sqlite);
    router->get("/all", join);
    return 0;
}
