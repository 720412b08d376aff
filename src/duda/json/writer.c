/* SPDX-License-Identifier: Apache-2.0 */
#include "json/tree.h"

#include "json/out.h"
#include "json/scan.h"

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

static void put_comma(json_writer_t *w)
{
    if (w->depth > 0 && w->open[w->depth - 1].has_items)
        JSON_PUT(&w->out, ",");
    if (w->depth > 0)
        w->open[w->depth - 1].has_items = true;
}

/* Is this the place of a value? Notes that it follows. */
static bool begins_value(json_writer_t *w)
{
    if (!w)
        return false;
    if (w->is_done || is_in_object(w) != w->has_key)
        w->out.has_failed = true;
    if (!w->has_key)
        put_comma(w);
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

/* Most texts are ASCII without escapes: they are copied while they are looked at. @return false: this one is not, and nothing was put */
static bool put_simple(json_writer_t *w, const char *text, const char *after, size_t len)
{
    const size_t n = strlen(text);
    char *to = json_room(&w->out, n + 2 + len);

    if (!to)
        return true; /* it has failed */
    *to++ = '"';
    if (json_copy_plain(&to, text, text + n, true) != text + n)
        return false;
    *to++ = '"';
    memcpy(to, after, len);
    w->out.len += n + 2 + len;
    return true;
}

void json_write_key(json_writer_t *w, const char *key)
{
    if (!w)
        return;
    if (!key || !is_in_object(w) || w->has_key) {
        w->out.has_failed = true;
        return;
    }
    put_comma(w);
    w->has_key = true;
    if (put_simple(w, key, ":", 1))
        return;
    if (!json_is_text(key)) {
        w->out.has_failed = true;
        return;
    }
    json_put_string(&w->out, key);
    json_put(&w->out, ":", 1);
}

void json_write_string(json_writer_t *w, const char *text)
{
    if (!text) {
        write_plain(w, "null");
        return;
    }
    if (!begins_value(w) || put_simple(w, text, "", 0))
        return;
    if (json_is_text(text))
        json_put_string(&w->out, text);
    else
        w->out.has_failed = true;
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
