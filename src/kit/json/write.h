/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_JSON_WRITE_H
#define KIT_JSON_WRITE_H

/*
 * JSON written into room of the caller's (RFC 8259), without a tree: what libmonkey-web and services of Duda write is put here.
 * The first error is kept, and nothing is written after it. No allocation; a text is of one thread at a time.
 */

#include <monkey/web/json.h>

#include "kit/pure/json_text.h"

enum { JSON_WRITE_DEPTH = 512, JSON_WRITE_OUTER = JSON_WRITE_DEPTH / 64 - 1, JSON_NUMBER_MAX = 40 };

/* Where the next call stands, of which the lowest bit says that a comma comes first. */
enum json_place {
    JSON_AT_START,
    JSON_AT_MEMBER = 2, /* behind a key */
    JSON_AT_FIRST_ITEM = 4,
    JSON_AT_ITEM,
    JSON_AT_FIRST_KEY,
    JSON_AT_KEY,
    JSON_AT_END,
};

/** Note an error, unless there is one. */
void json_fail(struct mk_json *j, int error);
/** What json_reserve does when there is too little room. */
char *json_make_room(struct mk_json *j, size_t needed);
/** Put bytes as they are, in pieces. */
void json_put_bytes(struct mk_json *j, const char *bytes, size_t len);

/** Escape a piece of a string. @param dst  room for six times as many bytes @return bytes written */
typedef size_t (*json_escape_fn)(char *dst, struct mk_str piece);
/** Put a string of any bytes with its quotes, escaped in pieces that cut no character of UTF-8. */
void json_put_escaped(struct mk_json *j, struct mk_str text, json_escape_fn escape);

/** Digits without zeros before them. @param to  room for 20 @return behind them */
char *json_put_digits(char *to, uint64_t value);
/** The same with a sign. */
char *json_put_int64(char *to, int64_t value);

/** Begin an array or object as the next value, and end it. */
void json_open(struct mk_json *j, bool is_array);
void json_close(struct mk_json *j);
/** @return the first error; MK_E_INVALID for a text that is not whole */
int json_finish(struct mk_json *j);

/** @return where so many bytes, one or more, may be written; NULL: an error */
static inline char *json_reserve(struct mk_json *j, size_t needed)
{
    return j->size - j->len >= needed ? j->p + j->len : json_make_room(j, needed);
}

/** Put a few bytes, whose number the compiler knows. */
static inline void json_put_few(struct mk_json *j, const char *bytes, size_t len)
{
    char *at = json_reserve(j, len);

    if (!at)
        return;
    memcpy(at, bytes, len);
    j->len += len;
}

/* Of what is put most is put by these few lines, so they stand where they are called. */
#define JSON_INLINE static inline __attribute__((always_inline))

#define JSON_PUT(j, text) json_put_few(j, text, sizeof(text) - 1)

static inline void json_put_bool(struct mk_json *j, bool b)
{
    if (b)
        JSON_PUT(j, "true");
    else
        JSON_PUT(j, "false");
}

/** What stands before a value. @return false: none may stand here, which is an error */
static inline bool json_begin_value(struct mk_json *j)
{
    const unsigned place = j->place;

    if (place > JSON_AT_ITEM) {
        json_fail(j, MK_E_INVALID);
        return false;
    }
    j->place = j->after;
    if (place & 1)
        JSON_PUT(j, ",");
    return true;
}

/** Is this the place of a key? It is an error if not. @param has_comma  out: whether one comes first */
static inline bool json_begin_key(struct mk_json *j, bool *has_comma)
{
    const unsigned place = j->place;

    *has_comma = place & 1;
    if ((place & ~1U) != JSON_AT_FIRST_KEY) {
        json_fail(j, MK_E_INVALID);
        return false;
    }
    j->place = JSON_AT_MEMBER;
    return true;
}

/**
 * Put a string whose bytes stand for themselves, as those of most keys and texts do, between a comma and a colon where they
 * belong. @return false: nothing is put, as it has others or there is too little room
 */
JSON_INLINE bool json_put_plain(struct mk_json *j, struct mk_str text, bool has_comma,
                                bool has_colon)
{
    const size_t room = j->size - j->len;
    char *at = j->p + j->len;

    if (room < 4 || text.len > room - 4 || !json_text_copy(at + has_comma + 1, text.p, text.len))
        return false;
    *at = ',';
    at += has_comma;
    *at++ = '"';
    at += text.len;
    *at++ = '"';
    *at = ':';
    at += has_colon;
    j->len = (size_t)(at - j->p);
    return true;
}

/** Put an integer as the next value. */
static inline void json_put_integer(struct mk_json *j, bool is_negative, uint64_t n)
{
    char text[JSON_NUMBER_MAX], *at = text;
    const bool has_room = j->size - j->len >= JSON_NUMBER_MAX;
    const unsigned place = j->place;

    if (!has_room || place > JSON_AT_ITEM) {
        *at = '-';
        if (json_begin_value(j))
            json_put_bytes(j, text, (size_t)(json_put_digits(at + is_negative, n) - text));
        return;
    }
    j->place = j->after;
    at = j->p + j->len;
    *at = ',';
    at += place & 1;
    *at = '-';
    j->len = (size_t)(json_put_digits(at + is_negative, n) - j->p);
}

#endif
