/* SPDX-License-Identifier: Apache-2.0 */
#include "tree.h"

/* Texts become trees without recursion: the lists that are open are on a stack of fixed size. */

struct reader {
    const char *p, *end;
    unsigned depth;
    json_t *root;
    struct level {
        json_t *list, *last;
    } open[JSON_DEPTH_MAX];
};

enum step { VALUE, AFTER_VALUE, DONE, FAILED };

static void skip_blanks(struct reader *r)
{
    while (r->p < r->end && (*r->p == ' ' || *r->p == '\t' || *r->p == '\n' || *r->p == '\r'))
        r->p++;
}

static bool take(struct reader *r, char c)
{
    skip_blanks(r);
    if (r->p == r->end || *r->p != c)
        return false;
    r->p++;
    return true;
}

static json_t *read_word(struct reader *r)
{
    static const struct {
        const char *text;
        size_t len;
        int type;
    } words[] = {{"null", 4, cJSON_NULL}, {"true", 4, cJSON_True}, {"false", 5, cJSON_False}};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        json_t *item;

        if ((size_t)(r->end - r->p) < words[i].len ||
            memcmp(r->p, words[i].text, words[i].len) != 0)
            continue;
        item = json_new(words[i].type);
        if (item)
            r->p += words[i].len;
        return item;
    }
    return NULL;
}

static json_t *read_number(struct reader *r)
{
    double number;
    const char *behind = json_read_number(r->p, r->end, &number);
    json_t *item = behind ? json_new_number(number) : NULL;

    if (item)
        r->p = behind;
    return item;
}

static json_t *read_string(struct reader *r)
{
    json_t *item = json_new(cJSON_String);

    if (!item)
        return NULL;
    r->p++;
    item->valuestring = json_read_string(&r->p, r->end);
    if (!item->valuestring) {
        json_delete(item);
        return NULL;
    }
    return item;
}

static json_t *open_list(struct reader *r)
{
    json_t *item;

    if (r->depth == JSON_DEPTH_MAX)
        return NULL;
    item = json_new(*r->p == '[' ? cJSON_Array : cJSON_Object);
    if (item)
        r->p++;
    return item;
}

static json_t *read_item(struct reader *r)
{
    skip_blanks(r);
    if (r->p == r->end)
        return NULL;
    if (*r->p == '"')
        return read_string(r);
    if (*r->p == '[' || *r->p == '{')
        return open_list(r);
    return *r->p == '-' || (*r->p >= '0' && *r->p <= '9') ? read_number(r) : read_word(r);
}

static bool is_in_object(const struct reader *r)
{
    return r->depth > 0 && r->open[r->depth - 1].list->type == cJSON_Object;
}

/* @return false: there is no key with its colon, or no memory */
static bool read_key(struct reader *r, char **key)
{
    if (!take(r, '"'))
        return false;
    *key = json_read_string(&r->p, r->end);
    return *key && take(r, ':');
}

static void append(struct reader *r, json_t *item)
{
    struct level *level = r->depth > 0 ? &r->open[r->depth - 1] : NULL;

    if (!level) {
        r->root = item;
        return;
    }
    item->prev = level->last;
    if (level->last)
        level->last->next = item;
    else
        level->list->child = item;
    level->last = item;
}

static enum step read_value(struct reader *r)
{
    char *key = NULL;
    json_t *item = NULL;

    if (!is_in_object(r) || read_key(r, &key))
        item = read_item(r);
    if (!item) {
        json_memory->free(key);
        return FAILED;
    }
    item->string = key;
    append(r, item);
    if (item->type != cJSON_Array && item->type != cJSON_Object)
        return AFTER_VALUE;
    r->open[r->depth++] = (struct level){.list = item};
    skip_blanks(r);
    return r->p < r->end && *r->p == (item->type == cJSON_Array ? ']' : '}') ? AFTER_VALUE : VALUE;
}

static enum step read_separator(struct reader *r)
{
    if (r->depth == 0) {
        skip_blanks(r);
        return r->p == r->end ? DONE : FAILED;
    }
    if (take(r, is_in_object(r) ? '}' : ']')) {
        r->depth--;
        return AFTER_VALUE;
    }
    return take(r, ',') ? VALUE : FAILED;
}

json_t *json_parse(const char *text, size_t len, const char **stop)
{
    struct reader r = {.p = text, .end = text + len};
    enum step step = VALUE;

    while (step == VALUE || step == AFTER_VALUE)
        step = step == VALUE ? read_value(&r) : read_separator(&r);
    *stop = r.p;
    if (step == DONE)
        return r.root;
    json_delete(r.root);
    return NULL;
}
