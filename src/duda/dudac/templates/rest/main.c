#include "webservice.h"
#include "packages/json/json.h"

/* Things to do, in memory: GET and POST /@NAME@/items, DELETE /@NAME@/items/ID */

DUDA_REGISTER("@NAME@", "a list of things to do");

enum { ITEMS_MAX = 1000, TEXT_MAX = 200 };

struct item {
    struct item *next;
    long id;
    char text[TEXT_MAX + 1];
};

/* All workers share the list. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct item *items;
static long count, last_id;

static void answer(duda_request_t *dr, int status, json_t *body)
{
    char *text = body ? json->print_unformatted_gc(dr, body) : NULL;

    response->http_status(dr, status);
    if (text) {
        response->http_header(dr, "Content-Type: application/json");
        response->print(dr, text, (int)strlen(text));
    }
    json->delete (body);
    response->end(dr, NULL);
}

static json_t *described(const struct item *item)
{
    json_t *object = json->create_object();

    json->add_to_object(object, "id", json->create_number((double)item->id));
    json->add_to_object(object, "text", json->create_string(item->text));
    return object;
}

static void list_items(duda_request_t *dr)
{
    json_t *array = json->create_array();

    pthread_mutex_lock(&lock);
    for (const struct item *item = items; item; item = item->next)
        json->add_to_array(array, described(item));
    pthread_mutex_unlock(&lock);
    answer(dr, 200, array);
}

/* Returns a description of the new item, or NULL when there is no room. */
static json_t *add(const char *text)
{
    struct item *item = count < ITEMS_MAX ? mem->alloc_z(sizeof(*item)) : NULL;

    if (!item)
        return NULL;
    snprintf(item->text, sizeof(item->text), "%s", text);
    item->id = ++last_id;
    item->next = items;
    items = item;
    count++;
    return described(item);
}

static void add_item(duda_request_t *dr)
{
    json_t *body = json->parse_data(dr), *text = body ? json->get_object_item(body, "text") : NULL;
    json_t *added = NULL;
    int is_text = text && text->type == cJSON_String && *text->valuestring &&
                  strlen(text->valuestring) <= TEXT_MAX;

    if (is_text) {
        pthread_mutex_lock(&lock);
        added = add(text->valuestring);
        pthread_mutex_unlock(&lock);
    }
    json->delete (body);
    answer(dr, added ? 201 : is_text ? 507 : 400, added);
}

/* /items */
static void all_items(duda_request_t *dr)
{
    if (request->is_get(dr) || request->is_head(dr)) {
        list_items(dr);
    } else if (request->is_post(dr)) {
        add_item(dr);
    } else {
        response->http_header(dr, "Allow: GET, HEAD, POST");
        answer(dr, 405, NULL);
    }
}

static int remove_item(long id)
{
    for (struct item **at = &items; *at; at = &(*at)->next) {
        struct item *item = *at;

        if (item->id != id)
            continue;
        *at = item->next;
        count--;
        mem->free(item);
        return 1;
    }
    return 0;
}

/* /items/:id */
static void one_item(duda_request_t *dr)
{
    int was_there = 0;
    long id;

    if (!request->is_delete(dr)) {
        response->http_header(dr, "Allow: DELETE");
        answer(dr, 405, NULL);
        return;
    }
    if (param->get_number(dr, "id", &id) == 0) {
        pthread_mutex_lock(&lock);
        was_there = remove_item(id);
        pthread_mutex_unlock(&lock);
    }
    answer(dr, was_there ? 204 : 404, NULL);
}

int duda_main()
{
    duda_load_package(json, "json");
    router->map("/items/:id", one_item);
    router->map("/items", all_items);
    return 0;
}

void duda_exit(void)
{
    while (items)
        remove_item(items->id);
}
