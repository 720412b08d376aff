/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

#include "packages/sqlite/sqlite.h"

#include <stdatomic.h>

DUDA_REGISTER("tests", "rows that are written on threads of the server");

static sqlite_pool_t *rows;
static atomic_int begun, ends, left;
static atomic_bool is_open = 1; /* work waits while it is not */

struct row {
    char text[64], *list;
    int code;
    pthread_t worker;
};

static void free_row(void *arg)
{
    struct row *row = arg;

    free(row->list);
    free(row);
    ends++;
}

static void wait_for_gate(void)
{
    while (!is_open)
        usleep(1000);
}

static int insert(sqlite_pool_t *pool, void *arg)
{
    struct row *row = arg;
    sqlite_handle_t *handle = sqlite->prepare(pool, "INSERT INTO rows (text) VALUES (?)");
    int result;

    if (pthread_equal(row->worker, pthread_self()))
        abort();
    sqlite->bind_text(handle, 1, row->text);
    result = sqlite->step(handle);
    sqlite->release(pool, handle);
    begun++;
    wait_for_gate();
    return result == 0 ? row->code : result;
}

static void show(duda_request_t *dr, int result, void *arg)
{
    struct row *row = arg;

    if (!pthread_equal(row->worker, pthread_self()))
        abort();
    response->send(dr, result == 0 ? 201 : 500, "text/plain", "%d", result);
}

static struct row *new_row(duda_request_t *dr, int code)
{
    struct row *row = calloc(1, sizeof(*row));
    size_t len;
    const char *text = request->body(dr, &len);

    snprintf(row->text, sizeof(row->text), "%.*s", text ? (int)len : 0, text ? text : "");
    row->code = code;
    row->worker = pthread_self();
    return row;
}

static void count_left(void *arg)
{
    left++;
}

static void begin(duda_request_t *dr, int code)
{
    struct row *row = new_row(dr, code);

    gc->call(dr, count_left, NULL);
    if (sqlite->transaction_later(dr, rows, insert, show, free_row, row) == 0)
        return;
    free_row(row);
    response->problem(dr, 503, "Try again", NULL);
}

static void add(duda_request_t *dr)
{
    begin(dr, 0);
}

static void fail(duda_request_t *dr)
{
    begin(dr, 7);
}

static int read_all(sqlite_pool_t *pool, void *arg)
{
    struct row *row = arg;
    sqlite_handle_t *handle = sqlite->prepare(pool, "SELECT text FROM rows ORDER BY id");
    size_t size;
    FILE *out = open_memstream(&row->list, &size);
    int count = 0;

    sqlite_foreach(handle)
    {
        fprintf(out, "%s\n", (const char *)sqlite->get_text(handle, 0));
        count++;
    }
    fclose(out);
    sqlite->release(pool, handle);
    return count;
}

static void show_all(duda_request_t *dr, int result, void *arg)
{
    struct row *row = arg;

    response->send(dr, 200, "text/plain", "%d\n%s", result, row->list);
}

static void list(duda_request_t *dr)
{
    struct row *row = new_row(dr, 0);

    if (sqlite->query_later(dr, rows, read_all, show_all, free_row, row) == 0)
        return;
    free_row(row);
    response->problem(dr, 503, "Try again", NULL);
}

static void wrong(duda_request_t *dr)
{
    struct row row = {""};
    int refused = sqlite->query_later(dr, NULL, read_all, show_all, NULL, &row) +
                  sqlite->query_later(dr, rows, NULL, show_all, NULL, &row) +
                  sqlite->transaction_later(dr, rows, insert, NULL, NULL, &row);

    response->send(dr, 200, "text/plain", "%d", refused);
    if (sqlite->query_later(dr, rows, read_all, show_all, free_row, &row) != -1)
        abort();
}

static void show_counts(duda_request_t *dr)
{
    response->send(dr, 200, "text/plain", "%d %d %d", (int)begun, (int)ends, (int)left);
}

static void open_gate(duda_request_t *dr)
{
    is_open = 1;
    show_counts(dr);
}

static void close_gate(duda_request_t *dr)
{
    is_open = 0;
    show_counts(dr);
}

int duda_main()
{
    duda_load_package(sqlite, "sqlite");
    rows = sqlite->pool_open(DATABASE, 20000);
    if (sqlite->run(rows, "CREATE TABLE IF NOT EXISTS rows (id INTEGER PRIMARY KEY, text TEXT)") <
        0)
        return 1;
    router->post("/add", add);
    router->post("/fail", fail);
    router->get("/list", list);
    router->get("/wrong", wrong);
    router->get("/counts", show_counts);
    router->put("/gate", open_gate);
    router->delete ("/gate", close_gate);
    return 0;
}

void duda_exit()
{
    sqlite->pool_close(rows);
}
