/* SPDX-License-Identifier: Apache-2.0 */
#include "json/tree.h"

/* Trees copied and merged (RFC 7396) without recursion: the lists that are open are on a stack of fixed size. */

struct level {
    json_t *to;         /* an object or array of ours */
    json_t *last;       /* of its items */
    const json_t *next; /* the item that is copied or applied to it next */
};

/* @return a copy of one item without its members */
static json_t *copy_item(const json_t *from)
{
    json_t *item = json_new(from->type & JSON_TYPE);

    if (!item)
        return NULL;
    item->valueint = from->valueint;
    item->valuedouble = from->valuedouble;
    if (from->valuestring)
        item->valuestring = json_copy_text(from->valuestring);
    if (from->string)
        item->string = json_copy_text(from->string);
    if (!item->valuestring == !from->valuestring && !item->string == !from->string)
        return item;
    json_delete(item);
    return NULL;
}

static void append(struct level *level, json_t *item)
{
    item->prev = level->last;
    if (level->last)
        level->last->next = item;
    else
        level->to->child = item;
    level->last = item;
}

/* @return false: no memory, or too deep */
static bool copy_below(json_t *root, const json_t *from)
{
    struct level open[JSON_DEPTH_MAX] = {{.to = root, .next = from->child}};
    size_t depth = 1;

    while (depth > 0) {
        struct level *level = &open[depth - 1];
        const json_t *next = level->next;
        json_t *item = next ? copy_item(next) : NULL;

        if (!next) {
            depth--;
            continue;
        }
        if (!item)
            return false;
        append(level, item);
        level->next = next->next;
        if (next->child && depth == JSON_DEPTH_MAX)
            return false;
        if (next->child)
            open[depth++] = (struct level){.to = item, .next = next->child};
    }
    return true;
}

json_t *json_copy(const json_t *item)
{
    json_t *root = item ? copy_item(item) : NULL;

    if (!root || copy_below(root, item))
        return root;
    json_delete(root);
    return NULL;
}

static bool is_object(const json_t *item)
{
    return item && (item->type & JSON_TYPE) == cJSON_Object;
}

static bool has_key(const json_t *item, const char *key)
{
    return item->string && key && strcmp(item->string, key) == 0;
}

static void take_out(json_t *object, json_t *item)
{
    if (item->prev)
        item->prev->next = item->next;
    else
        object->child = item->next;
    if (item->next)
        item->next->prev = item->prev;
    item->next = item->prev = NULL;
}

/* Remove the members of this key but one object that is kept. @return that one; NULL: there is none */
static json_t *clear(json_t *object, const char *key, bool keeps_object)
{
    json_t *kept = NULL, *next;

    for (json_t *item = object->child; item; item = next) {
        next = item->next;
        if (!has_key(item, key))
            continue;
        if (keeps_object && !kept && is_object(item)) {
            kept = item;
            continue;
        }
        take_out(object, item);
        json_delete(item);
    }
    return kept;
}

/* @return the member of the object that goes with a patch that is an object; NULL: no memory */
static json_t *object_for(json_t *object, const json_t *patch)
{
    json_t *member = clear(object, patch->string, true);

    if (member)
        return member;
    member = json_new(cJSON_Object);
    if (!member)
        return NULL;
    member->string = patch->string ? json_copy_text(patch->string) : NULL;
    if (patch->string && !member->string) {
        json_delete(member);
        return NULL;
    }
    json_add(object, member);
    return member;
}

/* Set or remove a member. @return false: no memory, or too deep */
static bool set(json_t *object, const json_t *patch)
{
    json_t *member;

    (void)clear(object, patch->string, false);
    if ((patch->type & JSON_TYPE) == cJSON_NULL)
        return true;
    member = json_copy(patch);
    json_add(object, member);
    return member != NULL;
}

static bool merge(json_t *root, const json_t *patch)
{
    struct level open[JSON_DEPTH_MAX] = {{.to = root, .next = patch->child}};
    size_t depth = 1;

    while (depth > 0) {
        struct level *level = &open[depth - 1];
        const json_t *next = level->next;
        json_t *member;

        if (!next) {
            depth--;
            continue;
        }
        level->next = next->next;
        if (!is_object(next)) {
            if (!set(level->to, next))
                return false;
            continue;
        }
        member = depth < JSON_DEPTH_MAX ? object_for(level->to, next) : NULL;
        if (!member)
            return false;
        open[depth++] = (struct level){.to = member, .next = next->child};
    }
    return true;
}

json_t *json_merge_patch(const json_t *target, const json_t *patch)
{
    json_t *root;

    if (!is_object(patch))
        return json_copy(patch);
    root = is_object(target) ? json_copy(target) : json_new(cJSON_Object);
    if (!root || merge(root, patch))
        return root;
    json_delete(root);
    return NULL;
}
