/* SPDX-License-Identifier: Apache-2.0 */
#include "json/out.h"

/* The calls of services: their texts end with a zero byte, and must be UTF-8. */

struct json_writer {
    int (*finish)(void *user); /* NULL: nothing follows */
    uint64_t outer[JSON_WRITE_OUTER];
    struct json_out out;
    char piece[JSON_PIECE];
};

json_writer_t *json_writer_new(json_put_fn put, void *user)
{
    json_writer_t *w = put ? json_memory->alloc(sizeof(*w)) : NULL;

    if (!w)
        return NULL;
    w->finish = NULL;
    json_out_give(&w->out, w->piece, put, user);
    w->out.j.outer = w->outer;
    return w;
}

void json_write_object(json_writer_t *w)
{
    if (w)
        json_open(&w->out.j, false);
}

void json_write_array(json_writer_t *w)
{
    if (w)
        json_open(&w->out.j, true);
}

void json_write_close(json_writer_t *w)
{
    if (w)
        json_close(&w->out.j);
}

static void put_checked(struct mk_json *j, const char *text)
{
    if (json_is_text(text))
        json_put_string(j, text);
    else
        json_fail(j, MK_E_INVALID);
}

void json_write_key(json_writer_t *w, const char *key)
{
    struct mk_json *j = w ? &w->out.j : NULL;
    bool has_comma;

    if (!j)
        return;
    if (!key)
        json_fail(j, MK_E_INVALID);
    else if (json_begin_key(j, &has_comma) &&
             !json_put_plain(j, (struct mk_str){key, strlen(key)}, has_comma, true)) {
        if (has_comma)
            JSON_PUT(j, ",");
        put_checked(j, key);
        JSON_PUT(j, ":");
    }
}

static void write_word(json_writer_t *w, const char *word, size_t len)
{
    if (w && json_begin_value(&w->out.j))
        json_put_bytes(&w->out.j, word, len);
}

void json_write_string(json_writer_t *w, const char *text)
{
    if (!text)
        json_write_null(w);
    else if (w && json_begin_value(&w->out.j) &&
             !json_put_plain(&w->out.j, (struct mk_str){text, strlen(text)}, false, false))
        put_checked(&w->out.j, text);
}

void json_write_number(json_writer_t *w, double number)
{
    char text[JSON_NUMBER_ROOM];

    write_word(w, text, (size_t)(json_put_number(text, number) - text));
}

void json_write_int64(json_writer_t *w, int64_t n)
{
    if (w)
        json_put_integer(&w->out.j, n < 0, n < 0 ? 0 - (uint64_t)n : (uint64_t)n);
}

void json_write_bool(json_writer_t *w, int b)
{
    if (w && json_begin_value(&w->out.j))
        json_put_bool(&w->out.j, b);
}

void json_write_null(json_writer_t *w)
{
    if (w && json_begin_value(&w->out.j))
        JSON_PUT(&w->out.j, "null");
}

void json_write_item(json_writer_t *w, const json_t *item)
{
    if (!item)
        json_write_null(w);
    else if (w && json_begin_value(&w->out.j))
        json_put_item(&w->out.j, item);
}

void json_write_raw(json_writer_t *w, const char *text, size_t len)
{
    if (!text || len == 0)
        json_write_null(w);
    else
        write_word(w, text, len);
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
    result = json_finish(&w->out.j);
    json_out_flush(&w->out); /* nothing, after an error */
    result = result == 0 && w->out.j.error == 0 ? 0 : -1;
    if (result == 0 && w->finish)
        result = w->finish(w->out.user);
    json_memory->free(w);
    return result;
}
