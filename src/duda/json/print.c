/* SPDX-License-Identifier: Apache-2.0 */
#include "json/out.h"

/* Trees become texts without recursion: the lists that are open are on a stack of fixed size. */

struct printer {
    struct mk_json *j;
    bool is_indented;
    unsigned depth;
    const json_t *open[JSON_DEPTH_MAX];
};

static void put_tabs(struct printer *p, unsigned count)
{
    while (p->is_indented && count-- > 0)
        JSON_PUT(p->j, "\t");
}

static bool is_list(const json_t *item)
{
    int type = item->type & JSON_TYPE;

    return type == cJSON_Array || type == cJSON_Object;
}

static bool is_object(const json_t *item)
{
    return (item->type & JSON_TYPE) == cJSON_Object;
}

static void put_number(struct printer *p, const json_t *item)
{
    const char *digits = json_digits(item);
    char *to = digits ? NULL : json_reserve(p->j, JSON_NUMBER_ROOM);

    if (digits)
        json_put_bytes(p->j, digits, strlen(digits));
    else if (to)
        p->j->len = (size_t)(json_put_number(to, item->valuedouble) - p->j->p);
}

static void put_scalar(struct printer *p, const json_t *item)
{
    switch (item->type & JSON_TYPE) {
    case cJSON_String:
        json_put_string(p->j, item->valuestring);
        break;
    case cJSON_Number:
        put_number(p, item);
        break;
    case cJSON_True:
        JSON_PUT(p->j, "true");
        break;
    case cJSON_False:
        JSON_PUT(p->j, "false");
        break;
    default:
        JSON_PUT(p->j, "null");
    }
}

/* What stands before an item in the innermost open list. */
static void put_key(struct printer *p, const json_t *item)
{
    if (p->depth == 0 || !is_object(p->open[p->depth - 1]))
        return;
    put_tabs(p, p->depth);
    json_put_string(p->j, item->string);
    if (p->is_indented)
        JSON_PUT(p->j, ":\t");
    else
        JSON_PUT(p->j, ":");
}

static void put_opening(struct printer *p, const json_t *list)
{
    if (p->depth == JSON_DEPTH_MAX) {
        json_fail(p->j, MK_E_LIMIT);
        return;
    }
    p->open[p->depth++] = list;
    json_put_few(p->j, is_object(list) ? "{\n" : "[", is_object(list) && p->is_indented ? 2 : 1);
}

static void put_comma(struct printer *p)
{
    JSON_PUT(p->j, ",");
    if (p->is_indented)
        json_put_few(p->j, is_object(p->open[p->depth - 1]) ? "\n" : " ", 1);
}

/* @return the list that is closed now */
static const json_t *put_closing(struct printer *p)
{
    const json_t *list = p->open[--p->depth];

    if (is_object(list) && p->is_indented && list->child)
        JSON_PUT(p->j, "\n");
    if (is_object(list))
        put_tabs(p, p->depth);
    json_put_few(p->j, is_object(list) ? "}" : "]", 1);
    return list;
}

/* @return the item after this one, which is printed, with the lists between closed; NULL: none */
static const json_t *following(struct printer *p, const json_t *item)
{
    while (p->depth > 0 && !item->next)
        item = put_closing(p);
    if (p->depth == 0)
        return NULL;
    put_comma(p);
    return item->next;
}

static const json_t *print_item(struct printer *p, const json_t *item)
{
    put_key(p, item);
    if (!is_list(item)) {
        put_scalar(p, item);
        return following(p, item);
    }
    put_opening(p, item);
    if (item->child || p->j->error < 0)
        return item->child;
    return following(p, put_closing(p));
}

static void print_tree(struct printer *p, const json_t *item)
{
    while (item && p->j->error == 0)
        item = print_item(p, item);
}

/* It is large: what is needed is set. */
static void print(struct mk_json *j, const json_t *item, bool is_indented)
{
    struct printer p;

    p.j = j;
    p.is_indented = is_indented;
    p.depth = 0;
    print_tree(&p, item);
}

char *json_print(const json_t *item, bool is_indented)
{
    struct json_out out;
    char *text;

    if (!item)
        return NULL;
    json_out_grow(&out);
    print(&out.j, item, is_indented);
    json_put_few(&out.j, "", 1);
    if (out.j.error == 0) {
        text = json_memory->realloc(out.j.p, out.j.len);
        return text ? text : out.j.p;
    }
    json_memory->free(out.j.p);
    return NULL;
}

void json_put_item(struct mk_json *j, const json_t *item)
{
    print(j, item, false);
}
