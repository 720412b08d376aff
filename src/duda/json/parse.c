/* SPDX-License-Identifier: Apache-2.0 */
#include "json/doc.h"
#include "kit/json/read.h"

/* Tokens become trees without recursion: the lists that are open are on a stack of fixed size. */

struct reader {
    struct json_read read;
    bool has_unique_keys;
    struct json_build build;
    json_t *root;
    char *key; /* of the value that follows */
    unsigned depth;
    struct level {
        json_t *list, *last;
    } open[JSON_DEPTH_MAX];
};

_Static_assert((unsigned)JSON_DEPTH_MAX <= (unsigned)JSON_READ_DEPTH, "no level is refused before");

static const char no_memory[] = "no memory";

static bool fail(struct reader *r, const char *reason)
{
    (void)json_read_fail(&r->read, MK_E_BAD, reason);
    return false;
}

/* ---- values ---- */

static void append(struct reader *r, json_t *item)
{
    struct level *level = r->depth > 0 ? &r->open[r->depth - 1] : NULL;

    item->string = r->key;
    r->key = NULL;
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

/* @return NULL: no memory */
static json_t *add(struct reader *r, int type)
{
    json_t *item = json_build_item(&r->build, type);

    if (item)
        append(r, item);
    else
        (void)fail(r, no_memory);
    return item;
}

/* The last string or key, with an end. */
static char *take_text(struct reader *r)
{
    char *text = r->read.to - r->read.text.len;

    *r->read.to++ = '\0';
    return text;
}

static bool take_number(struct reader *r, json_t *item)
{
    const char *digits = r->read.number.begin;
    const size_t len = (size_t)(r->read.number.end - digits);
    double number;

    if (!json_number_double(&r->read.number, &number)) {
        r->read.p = digits; /* that is where the error is */
        return fail(r, "the number is too large");
    }
    json_set_number(item, number);
    if (json_needs_digits(number, &r->read.number)) {
        item->valuestring = memcpy(r->read.to, digits, len);
        r->read.to += len;
        *r->read.to++ = '\0';
    }
    return true;
}

static bool close_list(struct reader *r)
{
    json_t *list = r->open[--r->depth].list;
    int unique;

    if (!r->has_unique_keys || list->type != cJSON_Object)
        return true;
    unique = json_has_unique_keys(list);
    return unique > 0 || fail(r, unique == 0 ? "the object has a key twice" : no_memory);
}

static bool take_value(struct reader *r, int kind)
{
    static const int types[] = {
        [MK_JSON_NULL] = cJSON_NULL,     [MK_JSON_FALSE] = cJSON_False,
        [MK_JSON_TRUE] = cJSON_True,     [MK_JSON_NUMBER] = cJSON_Number,
        [MK_JSON_STRING] = cJSON_String, [MK_JSON_ARRAY] = cJSON_Array,
        [MK_JSON_OBJECT] = cJSON_Object,
    };
    json_t *item = add(r, types[kind]);

    if (!item)
        return false;
    switch (kind) {
    case MK_JSON_STRING:
        item->valuestring = take_text(r);
        return true;
    case MK_JSON_NUMBER:
        return take_number(r, item);
    case MK_JSON_ARRAY:
    case MK_JSON_OBJECT:
        r->open[r->depth++] = (struct level){.list = item};
        return true;
    default:
        item->valueint = kind == MK_JSON_TRUE;
        return true;
    }
}

static bool take(struct reader *r, int kind)
{
    switch (kind) {
    case MK_JSON_KEY:
        r->key = take_text(r);
        return true;
    case MK_JSON_CLOSE:
        return close_list(r);
    default:
        return take_value(r, kind);
    }
}

/* ---- texts ---- */

static void begin(struct reader *r, const char *text, size_t len, const struct json_bounds *bounds)
{
    json_read_begin(&r->read, NULL, 0);
    r->read.refuses_nul = true;
    if (bounds) {
        r->read.depth_max = bounds->depth;
        r->read.values_left = bounds->values;
    } else {
        r->read.depth_max = JSON_DEPTH_MAX;
    }
    json_read_feed(&r->read, (struct mk_str){text, len}, true);
    r->root = NULL;
    r->key = NULL;
    r->depth = 0;
}

static json_t *parse(struct reader *r, const char *text, size_t len, int options,
                     const struct json_bounds *bounds)
{
    int kind = -1;

    begin(r, text, len, bounds);
    r->has_unique_keys = (options & JSON_UNIQUE_KEYS) != 0;
    if (!json_build_begin(&r->build, len)) {
        (void)fail(r, no_memory);
        return NULL;
    }
    r->read.to = r->build.to;
    r->read.room_end = r->build.doc->end;
    while ((kind = json_read_next(&r->read)) > 0 && take(r, kind))
        ;
    json_build_end(&r->build, kind == MK_JSON_END);
    return kind == MK_JSON_END ? r->root : NULL;
}

static size_t offset_of(const struct reader *r)
{
    return (size_t)json_read_offset(&r->read);
}

json_t *json_parse(const char *text, size_t len, const char **stop)
{
    struct reader r; /* it is large: what is needed is set */
    json_t *item = parse(&r, text, len, 0, NULL);

    *stop = text + offset_of(&r);
    return item;
}

json_t *json_parse_within(const char *text, size_t len, int options,
                          const struct json_bounds *bounds, struct json_fault *fault)
{
    struct reader r;
    json_t *item = parse(&r, text, len, options, bounds);

    if (!item && fault) {
        fault->offset = offset_of(&r);
        json_read_place((struct mk_str){text, len}, fault->offset, &fault->line, &fault->column);
        fault->reason = r.read.reason;
    }
    return item;
}

json_t *json_parse_text(const char *text, size_t len, int options, struct json_fault *fault)
{
    return json_parse_within(text, len, options, NULL, fault);
}
