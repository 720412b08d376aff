/* SPDX-License-Identifier: Apache-2.0 */
#include "json/doc.h"

#include <math.h>

/* Texts become trees without recursion: the lists that are open are on a stack of fixed size. */

struct reader {
    const char *p, *end;
    const char *reason; /* of the first error */
    bool has_unique_keys;
    struct json_bounds left; /* of depth all, of values those that may still come */
    struct json_build build;
    unsigned depth;
    json_t *root;
    struct level {
        json_t *list, *last;
    } open[JSON_DEPTH_MAX];
};

enum step { VALUE, AFTER_VALUE, DONE, FAILED };

static const char no_memory[] = "no memory";

/* @return NULL */
static json_t *fail(struct reader *r, const char *reason)
{
    if (!r->reason)
        r->reason = reason;
    return NULL;
}

static json_t *new_item(struct reader *r, int type)
{
    json_t *item;

    if (r->left.values == 0)
        return fail(r, "too many values");
    r->left.values--;
    item = json_build_item(&r->build, type);
    return item ? item : fail(r, no_memory);
}

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

        if (*r->p != *words[i].text || (size_t)(r->end - r->p) < words[i].len ||
            memcmp(r->p, words[i].text, words[i].len) != 0)
            continue;
        item = new_item(r, words[i].type);
        if (item) {
            item->valueint = words[i].type == cJSON_True;
            r->p += words[i].len;
        }
        return item;
    }
    return fail(r, "a value is expected");
}

static json_t *read_number(struct reader *r)
{
    double number;
    const char *behind = json_read_number(r->p, r->end, &number);
    const size_t len = behind ? (size_t)(behind - r->p) : 0;
    json_t *item = behind ? new_item(r, cJSON_Number) : NULL;

    if (!behind)
        return fail(r, isnan(number)   ? "a number is expected"
                       : isinf(number) ? "the number is too large"
                                       : no_memory);
    if (!item)
        return NULL;
    json_set_number(item, number);
    if (json_needs_digits(number, r->p, len)) {
        item->valuestring = memcpy(r->build.to, r->p, len);
        r->build.to[len] = '\0';
        r->build.to += len + 1;
    }
    r->p = behind;
    return item;
}

/* Behind its opening quote. @return NULL: failed */
static char *read_text(struct reader *r)
{
    char *text = r->build.to;

    r->p = json_read_string(r->p, r->end, &r->build.to);
    if (r->p == r->end || *r->p != '"') {
        (void)fail(r, r->p == r->end ? "the string does not end" : "this may not be in a string");
        return NULL;
    }
    r->p++;
    *r->build.to++ = '\0';
    return text;
}

static json_t *read_string(struct reader *r)
{
    char *text;
    json_t *item;

    r->p++;
    text = read_text(r);
    item = text ? new_item(r, cJSON_String) : NULL;
    if (item)
        item->valuestring = text;
    return item;
}

static json_t *open_list(struct reader *r)
{
    json_t *item;

    if (r->depth == r->left.depth)
        return fail(r, "nested too deep");
    item = new_item(r, *r->p == '[' ? cJSON_Array : cJSON_Object);
    if (item)
        r->p++;
    return item;
}

static json_t *read_item(struct reader *r)
{
    skip_blanks(r);
    if (r->p == r->end)
        return fail(r, "a value is expected");
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
        return fail(r, "a key is expected") != NULL;
    *key = read_text(r);
    if (!*key)
        return false;
    return take(r, ':') || fail(r, "a colon is expected") != NULL;
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
    if (!item)
        return FAILED;
    item->string = key;
    append(r, item);
    if (item->type != cJSON_Array && item->type != cJSON_Object)
        return AFTER_VALUE;
    r->open[r->depth++] = (struct level){.list = item};
    skip_blanks(r);
    return r->p < r->end && *r->p == (item->type == cJSON_Array ? ']' : '}') ? AFTER_VALUE : VALUE;
}

/* @return whether the list that closes now may be as it is */
static bool check_keys(struct reader *r)
{
    json_t *list = r->open[r->depth - 1].list;
    int unique;

    if (!r->has_unique_keys || list->type != cJSON_Object)
        return true;
    unique = json_has_unique_keys(list);
    if (unique <= 0)
        (void)fail(r, unique == 0 ? "the object has a key twice" : no_memory);
    return unique > 0;
}

static enum step read_separator(struct reader *r)
{
    if (r->depth == 0) {
        skip_blanks(r);
        if (r->p == r->end)
            return DONE;
        (void)fail(r, "the text goes on after its value");
        return FAILED;
    }
    if (take(r, is_in_object(r) ? '}' : ']')) {
        if (!check_keys(r))
            return FAILED;
        r->depth--;
        return AFTER_VALUE;
    }
    if (take(r, ','))
        return VALUE;
    (void)fail(r, is_in_object(r) ? "a comma or } is expected" : "a comma or ] is expected");
    return FAILED;
}

static json_t *parse(struct reader *r, const char *text, size_t len, int options,
                     const struct json_bounds *bounds)
{
    enum step step = VALUE;

    r->p = text;
    r->end = text + len;
    r->has_unique_keys = (options & JSON_UNIQUE_KEYS) != 0;
    r->left = bounds ? *bounds : (struct json_bounds){JSON_DEPTH_MAX, SIZE_MAX};
    r->reason = NULL;
    r->root = NULL;
    r->depth = 0;
    if (!json_build_begin(&r->build, len))
        return fail(r, no_memory);
    while (step == VALUE || step == AFTER_VALUE)
        step = step == VALUE ? read_value(r) : read_separator(r);
    json_build_end(&r->build, step == DONE);
    return step == DONE ? r->root : NULL;
}

json_t *json_parse(const char *text, size_t len, const char **stop)
{
    struct reader r; /* it is large: what is needed is set */
    json_t *item = parse(&r, text, len, 0, NULL);

    *stop = r.p;
    return item;
}

/* Continuation bytes of UTF-8 begin no column. */
static void find_place(struct json_fault *fault, const char *text, const char *stop)
{
    fault->offset = (size_t)(stop - text);
    fault->line = fault->column = 1;
    for (; text < stop; text++) {
        if (*text == '\n') {
            fault->line++;
            fault->column = 1;
        } else if (((unsigned char)*text & 0xc0) != 0x80) {
            fault->column++;
        }
    }
}

json_t *json_parse_within(const char *text, size_t len, int options,
                          const struct json_bounds *bounds, struct json_fault *fault)
{
    struct reader r;
    json_t *item = parse(&r, text, len, options, bounds);

    if (!item && fault) {
        find_place(fault, text, r.p);
        fault->reason = r.reason;
    }
    return item;
}

json_t *json_parse_text(const char *text, size_t len, int options, struct json_fault *fault)
{
    return json_parse_within(text, len, options, NULL, fault);
}
