#include "webservice.h"

#include "packages/json/json.h"

/*
 * Things to do, in memory. Tables tell what the routes take: the server checks it before it calls a function, and shows it.
 *
 * GET    /@NAME@/items           the list
 * POST   /@NAME@/items           {"text": "wash up"}
 * DELETE /@NAME@/items/1
 * GET    /@NAME@/openapi.html    all of these with forms; openapi.json says the same to programs
 */

DUDA_REGISTER("@NAME@", "a list of things to do");

enum { ITEMS_MAX = 1000, TEXT_MAX = 200, TEXT_SIZE = 4 * TEXT_MAX + 1 };

struct item {
    struct item *next;
    int64_t id;
    char text[TEXT_SIZE];
};

/* All workers share the list. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct item *items;
static int64_t count, last_id;

/* ---- GET */

static void write_item(json_writer_t *w, const struct item *item)
{
    json->write_object(w);
    json->write_key(w, "id");
    json->write_int64(w, item->id);
    json->write_key(w, "text");
    json->write_string(w, item->text);
    json->write_close(w);
}

static void list_items(duda_request_t *dr)
{
    json_writer_t *w = json->answer(dr, 200);

    if (w) {
        json->write_array(w);
        pthread_mutex_lock(&lock);
        for (const struct item *item = items; item; item = item->next)
            write_item(w, item);
        pthread_mutex_unlock(&lock);
        json->write_close(w);
    }
    if (!w || json->writer_end(w) < 0)
        response->problem(dr, 503, "Try again later", NULL);
}

/* ---- POST */

struct new_item {
    const char *text;
};

static const struct duda_input new_rows[] = {{.name = "text",
                                              .in = DUDA_IN_BODY,
                                              .type = DUDA_TEXT,
                                              .to = offsetof(struct new_item, text),
                                              .is_required = 1,
                                              .min = 1,
                                              .max = TEXT_MAX,
                                              .about = "What to do"},
                                             {0}};
static const struct duda_inputs new_inputs = {"Add an item", sizeof(struct new_item), new_rows};

/* @return its id; 0: there is no room */
static int64_t add(const char *text)
{
    struct item *item = count < ITEMS_MAX ? mem->alloc_z(sizeof(*item)) : NULL;

    if (!item)
        return 0;
    snprintf(item->text, sizeof(item->text), "%s", text);
    item->id = ++last_id;
    item->next = items;
    items = item;
    count++;
    return item->id;
}

static void add_item(duda_request_t *dr)
{
    const struct new_item *wanted = input->values(dr);
    int64_t id;

    pthread_mutex_lock(&lock);
    id = add(wanted->text);
    pthread_mutex_unlock(&lock);
    if (id > 0)
        response->send(dr, 201, "application/json", "{\"id\":%lld}", (long long)id);
    else
        response->problem(dr, 507, "The list is full", NULL);
}

/* ---- DELETE */

struct one_item {
    int64_t id;
};

static const struct duda_input one_rows[] = {{.name = "id",
                                              .in = DUDA_IN_PATH,
                                              .type = DUDA_INTEGER,
                                              .to = offsetof(struct one_item, id),
                                              .min = 1,
                                              .max = 1e15,
                                              .about = "Of the list"},
                                             {0}};
static const struct duda_inputs one_inputs = {"Delete an item", sizeof(struct one_item), one_rows};

/* @return 0; -1: it is not there */
static int take_away(int64_t id)
{
    for (struct item **at = &items; *at; at = &(*at)->next) {
        struct item *item = *at;

        if (item->id != id)
            continue;
        *at = item->next;
        count--;
        mem->free(item);
        return 0;
    }
    return -1;
}

static void delete_item(duda_request_t *dr)
{
    const struct one_item *wanted = input->values(dr);
    int result;

    pthread_mutex_lock(&lock);
    result = take_away(wanted->id);
    pthread_mutex_unlock(&lock);
    if (result == 0)
        response->send(dr, 204, NULL, "%s", "");
    else
        response->problem(dr, 404, "There is no such item", NULL);
}

/* ---- what the routes answer: dudac reports what is not in these tables */

static const struct duda_input item_rows[] = {
    {.name = "id", .type = DUDA_INTEGER, .is_required = 1, .min = 1, .max = 1e15},
    {.name = "text", .type = DUDA_TEXT, .is_required = 1, .min = 1, .max = TEXT_MAX},
    {0}};
static const struct duda_answer list_answers[] = {
    {.status = 200,
     .type = "application/json",
     .about = "The items",
     .rows = item_rows,
     .is_list = 1},
    {.status = 503, .type = "application/problem+json", .about = "There is no memory"},
    {0}};
static const struct duda_input id_rows[] = {
    {.name = "id", .type = DUDA_INTEGER, .is_required = 1, .min = 1, .max = 1e15}, {0}};
static const struct duda_answer new_answers[] = {
    {.status = 201, .type = "application/json", .about = "It was added", .rows = id_rows},
    {.status = 507, .type = "application/problem+json", .about = "The list is full"},
    {0}};
static const struct duda_answer delete_answers[] = {
    {.status = 204, .about = "It was deleted"},
    {.status = 404, .type = "application/problem+json", .about = "There is no such item"},
    {0}};

int duda_main()
{
    duda_load_package(json, "json");
    router->specify("GET", "/items", list_items, NULL, list_answers);
    router->specify("POST", "/items", add_item, &new_inputs, new_answers);
    router->specify("DELETE", "/items/:id", delete_item, &one_inputs, delete_answers);
    input->publish("@NAME@", "1.0");
    return 0;
}

void duda_exit(void)
{
    while (items)
        take_away(items->id);
}
