/* SPDX-License-Identifier: Apache-2.0 */
#include "webservice.h"

#include "packages/json/json.h"
#include "packages/sqlite/sqlite.h"

DUDA_REGISTER("examples", "what to do, in a database");

/*
 * GET    /todo/              the page
 * POST   /todo/              its form
 * GET    /todo/api/items     the list; ?done=true or false: part of it
 * POST   /todo/api/items     {"text": "Buy milk", "priority": 2}
 * PATCH  /todo/api/items/1   {"done": true}
 * DELETE /todo/api/items/1
 * GET    /todo/api/openapi.html   all of these with forms
 */

enum { ITEMS = 200 }; /* that are shown */

static sqlite_pool_t *pool;
static duda_view_t *page;

struct item {
    const char *text;
    int64_t id, priority;
    int done;
};

/* What templates show of an item, and what the API sends. */
static const struct duda_input item_rows[] = {
    {.name = "id", .type = DUDA_INTEGER, .to = offsetof(struct item, id)},
    {.name = "text", .type = DUDA_TEXT, .to = offsetof(struct item, text)},
    {.name = "priority", .type = DUDA_INTEGER, .to = offsetof(struct item, priority)},
    {.name = "done", .type = DUDA_FLAG, .to = offsetof(struct item, done)},
    {0}};

struct page {
    struct duda_list items;
};

static const struct duda_input page_rows[] = {{.name = "items",
                                               .type = DUDA_LIST,
                                               .to = offsetof(struct page, items),
                                               .items = item_rows,
                                               .item_size = sizeof(struct item)},
                                              {0}};

/* ---- the database ---- */

/* Texts of a row last until the next one. */
static char *copy(duda_request_t *dr, const unsigned char *text)
{
    char *own = strdup(text ? (const char *)text : "");

    return own && gc->add(dr, own) == 0 ? own : NULL;
}

/* done: 0 or 1; less: all. */
static struct page find_items(duda_request_t *dr, int done)
{
    sqlite3_stmt *rows = sqlite->prepare(
        pool, "SELECT id, text, priority, done FROM items "
              "WHERE ?1 < 0 OR done = ?1 ORDER BY done, priority DESC, id LIMIT ?2");
    struct item *items = mem->alloc_z(ITEMS * sizeof(*items));
    struct page found = {{items, 0}};

    if (rows && items && gc->add(dr, items) == 0) {
        sqlite->bind_int64(rows, 1, done);
        sqlite->bind_int64(rows, 2, ITEMS);
        while (sqlite->step(rows) == SQLITE_ROW)
            items[found.items.count++] = (struct item){.id = sqlite->get_int64(rows, 0),
                                                       .text = copy(dr, sqlite->get_text(rows, 1)),
                                                       .priority = sqlite->get_int64(rows, 2),
                                                       .done = sqlite->get_int(rows, 3)};
    }
    sqlite->release(pool, rows);
    return found;
}

/* Statements of one row. @return how many rows they changed; -1 */
static int change(const char *query, const char *text, int64_t one, int64_t other)
{
    sqlite3_stmt *statement = sqlite->prepare(pool, query);
    int changed = -1;

    if (!statement)
        return -1;
    if (text)
        sqlite->bind_text(statement, 3, text);
    sqlite->bind_int64(statement, 1, one);
    sqlite->bind_int64(statement, 2, other);
    while (sqlite->step(statement) == SQLITE_ROW)
        changed = changed < 0 ? 1 : changed + 1;
    sqlite->release(pool, statement);
    return changed;
}

/* ---- the page ---- */

static void show_page(duda_request_t *dr)
{
    const struct page found = find_items(dr, -1);

    view->send(dr, 200, page, page_rows, &found);
}

struct new_item {
    const char *text;
    int64_t priority;
};

static const struct duda_input form_rows[] = {{.name = "text",
                                               .in = DUDA_IN_FORM,
                                               .type = DUDA_TEXT,
                                               .to = offsetof(struct new_item, text),
                                               .is_required = 1,
                                               .min = 1,
                                               .max = 200,
                                               .about = "What to do"},
                                              {.name = "priority",
                                               .in = DUDA_IN_FORM,
                                               .type = DUDA_INTEGER,
                                               .to = offsetof(struct new_item, priority),
                                               .min = 1,
                                               .max = 3,
                                               .preset = "1",
                                               .about = "3 is the most urgent"},
                                              {0}};
static const struct duda_inputs form_inputs = {"Add an item, and go back to the page",
                                               sizeof(struct new_item), form_rows};

static int add(const struct new_item *item)
{
    return change("INSERT INTO items (priority, done, text) VALUES (?1, ?2, ?3) RETURNING id",
                  item->text, item->priority, 0);
}

static void add_of_page(duda_request_t *dr)
{
    if (add(input->values(dr)) < 0)
        response->problem(dr, 503, "The database is busy", NULL);
    else
        response->redirect(dr, 303, "/todo/");
}

/* ---- the API ---- */

struct search {
    int done;
};

static const struct duda_input search_rows[] = {{.name = "done",
                                                 .in = DUDA_IN_QUERY,
                                                 .type = DUDA_FLAG,
                                                 .to = offsetof(struct search, done),
                                                 .about = "Only those that are done, or are not"},
                                                {0}};
static const struct duda_inputs search_inputs = {"Items, the most urgent first",
                                                 sizeof(struct search), search_rows};

