/* SPDX-License-Identifier: Apache-2.0 */
#include "json/doc.h"

#include <limits.h>
#include <strings.h>

const struct duda_api_mem *json_memory;

json_t *json_new(int type)
{
    struct json_node *node = json_memory->alloc_z(sizeof(*node));

    if (!node)
        return NULL;
    node->item.type = type;
    node->item.valueint = type == cJSON_True;
    return &node->item;
}

static int to_int(double number)
{
    if (number >= INT_MAX)
        return INT_MAX;
    return number > INT_MIN ? (int)number : INT_MIN; /* of no number as well */
}

void json_set_number(json_t *item, double number)
{
    item->valuedouble = number;
    item->valueint = to_int(number);
}

json_t *json_new_number(double number)
{
    json_t *item = json_new(cJSON_Number);

    if (item)
        json_set_number(item, number);
    return item;
}

char *json_copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *p = json_memory->alloc(size);

    return p ? memcpy(p, text, size) : NULL;
}

json_t *json_new_string(const char *text)
{
    json_t *item = text ? json_new(cJSON_String) : NULL;

    if (!item)
        return NULL;
    item->valuestring = json_copy_text(text);
    if (item->valuestring)
        return item;
    json_delete(item);
    return NULL;
}

/* Free a string of an item, unless it goes with the document. */
static void free_text(const struct json_doc *home, char *text)
{
    if (text && (!home || !json_doc_has(home, text)))
        json_memory->free(text);
}

void json_add(json_t *list, json_t *item)
{
    json_t *last;

    if (!list || !item)
        return;
    last = list->child;
    while (last && last->next)
        last = last->next;
    item->prev = last;
    if (last)
        last->next = item;
    else
        list->child = item;
}

void json_add_member(json_t *object, const char *key, json_t *item)
{
    if (!object || !item)
        return;
    free_text(json_node_of(item)->home, item->string);
    item->string = key ? json_copy_text(key) : NULL;
    json_add(object, item);
}

/* Items of one document, which are counted off at once. */
struct dropped {
    struct json_doc *home;
    size_t count;
};

static void drop_all(struct dropped *d)
{
    if (d->count > 0)
        json_doc_drop(d->home, d->count);
    d->count = 0;
}

static bool is_reference(const json_t *item)
{
    return (item->type & cJSON_IsReference) != 0;
}

/* One item without what is below it. */
static void drop(struct dropped *d, json_t *item)
{
    struct json_node *node = json_node_of(item);

    if (!is_reference(item))
        free_text(node->home, item->valuestring);
    free_text(node->home, item->string);
    if (!node->home) {
        json_memory->free(node);
        return;
    }
    if (node->home != d->home)
        drop_all(d);
    d->home = node->home;
    d->count++;
}

/* Lists wait for their members, linked by prev, so that deleting needs no stack. @return the item after this one; NULL: none */
static json_t *drop_upwards(struct dropped *d, json_t *item, json_t **waiting)
{
    json_t *next = item->next;

    drop(d, item);
    while (!next && *waiting) {
        json_t *list = *waiting;

        *waiting = list->prev;
        next = list->next;
        drop(d, list);
    }
    return next;
}

void json_delete(json_t *item)
{
    struct dropped dropped = {0};
    json_t *waiting = NULL;

    if (item)
        item->next = NULL;
    while (item) {
        if (item->child && !is_reference(item)) {
            item->prev = waiting;
            waiting = item;
            item = item->child;
        } else {
            item = drop_upwards(&dropped, item, &waiting);
        }
    }
    drop_all(&dropped);
}

int json_size(json_t *list)
{
    int count = 0;

    for (json_t *item = list ? list->child : NULL; item; item = item->next)
        count++;
    return count;
}

json_t *json_item(json_t *list, int index)
{
    json_t *item = list && index >= 0 ? list->child : NULL;

    while (item && index-- > 0)
        item = item->next;
    return item;
}

json_t *json_member(json_t *object, const char *key)
{
    json_t *item = object && key ? object->child : NULL;

    while (item && (!item->string || strcasecmp(item->string, key) != 0))
        item = item->next;
    return item;
}
