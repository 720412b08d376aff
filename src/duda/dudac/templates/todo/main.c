#include "webservice.h"

#include "packages/json/json.h"
#include "packages/sqlite/sqlite.h"

/*
 * Things to do, in the file data/todo.db: GET and POST /@NAME@/items, DELETE /@NAME@/items/ID. Workers do not wait for the
 * disk: queries run on other threads.
 */

DUDA_REGISTER("@NAME@", "a list of things to do");

enum { ITEMS_MAX = 1000, TEXT_MAX = 200, BUSY_MS = 5000 };

static sqlite_pool_t *todo;

/* What a query needs, and what it found. */
struct job {
    char text[TEXT_MAX + 1];
    long id;
    int changes;
    char *found; /* JSON; NULL: none */
};

static void forget(void *arg)
{
    struct job *job = arg;

    mem->free(job->found);
    mem->free(job);
}

static void refuse(duda_request_t *dr)
{
    response->problem(dr, 503, "Try again later", NULL);
}

/* ---- queries, on another thread */

static json_t *described(sqlite_handle_t *row)
{
    json_t *object = json->create_object();

    json->add_to_object(object, "id", json->create_number((double)sqlite->get_int64(row, 0)));
    json->add_to_object(object, "text",
                        json->create_string((const char *)sqlite->get_text(row, 1)));
    return object;
}

static int find(sqlite_pool_t *pool, void *arg)
{
    struct job *job = arg;
    sqlite_handle_t *rows =
        sqlite->prepare(pool, "SELECT id, text FROM item ORDER BY id DESC LIMIT 1000");
    json_t *array = rows ? json->create_array() : NULL;

    if (!array)
        return -1;
    sqlite_foreach(rows)
    {
        json->add_to_array(array, described(rows));
    }
    sqlite->release(pool, rows);
    job->found = json->print_unformatted(array);
    json->delete (array);
    return job->found ? 0 : -1;
}

/* Each row is one that was changed. @return 0, -1 */
static int change(sqlite_pool_t *pool, sqlite_handle_t *query, struct job *job)
{
    int result;

    while ((result = sqlite->step(query)) == SQLITE_ROW) {
        job->id = (long)sqlite->get_int64(query, 0);
        job->changes++;
    }
    sqlite->release(pool, query);
    return result;
}

static int insert(sqlite_pool_t *pool, void *arg)
{
    struct job *job = arg;
    sqlite_handle_t *query =
        sqlite->prepare(pool, "INSERT INTO item (text) SELECT ? WHERE (SELECT count(*) FROM item) "
                              "< ? RETURNING id");

    if (!query)
        return -1;
    sqlite->bind_text(query, 1, job->text);
    sqlite->bind_int64(query, 2, ITEMS_MAX);
    return change(pool, query, job);
}

static int delete_one(sqlite_pool_t *pool, void *arg)
{
    struct job *job = arg;
    sqlite_handle_t *query = sqlite->prepare(pool, "DELETE FROM item WHERE id = ? RETURNING id");

    if (!query)
        return -1;
    sqlite->bind_int64(query, 1, job->id);
    return change(pool, query, job);
}

/* ---- answers */

static void show_found(duda_request_t *dr, int result, void *arg)
{
    const struct job *job = arg;

    if (result != 0)
        refuse(dr);
    else
        response->send(dr, 200, "application/json", "%s", job->found);
}

static void show_added(duda_request_t *dr, int result, void *arg)
{
    const struct job *job = arg;

    if (result != 0)
        refuse(dr);
    else if (job->changes == 0)
        response->problem(dr, 507, "The list is full", NULL);
    else
        response->send(dr, 201, "application/json", "{\"id\":%ld}", job->id);
}

static void show_deleted(duda_request_t *dr, int result, void *arg)
{
    const struct job *job = arg;

    if (result != 0)
        refuse(dr);
    else
        response->send(dr, job->changes > 0 ? 204 : 404, "text/plain", "%s", "");
}

/* ---- routes */

static void list_items(duda_request_t *dr)
{
    struct job *job = mem->alloc_z(sizeof(*job));

    if (job && sqlite->query_later(dr, todo, find, show_found, forget, job) == 0)
        return;
    mem->free(job);
    refuse(dr);
}

/* @return 0; -1: the body has no text, or a long one */
static int read_text(duda_request_t *dr, struct job *job)
{
    json_t *body = json->parse_data(dr), *text = body ? json->get_object_item(body, "text") : NULL;
    int result = -1;

    if (text && text->type == cJSON_String && *text->valuestring &&
        strlen(text->valuestring) <= TEXT_MAX) {
        strcpy(job->text, text->valuestring);
        result = 0;
    }
    json->delete (body);
    return result;
}

static void add_item(duda_request_t *dr)
{
    struct job *job = mem->alloc_z(sizeof(*job));

    if (job && read_text(dr, job) < 0) {
        mem->free(job);
        response->problem(dr, 400, "A text of 1 to 200 bytes is missing", NULL);
        return;
    }
    if (job && sqlite->transaction_later(dr, todo, insert, show_added, forget, job) == 0)
        return;
    mem->free(job);
    refuse(dr);
}

static void delete_item(duda_request_t *dr)
{
    struct job *job = mem->alloc_z(sizeof(*job));

    if (job && param->get_number(dr, "id", &job->id) == 0 &&
        sqlite->transaction_later(dr, todo, delete_one, show_deleted, forget, job) == 0)
        return;
    mem->free(job);
    refuse(dr);
}

int duda_main()
{
    char path[MK_MAX_PATH];

    duda_load_package(json, "json");
    duda_load_package(sqlite, "sqlite");
    if (!self->datadir.data)
        return -1;
    snprintf(path, sizeof(path), "%stodo.db", self->datadir.data);
    todo = sqlite->pool_open(path, BUSY_MS);
    if (!todo || sqlite->run(todo, "CREATE TABLE IF NOT EXISTS item (id INTEGER PRIMARY KEY "
                                   "AUTOINCREMENT, text TEXT NOT NULL)") < 0)
        return -1;
    router->get("/items", list_items);
    router->post("/items", add_item);
    router->delete ("/items/:id<int>", delete_item);
    return 0;
}

void duda_exit(void)
{
    sqlite->pool_close(todo);
}
