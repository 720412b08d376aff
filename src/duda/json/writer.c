/* SPDX-License-Identifier: Apache-2.0 */
#include "json/tree.h"

#include "json/out.h"
#include "kit/pure/json_text.h"

struct json_writer {
    struct json_out out;
    int (*finish)(void *user); /* NULL: nothing follows */
    bool has_key, is_done;
    unsigned depth;
    struct {
        bool is_object, has_items;
    } open[JSON_DEPTH_MAX];
};

json_writer_t *json_writer_new(json_put_fn put, void *user)
{
    json_writer_t *w = put ? json_memory->alloc_z(sizeof(*w)) : NULL;

    if (w)
        w->out = (struct json_out){.give = put, .user = user};
    return w;
}

static bool is_in_object(const json_writer_t *w)
{
    return w->depth > 0 && w->open[w->depth - 1].is_object;
}

/* Notes an item. @return whether one of the same object or array was before it */
static bool follows(json_writer_t *w)
{
    bool *has_items = w->depth > 0 ? &w->open[w->depth - 1].has_items : NULL;
    const bool is_further = has_items && *has_items;

    if (has_items)
        *has_items = true;
    return is_further;
}

/* Is this the place of a value? Notes that it follows. */
static bool begins_value(json_writer_t *w)
{
    if (!w)
        return false;
    if (w->is_done || is_in_object(w) != w->has_key)
        w->out.has_failed = true;
    if (!w->has_key && follows(w))
        JSON_PUT(&w->out, ",");
    w->has_key = false;
    w->is_done = w->depth == 0;
    return !w->out.has_failed;
}

static void write_plain(json_writer_t *w, const char *text)
{
    if (begins_value(w))
        json_put(&w->out, text, strlen(text));
}

static void begin(json_writer_t *w, bool is_object)
{
    if (!begins_value(w))
        return;
    if (w->depth == JSON_DEPTH_MAX) {
        w->out.has_failed = true;
        return;
    }
    w->is_done = false;
    json_put_few(&w->out, is_object ? "{" : "[", 1);
    w->open[w->depth].is_object = is_object;
    w->open[w->depth++].has_items = false;
}

void json_write_object(json_writer_t *w)
{
    begin(w, true);
}

void json_write_array(json_writer_t *w)
{
    begin(w, false);
}

void json_write_close(json_writer_t *w)
{
    if (!w)
        return;
    if (w->depth == 0 || w->has_key) {
        w->out.has_failed = true;
        return;
    }
    json_put_few(&w->out, is_in_object(w) ? "}" : "]", 1);
    w->depth--;
    w->is_done = w->depth == 0;
}

/*
 * Most texts are copied while they are looked at, between a comma and a colon where they belong.
 * @return false: this one needs escapes, or a look at its UTF-8, and nothing was put
 */
static inline bool put_simple(json_writer_t *w, const char *text, bool has_comma, bool has_colon)
{
    const size_t n = strlen(text);
    char *at = json_room(&w->out, n + 4);

    if (!at)
        return true; /* it has failed */
    if (!json_text_copy(at + has_comma + 1, text, n))
        return false;
    *at = ',';
    at += has_comma;
    *at++ = '"';
    at += n;
    *at++ = '"';
    *at = ':';
    at += has_colon;
    w->out.len = (size_t)(at - w->out.text);
    return true;
}

static void put_text(json_writer_t *w, const char *text)
{
    if (json_is_text(text))
        json_put_string(&w->out, text);
    else
        w->out.has_failed = true;
}

void json_write_key(json_writer_t *w, const char *key)
{
    bool has_comma;

    if (!w)
        return;
    if (!key || !is_in_object(w) || w->has_key) {
        w->out.has_failed = true;
        return;
    }
    has_comma = follows(w);
    w->has_key = true;
    if (put_simple(w, key, has_comma, true))
        return;
    if (has_comma)
        JSON_PUT(&w->out, ",");
    put_text(w, key);
    JSON_PUT(&w->out, ":");
}

void json_write_string(json_writer_t *w, const char *text)
{
    if (!text) {
        write_plain(w, "null");
        return;
    }
    if (begins_value(w) && !put_simple(w, text, false, false))
        put_text(w, text);
}

void json_write_number(json_writer_t *w, double number)
{
    char text[JSON_NUMBER_ROOM];

    json_print_number(text, number);
    write_plain(w, text);
}

void json_write_int64(json_writer_t *w, int64_t number)
{
    char *to = begins_value(w) ? json_room(&w->out, JSON_NUMBER_ROOM) : NULL;

    if (to)
        w->out.len += (size_t)(json_put_int64(to, number) - to);
}

void json_write_bool(json_writer_t *w, int b)
{
    write_plain(w, b ? "true" : "false");
}

void json_write_null(json_writer_t *w)
{
    write_plain(w, "null");
}

void json_write_item(json_writer_t *w, const json_t *item)
{
    if (!item)
        write_plain(w, "null");
    else if (begins_value(w))
        json_put_item(&w->out, item);
}

void json_write_raw(json_writer_t *w, const char *text, size_t len)
{
    if (!text || len == 0)
        write_plain(w, "null");
    else if (begins_value(w))
        json_put(&w->out, text, len);
}

void json_writer_finish(json_writer_t *w, int (*finish)(void *user))
{
    if (w)
        w->finish = finish;
}

int json_writer_end(json_writer_t *w)
{
    int result;

    if (!w)
        return -1;
    if (w->is_done)
        json_flush(&w->out);
    result = w->is_done && !w->out.has_failed ? 0 : -1;
    if (result == 0 && w->finish)
        result = w->finish(w->out.user);
    json_memory->free(w->out.text);
    json_memory->free(w);
    return result;
}
