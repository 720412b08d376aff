/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

#include "packages/sqlite/sqlite.h"

DUDA_REGISTER("tests", "a list of things to do, in SQLite");

static sqlite_pool_t *todo;

static void show(duda_request_t *dr, int status, const char *text)
{
    response->http_status(dr, status);
    response->printf(dr, "%s", text);
    response->end(dr, NULL);
}

static int insert(sqlite_pool_t *pool, void *arg)
{
    const mk_pointer *text = arg;
    sqlite_handle_t *handle = sqlite->prepare(pool, "INSERT INTO todo (text, data) VALUES (?, ?)");
    char copy[512];
    int result;

    snprintf(copy, sizeof(copy), "%.*s", (int)text->len, text->data);
    sqlite->bind_text(handle, 1, copy);
    sqlite->bind_blob(handle, 2, text->data, text->len);
    result = sqlite->step(handle);
    sqlite->release(pool, handle);
    return result;
}

static int insert_and_fail(sqlite_pool_t *pool, void *arg)
{
    return insert(pool, arg) == 0 ? 7 : 0;
}

static int fill(sqlite_pool_t *pool, void *arg)
{
    sqlite_handle_t *handle = sqlite->prepare(pool, "INSERT INTO todo (data) VALUES (zeroblob(?))");
    int result = 0;

    for (int i = 0; i < 1000 && result == 0; i++) {
        sqlite->bind_int64(handle, 1, 100000);
        result = sqlite->step(handle);
        sqlite->release(pool, handle);
        handle = sqlite->prepare(pool, "INSERT INTO todo (data) VALUES (zeroblob(?))");
    }
    sqlite->release(pool, handle);
    return result;
}

static void add(duda_request_t *dr)
{
    int result = sqlite->transaction(dr, todo, insert, &dr->sr->data);

    show(dr, result == 0 ? 201 : 503, result == 0 ? "kept" : sqlite->error_text(todo));
}

static void fail(duda_request_t *dr)
{
    int result = sqlite->transaction(dr, todo, insert_and_fail, &dr->sr->data);

    show(dr, result == -1 ? 200 : 500, "rolled back");
}

/* A disk that is full after a few pages more. */
static void full(duda_request_t *dr)
{
    int result;

    sqlite->run(todo, "PRAGMA max_page_count=20");
    result = sqlite->transaction(dr, todo, fill, NULL);
    response->http_status(dr, 200);
    response->printf(dr, "%d", result);
    sqlite->run(todo, "PRAGMA max_page_count=1000000");
    response->end(dr, NULL);
}

/* As if the client had left meanwhile: a request that is none. */
static void lost(duda_request_t *dr)
{
    int result = sqlite->transaction((duda_request_t *)&todo, todo, insert, &dr->sr->data);

    show(dr, 200, result == SQLITE_LOST_CLIENT ? "lost" : "kept");
}

static void list(duda_request_t *dr)
{
    sqlite_handle_t *handle = sqlite->prepare(todo, "SELECT id, text, data FROM todo ORDER BY id");
    size_t len;

    response->http_status(dr, 200);
    sqlite_foreach(handle)
    {
        if (sqlite->get_int64(handle, 0) < 1 || !sqlite->get_blob(handle, 2, &len) ||
            len != strlen((const char *)sqlite->get_text(handle, 1)))
            response->printf(dr, "broken ");
        response->printf(dr, "%s\n", sqlite->get_text(handle, 1));
    }
    sqlite->release(todo, handle);
    response->end(dr, NULL);
}

static int nested(sqlite_pool_t *pool, void *arg)
{
    return sqlite->transaction(NULL, pool, nested, NULL) == -1 ? 0 : 1;
}

static int idle(sqlite_pool_t *pool, void *arg)
{
    return 0;
}

static void wrong(duda_request_t *dr)
{
    sqlite_handle_t *one = sqlite->prepare(todo, "SELECT ?"),
                    *two = sqlite->prepare(todo, "SELECT ?");
    int is_refused = one && two && one != two;

    is_refused &= sqlite->bind_double(one, 1, 0.5) == 0 && sqlite->bind_double(one, 2, 1) == -1 &&
                  sqlite->step(one) == SQLITE_ROW && sqlite->get_double(one, 0) == 0.5;
    is_refused &= sqlite->release(todo, one) == 0 && sqlite->release(todo, one) == -1 &&
                  sqlite->release(todo, two) == 0 && sqlite->release(todo, NULL) == -1;
    one = sqlite->prepare(todo, "SELECT ?"); /* one that was kept, without what was bound to it */
    is_refused &= sqlite->step(one) == SQLITE_ROW && !sqlite->get_text(one, 0) &&
                  sqlite->release(todo, one) == 0;
    is_refused &= !sqlite->prepare(todo, "no statement") && !sqlite->prepare(NULL, "SELECT 1") &&
                  !sqlite->prepare(todo, NULL) && !sqlite->prepare(todo, "-- comment");
    is_refused &= sqlite->run(NULL, "SELECT 1") == -1 && sqlite->run(todo, "nonsense") == -1 &&
                  sqlite->run(todo, NULL) == -1 && !sqlite->pool_handle(NULL);
    is_refused &= sqlite->transaction(dr, todo, nested, NULL) == 0 &&
                  sqlite->transaction(dr, NULL, idle, NULL) == -1 &&
                  sqlite->transaction(dr, todo, NULL, NULL) == -1;
    is_refused &= sqlite->bind_int64(NULL, 1, 1) == -1 && sqlite->bind_text(NULL, 1, "") == -1 &&
                  sqlite->bind_blob(NULL, 1, "", 0) == -1 && sqlite->get_int64(NULL, 0) == 0 &&
                  !sqlite->get_blob(NULL, 0, NULL) && !sqlite->pool_open(NULL, 0) &&
                  !sqlite->pool_open("/nothing/here/x.db", 0) && sqlite->pool_handle(todo);
    sqlite->pool_close(NULL);
    show(dr, 200, is_refused ? "all refused" : "accepted");
}

int duda_main()
{
    duda_load_package(sqlite, "sqlite");
    todo = sqlite->pool_open(DATABASE, 20000);
    if (sqlite->run(todo,
                    "CREATE TABLE IF NOT EXISTS todo (id INTEGER PRIMARY KEY, text TEXT, data "
                    "BLOB)") < 0)
        return 1;
    router->map("/add", add);
    router->map("/fail", fail);
    router->map("/full", full);
    router->map("/lost", lost);
    router->map("/list", list);
    router->map("/wrong", wrong);
    return 0;
}

void duda_exit()
{
    sqlite->pool_close(todo);
}