static json_t *tree_of(const struct item *item)
{
    json_t *object = json->create_object();

    json->add_to_object(object, "id", json->create_int64(item->id));
    json->add_to_object(object, "text", json->create_string(item->text));
    json->add_to_object(object, "priority", json->create_int64(item->priority));
    json->add_to_object(object, "done", json->create_bool(item->done));
    return object;
}

static void send_items(duda_request_t *dr)
{
    const struct search *search = input->values(dr);
    const struct page found = find_items(dr, input->is_given(dr, "done") ? search->done : -1);

    const struct item *items = found.items.items;
    json_t *array = json->create_array();
    const char *text;

    for (size_t i = 0; i < found.items.count; i++)
        json->add_to_array(array, tree_of(&items[i]));
    text = json->print_unformatted_gc(dr, array);
    json->delete (array);
    if (text)
        response->send(dr, 200, "application/json", "%s", text);
    else
        response->problem(dr, 503, "Try again later", NULL);
}

static const struct duda_input body_rows[] = {{.name = "text",
                                               .in = DUDA_IN_BODY,
                                               .type = DUDA_TEXT,
                                               .to = offsetof(struct new_item, text),
                                               .is_required = 1,
                                               .min = 1,
                                               .max = 200,
                                               .about = "What to do"},
                                              {.name = "priority",
                                               .in = DUDA_IN_BODY,
                                               .type = DUDA_INTEGER,
                                               .to = offsetof(struct new_item, priority),
                                               .min = 1,
                                               .max = 3,
                                               .preset = "1",
                                               .about = "3 is the most urgent"},
                                              {0}};
static const struct duda_inputs body_inputs = {"Add an item", sizeof(struct new_item), body_rows};

static void add_item(duda_request_t *dr)
{
    if (add(input->values(dr)) < 0)
        response->problem(dr, 503, "The database is busy", NULL);
    else
        response->send(dr, 201, "application/json", "{}");
}

struct item_change {
    int64_t id;
    int done;
};

static const struct duda_input change_rows[] = {{.name = "id",
                                                 .in = DUDA_IN_PATH,
                                                 .type = DUDA_INTEGER,
                                                 .to = offsetof(struct item_change, id),
                                                 .min = 1,
                                                 .max = 1e15},
                                                {.name = "done",
                                                 .in = DUDA_IN_BODY,
                                                 .type = DUDA_FLAG,
                                                 .to = offsetof(struct item_change, done),
                                                 .is_required = 1},
                                                {0}};
static const struct duda_inputs change_inputs = {"Say whether an item is done",
                                                 sizeof(struct item_change), change_rows};

static void answer_change(duda_request_t *dr, int changed)
{
    if (changed > 0)
        response->send(dr, 200, "application/json", "{}");
    else
        response->problem(dr, 404, "There is no such item", NULL);
}

static void change_item(duda_request_t *dr)
{
    const struct item_change *c = input->values(dr);

    answer_change(
        dr, change("UPDATE items SET done = ?2 WHERE id = ?1 RETURNING id", NULL, c->id, c->done));
}

static const struct duda_input id_rows[] = {{.name = "id",
                                             .in = DUDA_IN_PATH,
                                             .type = DUDA_INTEGER,
                                             .to = offsetof(struct item_change, id),
                                             .min = 1,
                                             .max = 1e15},
                                            {0}};
static const struct duda_inputs id_inputs = {"Delete an item", sizeof(struct item_change), id_rows};

static void delete_item(duda_request_t *dr)
{
    const struct item_change *c = input->values(dr);

    answer_change(dr, change("DELETE FROM items WHERE id = ?1 RETURNING id", NULL, c->id, 0));
}

/* ---- what it answers ---- */

#define JSON "application/json"
#define PROBLEM "application/problem+json"
#define BUSY                                                                                       \
    {                                                                                              \
        .status = 503, .type = PROBLEM, .about = "The database is busy"                            \
    }

static const struct duda_answer item_answers[] = {
    {.status = 200, .type = JSON, .about = "Items", .rows = item_rows, .is_list = 1}, BUSY, {0}};
static const struct duda_answer new_answers[] = {
    {.status = 201, .type = JSON, .about = "It was added"}, BUSY, {0}};
static const struct duda_answer change_answers[] = {
    {.status = 200, .type = JSON, .about = "It was changed"},
    {.status = 404, .type = PROBLEM, .about = "There is no such item"},
    {0}};

static void api(void)
{
    router->specify("GET", "/items", send_items, &search_inputs, item_answers);
    router->specify("POST", "/items", add_item, &body_inputs, new_answers);
    router->specify("PATCH", "/items/:id", change_item, &change_inputs, change_answers);
    router->specify("DELETE", "/items/:id", delete_item, &id_inputs, change_answers);
    input->publish("To do", "1.0");
}

int duda_main()
{
    char path[4096];
    const char *folder = data->get_path();

    duda_load_package(json, "json");
    duda_load_package(sqlite, "sqlite");
    if (!folder)
        return -1; /* the database lies in DataDir */
    snprintf(path, sizeof(path), "%stodo.db", folder);
    pool = sqlite->pool_open(path, 1000);
    if (!pool ||
        sqlite->run(pool,
                    "CREATE TABLE IF NOT EXISTS items (id INTEGER PRIMARY KEY, text TEXT NOT NULL, "
                    "priority INTEGER NOT NULL, done INTEGER NOT NULL)") < 0)
        return -1;
    page = view->load("page.html");
    router->get("/", show_page);
    router->describe("POST", "/", add_of_page, &form_inputs);
    router->group("/api", api);
    return 0;
}

void duda_exit(void)
{
    sqlite->pool_close(pool);
}
