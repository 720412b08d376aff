/* SPDX-License-Identifier: Apache-2.0 */
#include "web/json_int.h"

#include "base/heap.h"
#include "kit/json/write.h"
#include "kit/text/escape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* JSON straight into a buffer. */

enum {
    FIRST_ROOM = 1024,
};

void mk_json_begin(struct mk_json *j, char *p, size_t size, mk_json_room_fn room, void *arg)
{
    if (j)
        *j = (struct mk_json){
            .p = p, .size = p ? size : 0, .room = room, .arg = arg, .after = JSON_AT_END};
}

void mk_json_object(struct mk_json *j)
{
    if (j)
        json_open(j, false);
}

void mk_json_array(struct mk_json *j)
{
    if (j)
        json_open(j, true);
}

void mk_json_close(struct mk_json *j)
{
    if (j)
        json_close(j);
}

/* Keys and most texts are short and need no escape. */
static inline void put_text(struct mk_json *j, struct mk_str text, bool has_comma, bool has_colon)
{
    if (json_put_plain(j, text, has_comma, has_colon))
        return;
    if (has_comma)
        JSON_PUT(j, ",");
    json_put_escaped(j, text, text_json);
    if (has_colon)
        JSON_PUT(j, ":");
}

void mk_json_key(struct mk_json *j, struct mk_str name)
{
    bool has_comma;

    if (j && json_begin_key(j, &has_comma))
        put_text(j, name, has_comma, true);
}

static void put_word(struct mk_json *j, struct mk_str word)
{
    if (j && json_begin_value(j))
        json_put_bytes(j, word.p, word.len);
}

void mk_json_text(struct mk_json *j, struct mk_str text)
{
    if (!text.p)
        mk_json_null(j);
    else if (j && json_begin_value(j))
        put_text(j, text, false, false);
}

void mk_json_uint(struct mk_json *j, uint64_t n)
{
    if (j)
        json_put_integer(j, false, n);
}

void mk_json_int(struct mk_json *j, int64_t n)
{
    if (j)
        json_put_integer(j, n < 0, n < 0 ? 0 - (uint64_t)n : (uint64_t)n);
}

static bool is_number_byte(char c)
{
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == 'e';
}

/* The locale's decimal point, which may be several bytes, becomes a point. */
static size_t with_point(char *text, size_t len)
{
    size_t to = 0;

    for (size_t at = 0; at < len; at++) {
        if (is_number_byte(text[at]))
            text[to++] = text[at];
        else if (to == 0 || text[to - 1] != '.')
            text[to++] = '.';
    }
    return to;
}

void mk_json_number(struct mk_json *j, double n)
{
    char text[JSON_NUMBER_MAX];
    int len = 0;

    if (!isfinite(n)) {
        mk_json_null(j);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        len = snprintf(text, sizeof(text), "%.*g", digits, n);
        if (strtod(text, NULL) == n)
            break;
    }
    put_word(j, (struct mk_str){text, with_point(text, (size_t)len)});
}

void mk_json_bool(struct mk_json *j, bool b)
{
    if (j && json_begin_value(j))
        json_put_bool(j, b);
}

void mk_json_null(struct mk_json *j)
{
    if (j && json_begin_value(j))
        JSON_PUT(j, "null");
}

void mk_json_raw(struct mk_json *j, struct mk_str json)
{
    if (j && json.len == 0)
        json_fail(j, MK_E_INVALID);
    else
        put_word(j, json);
}

int mk_json_end(struct mk_json *j)
{
    return j ? json_finish(j) : MK_E_INVALID;
}

/* ---- as an answer ---- */

static int grow(struct mk_json *j, size_t needed, void *arg)
{
    char **owned = arg;
    size_t size = j->size ? j->size : FIRST_ROOM;
    char *larger;

    if (!owned)
        return MK_E_NOMEM;
    while (size - j->len < needed)
        size *= 2;
    if (size > j->max)
        size = j->max;
    larger = mk_heap_resize(*owned, size);
    if (!larger)
        return MK_E_NOMEM;
    *owned = larger;
    j->p = larger;
    j->size = size;
    return 0;
}

static void drop(void *arg)
{
    char **owned = arg;

    mk_heap_free(*owned);
}

void mk_json_begin_reply(struct mk_json *j, struct mk_request *r, size_t max)
{
    char **owned = j && r ? mk_request_alloc(r, sizeof(char *)) : NULL;

    if (!j)
        return;
    if (owned) {
        *owned = NULL;
        if (mk_request_on_end(r, drop, owned) < 0)
            owned = NULL;
    }
    mk_json_begin(j, NULL, 0, grow, owned);
    j->max = max;
    if (!r)
        json_fail(j, MK_E_INVALID);
}

enum mk_verdict mk_json_reply_as(struct mk_request *r, unsigned status, struct mk_json *j,
                                 struct mk_str type)
{
    struct mk_reply p;
    const int err = mk_json_end(j);

    if (!r)
        return MK_VERDICT_DONE;
    if (err < 0) {
        mk_request_log(r, MK_LOG_ERROR, "a handler wrote no valid JSON: %s", mk_error_text(err));
        return mk_reply_error(r, 500, NULL);
    }
    if (mk_reply_begin(&p, r, status) < 0)
        return MK_VERDICT_DONE;
    mk_reply_line(&p, MK_STR("Content-Type"), type);
    if (mk_reply_end(&p, (int64_t)j->len) == 0)
        (void)!mk_reply_memory(r, (struct mk_str){j->p, j->len});
    return MK_VERDICT_DONE;
}

enum mk_verdict mk_reply_json(struct mk_request *r, unsigned status, struct mk_json *j)
{
    return mk_json_reply_as(r, status, j, MK_STR("application/json"));
}
