/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/web/json.h>

#include "base/heap.h"
#include "base/str.h"
#include "kit/pure/json_text.h"
#include "kit/text/escape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* JSON straight into a buffer. */

enum {
    PIECE = 512, /* bytes of a string that are escaped at once */
    FIRST_ROOM = 1024,
    NUMBER_MAX = 40,
};

void mk_json_begin(struct mk_json *j, char *p, size_t size, mk_json_room_fn room, void *arg)
{
    if (j)
        *j = (struct mk_json){.p = p, .size = p ? size : 0, .room = room, .arg = arg};
}

static char *make_room(struct mk_json *j, size_t needed)
{
    if (j->error < 0)
        return NULL;
    j->error = j->room ? j->room(j, needed, j->arg) : MK_E_LIMIT;
    if (j->error == 0 && j->size - j->len < needed)
        j->error = MK_E_LIMIT;
    return j->error < 0 ? NULL : j->p + j->len;
}

/* @return where that many bytes may be written; NULL with an error. */
static inline char *reserve(struct mk_json *j, size_t needed)
{
    return j->error == 0 && j->size - j->len >= needed ? j->p + j->len : make_room(j, needed);
}

static void put(struct mk_json *j, const char *bytes, size_t len)
{
    while (len > 0) {
        size_t piece = len < PIECE ? len : PIECE;
        char *at = reserve(j, piece);

        if (!at)
            return;
        memcpy(at, bytes, piece);
        j->len += piece;
        bytes += piece;
        len -= piece;
    }
}

/* Half of what is written are marks alone. */
static inline void put_byte(struct mk_json *j, char c)
{
    if (j->error == 0 && j->len < j->size)
        j->p[j->len++] = c;
    else
        put(j, &c, 1);
}

static bool in_array(const struct mk_json *j)
{
    return (j->arrays >> (j->depth - 1)) & 1;
}

/* What stands before a value. @return whether one may stand here. */
static bool begin_value(struct mk_json *j)
{
    const bool is_in_object = j && j->depth > 0 && !in_array(j);

    if (!j)
        return false;
    if (j->error == 0 && (is_in_object ? !j->has_key : j->depth == 0 && j->has_value))
        j->error = MK_E_INVALID;
    if (j->error < 0)
        return false;
    if (j->has_value && !is_in_object)
        put_byte(j, ',');
    j->has_value = true;
    j->has_key = false;
    return j->error == 0;
}

static void open_one(struct mk_json *j, bool is_array)
{
    if (!j)
        return;
    if (j->error == 0 && j->depth == MK_JSON_DEPTH)
        j->error = MK_E_LIMIT;
    if (!begin_value(j))
        return;
    put_byte(j, is_array ? '[' : '{');
    j->arrays &= ~((uint64_t)1 << j->depth);
    j->arrays |= (uint64_t)is_array << j->depth;
    j->depth++;
    j->has_value = false;
}

void mk_json_object(struct mk_json *j)
{
    open_one(j, false);
}

void mk_json_array(struct mk_json *j)
{
    open_one(j, true);
}

void mk_json_close(struct mk_json *j)
{
    if (j && j->error == 0 && (j->depth == 0 || j->has_key))
        j->error = MK_E_INVALID;
    if (!j || j->error < 0)
        return;
    put_byte(j, in_array(j) ? ']' : '}');
    j->depth--;
    j->has_value = true;
}

/* Bytes of the next piece, which does not cut a character in two. */
static size_t piece_of(struct mk_str text)
{
    size_t len = PIECE;

    if (text.len <= PIECE)
        return text.len;
    for (size_t back = 0; back < 4; back++) {
        size_t start = len - back;

        if (((unsigned char)text.p[start] & 0xc0) != 0x80)
            return start;
    }
    return len;
}

static void put_escaped(struct mk_json *j, struct mk_str text)
{
    put_byte(j, '"');
    while (text.len > 0) {
        const struct mk_str piece = {text.p, piece_of(text)};
        char *at = reserve(j, piece.len * TEXT_JSON_GROWTH);

        if (!at)
            return;
        j->len += text_json(at, piece);
        text = mk_str_skip(text, piece.len);
    }
    put_byte(j, '"');
}

/* In quotes, between a comma and a colon where they belong: keys and most texts are short and need no escape. */
static inline void put_text(struct mk_json *j, struct mk_str text, bool has_comma, bool has_colon)
{
    const size_t room = j->size - j->len;
    char *at = j->p + j->len;

    if (room < 4 || text.len > room - 4 || !json_text_copy(at + has_comma + 1, text.p, text.len)) {
        if (has_comma)
            put_byte(j, ',');
        put_escaped(j, text);
        if (has_colon)
            put_byte(j, ':');
        return;
    }
    *at = ',';
    at += has_comma;
    *at++ = '"';
    at += text.len;
    *at++ = '"';
    *at = ':';
    at += has_colon;
    j->len = (size_t)(at - j->p);
}

void mk_json_key(struct mk_json *j, struct mk_str name)
{
    if (j && j->error == 0 && (j->depth == 0 || in_array(j) || j->has_key))
        j->error = MK_E_INVALID;
    if (!j || j->error < 0)
        return;
    put_text(j, name, j->has_value, true);
    j->has_key = true;
}

static void put_word(struct mk_json *j, struct mk_str word)
{
    if (begin_value(j))
        put(j, word.p, word.len);
}

void mk_json_text(struct mk_json *j, struct mk_str text)
{
    if (!text.p)
        mk_json_null(j);
    else if (begin_value(j))
        put_text(j, text, false, false);
}

/* Straight into the room where there is enough for any number. */
static void put_integer(struct mk_json *j, bool is_negative, uint64_t n)
{
    char text[NUMBER_MAX];
    const bool has_room = j->size - j->len >= NUMBER_MAX;
    char *at = has_room ? j->p + j->len : text;
    size_t len;

    *at = '-';
    len = is_negative + mk_u64_to_dec(at + is_negative, n);
    if (has_room)
        j->len += len;
    else
        put(j, text, len);
}

void mk_json_uint(struct mk_json *j, uint64_t n)
{
    if (begin_value(j))
        put_integer(j, false, n);
}

void mk_json_int(struct mk_json *j, int64_t n)
{
    if (begin_value(j))
        put_integer(j, n < 0, n < 0 ? 0 - (uint64_t)n : (uint64_t)n);
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
    char text[NUMBER_MAX];
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
    put_word(j, b ? MK_STR("true") : MK_STR("false"));
}

void mk_json_null(struct mk_json *j)
{
    put_word(j, MK_STR("null"));
}

void mk_json_raw(struct mk_json *j, struct mk_str json)
{
    if (j && j->error == 0 && json.len == 0)
        j->error = MK_E_INVALID;
    put_word(j, json);
}

int mk_json_end(struct mk_json *j)
{
    if (j && j->error == 0 && (j->depth > 0 || !j->has_value))
        j->error = MK_E_INVALID;
    return j ? j->error : MK_E_INVALID;
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
    j->error = r ? 0 : MK_E_INVALID;
    j->max = max;
}

enum mk_verdict mk_reply_json(struct mk_request *r, unsigned status, struct mk_json *j)
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
    mk_reply_line(&p, MK_STR("Content-Type"), MK_STR("application/json"));
    if (mk_reply_end(&p, (int64_t)j->len) == 0)
        (void)!mk_reply_memory(r, (struct mk_str){j->p, j->len});
    return MK_VERDICT_DONE;
}
