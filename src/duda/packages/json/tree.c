/* SPDX-License-Identifier: Apache-2.0 */
#include "tree.h"

#include <limits.h>
#include <strings.h>

const struct duda_api_mem *json_memory;

json_t *json_new(int type)
{
    json_t *item = json_memory->alloc_z(sizeof(*item));

    if (item)
        item->type = type;
    if (item && type == cJSON_True)
        item->valueint = 1;
    return item;
}

static int to_int(double number)
{
    if (number >= INT_MAX)
        return INT_MAX;
    return number > INT_MIN ? (int)number : INT_MIN; /* of no number as well */
}

json_t *json_new_number(double number)
{
    json_t *item = json_new(cJSON_Number);

    if (item) {
        item->valuedouble = number;
        item->valueint = to_int(number);
    }
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
    if (!item->valuestring) {
        json_memory->free(item);
        return NULL;
    }
    return item;
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
    json_memory->free(item->string);
    item->string = key ? json_copy_text(key) : NULL;
    json_add(object, item);
}

/* The members of an item come before what follows it, so that freeing needs no stack. */
static void lift_members(json_t *item)
{
    json_t *last = item->child;

    if (!last)
        return;
    while (last->next)
        last = last->next;
    last->next = item->next;
    item->next = item->child;
}

void json_delete(json_t *item)
{
    if (item)
        item->next = NULL;
    while (item) {
        json_t *next;

        if (!(item->type & cJSON_IsReference)) {
            lift_members(item);
            json_memory->free(item->valuestring);
        }
        next = item->next;
        json_memory->free(item->string);
        json_memory->free(item);
        item = next;
    }
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
