/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/json/read.h"

#include "kit/json/scan.h"

#include <string.h>

/* What may come next. */
enum state { VALUE, FIRST_ITEM, FIRST_KEY, KEY, COLON, AFTER };

/* What goes on in the next piece. */
enum part { NONE, STRING, NUMBER, WORD };

void json_read_begin(struct json_read *r, char *room, size_t size)
{
    static char nowhere[1]; /* never written to */

    memset(r, 0, sizeof(*r));
    r->p = r->begin = r->end = nowhere;
    r->to = room ? room : nowhere;
    r->room_end = r->to + (room ? size : 0);
    r->depth_max = JSON_READ_DEPTH;
    r->values_left = SIZE_MAX;
    r->bytes_left = UINT64_MAX;
}

void json_read_reuse(struct json_read *r, char *room)
{
    if (r->part == NONE)
        r->to = room;
}

int json_read_fail(struct json_read *r, int error, const char *reason)
{
    if (r->error == 0) {
        r->error = error;
        r->reason = reason;
    }
    return r->error;
}

void json_read_feed(struct json_read *r, struct mk_str piece, bool is_last)
{
    if (r->error < 0)
        return;
    if (r->p != r->end || r->is_last) {
        (void)json_read_fail(r, MK_E_INVALID, "a piece came before it was wanted");
        return;
    }
    r->before += (uint64_t)(r->p - r->begin);
    r->p = r->begin = piece.len > 0 ? piece.p : "";
    r->end = r->p + piece.len;
    r->is_last = is_last;
    if (piece.len > r->bytes_left)
        (void)json_read_fail(r, MK_E_LIMIT, "the text is too long");
    r->bytes_left -= piece.len;
}

static int bad(struct json_read *r, const char *reason)
{
    return json_read_fail(r, MK_E_BAD, reason);
}

/* The piece ends within a token. */
static int pause(struct json_read *r, enum part part)
{
    r->part = part;
    return MK_E_AGAIN;
}

/* Note what the innermost list is. */
static void note_list(struct json_read *r)
{
    const unsigned level = r->depth - 1U;

    r->is_in_object = r->depth > 0 && ((r->objects[level / 64] >> level % 64) & 1);
}

/* ---- strings ---- */

/* The rest of a character whose beginning was in the piece before. @return > 0; 0: no character; -1: it goes on */
static int go_on_character(struct json_read *r, char **to)
{
    int n = -1;

    while (n < 0 && r->p < r->end) {
        r->carry[r->carried++] = *r->p;
        n = json_take_character(r->carry, r->carried, to);
        r->p += n != 0;
    }
    if (n >= 0)
        r->carried = 0;
    return n;
}

static int next_character(struct json_read *r, char **to)
{
    const size_t left = (size_t)(r->end - r->p);
    int n;

    if (r->carried > 0)
        return go_on_character(r, to);
    n = json_take_character(r->p, left, to);
    if (n >= 0 || r->is_last) {
        r->p += n > 0 ? n : 0;
        return n > 0 ? n : 0;
    }
    memcpy(r->carry, r->p, left);
    r->carried = (uint8_t)left;
    r->p = r->end;
    return n;
}

/* @return 1; MK_E_AGAIN, or an error */
static int take_special(struct json_read *r)
{
    const size_t room = (size_t)(r->room_end - r->to);
    const bool is_roomy = room >= JSON_CHARACTER_ROOM;
    const char *p = r->p;
    char bytes[JSON_CHARACTER_ROOM], *begin = is_roomy ? r->to : bytes, *to = begin;
    const int n = next_character(r, &to);

    if (n < 0 && !r->is_last)
        return MK_E_AGAIN;
    if (n <= 0)
        return bad(r, "this may not be in a string");
    if (r->refuses_nul && *begin == '\0') {
        r->p = p;
        return bad(r, "this may not be in a string");
    }
    if ((size_t)(to - begin) > room)
        return json_read_fail(r, MK_E_LIMIT, "the string is too long");
    if (!is_roomy)
        memcpy(r->to, bytes, (size_t)(to - begin));
    r->to += to - begin;
    return 1;
}

static int end_string(struct json_read *r)
{
    r->p++;
    r->part = NONE;
    r->text.len = (size_t)(r->to - r->text.p);
    if (!r->is_key) {
        r->state = AFTER;
        return MK_JSON_STRING;
    }
    r->state = COLON;
    if (r->p < r->end && *r->p == ':') { /* as in most texts */
        r->p++;
        r->state = VALUE;
    }
    return MK_JSON_KEY;
}

static int go_on_string(struct json_read *r)
{
    int result = 1, n;

    if (r->carried > 0)
        result = take_special(r);
    while (result > 0) {
        const size_t room = (size_t)(r->room_end - r->to), left = (size_t)(r->end - r->p);
        const char *limit = r->p + (left < room ? left : room);

        r->p = json_copy_plain(&r->to, r->p, limit, true);
        if (r->p == r->end)
            return r->is_last ? bad(r, "the string does not end") : pause(r, STRING);
        if (*r->p == '"')
            return end_string(r);
        if ((size_t)(r->end - r->p) >= JSON_CHARACTER_SHORT &&
            (size_t)(r->room_end - r->to) >= JSON_CHARACTER_SHORT &&
            (n = json_take_short(r->p, &r->to)) > 0) {
            r->p += n;
            continue;
        }
        if (r->p == limit && !json_is_special(*r->p, true))
            return json_read_fail(r, MK_E_LIMIT, "the string is too long");
        result = take_special(r);
    }
    return result == MK_E_AGAIN ? pause(r, STRING) : result;
}

static int read_string(struct json_read *r, bool is_key)
{
    r->p++;
    r->is_key = is_key;
    r->text.p = r->to;
    return go_on_string(r);
}

/* ---- numbers ---- */

static bool is_number_byte(char c)
{
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

static const char *end_of_number(const char *p, const char *end)
{
    while (p < end && is_number_byte(*p))
        p++;
    return p;
}

static int end_number(struct json_read *r, const char *begin)
{
    r->part = NONE;
    r->text = (struct mk_str){begin, (size_t)(r->number.end - begin)};
    r->state = AFTER;
    return MK_JSON_NUMBER;
}

/* As much as there is of a number goes to the room. */
static int gather_number(struct json_read *r)
{
    const char *end = end_of_number(r->p, r->end);
    const size_t len = (size_t)(end - r->p);

    if (len > (size_t)(r->room_end - r->to))
        return json_read_fail(r, MK_E_LIMIT, "the number is too long");
    if (len > 0)
        memcpy(r->to, r->p, len);
    r->to += len;
    r->p = end;
    return end == r->end && !r->is_last ? pause(r, NUMBER) : 0;
}

static int go_on_number(struct json_read *r)
{
    const int paused = gather_number(r);

    if (paused < 0)
        return paused;
    r->text.len = (size_t)(r->to - r->text.p);
    if (!json_scan_number(&r->number, r->text.p, r->to) || r->number.end != r->to)
        return bad(r, "a number is expected");
    return end_number(r, r->text.p);
}

static const char *what_follows(const struct json_read *r)
{
    if (r->depth == 0)
        return "the text goes on after its value";
    return r->is_in_object ? "a comma or } is expected" : "a comma or ] is expected";
}

static int read_number(struct json_read *r)
{
    const char *begin = r->p;
    const bool is_number = json_scan_number(&r->number, begin, r->end);

    if (is_number && (r->number.end < r->end || r->is_last)) {
        r->p = r->number.end;
        if (r->p < r->end && is_number_byte(*r->p)) /* as in 01 */
            return bad(r, what_follows(r));
        return end_number(r, begin);
    }
    if (r->is_last || end_of_number(begin, r->end) < r->end)
        return bad(r, "a number is expected");
    r->text.p = r->to;
    return go_on_number(r);
}

/* ---- words ---- */

static int end_word(struct json_read *r)
{
    r->part = NONE;
    r->state = AFTER;
    return *r->word == 'n' ? MK_JSON_NULL : *r->word == 't' ? MK_JSON_TRUE : MK_JSON_FALSE;
}

static int go_on_word(struct json_read *r)
{
    const size_t wanted = strlen(r->word) - r->word_len, left = (size_t)(r->end - r->p);
    const size_t len = wanted < left ? wanted : left;

    if (memcmp(r->p, r->word + r->word_len, len) != 0 || (len < wanted && r->is_last))
        return bad(r, "a value is expected");
    r->p += len;
    r->word_len += (uint8_t)len;
    return len == wanted ? end_word(r) : pause(r, WORD);
}

/* @return how long the word is; 0: it is not there as a whole */
static size_t whole_word(const char *p, size_t left)
{
    if (left < sizeof("false") - 1)
        return 0;
    if (memcmp(p, "null", 4) == 0 || memcmp(p, "true", 4) == 0)
        return 4;
    return memcmp(p, "false", 5) == 0 ? 5 : 0;
}

static int read_word(struct json_read *r)
{
    const size_t len = whole_word(r->p, (size_t)(r->end - r->p));

    r->word = *r->p == 'n' ? "null" : *r->p == 't' ? "true" : "false";
    if (len > 0) {
        r->p += len;
        return end_word(r);
    }
    r->word_len = 0;
    return go_on_word(r);
}

/* ---- arrays and objects ---- */

static int open_list(struct json_read *r)
{
    const bool is_object = *r->p == '{';
    const uint64_t bit = UINT64_C(1) << r->depth % 64;

    if (r->depth >= r->depth_max)
        return json_read_fail(r, MK_E_LIMIT, "nested too deep");
    r->p++;
    if (is_object)
        r->objects[r->depth / 64] |= bit;
    else
        r->objects[r->depth / 64] &= ~bit;
    r->depth++;
    r->is_in_object = is_object;
    r->state = is_object ? FIRST_KEY : FIRST_ITEM;
    return is_object ? MK_JSON_OBJECT : MK_JSON_ARRAY;
}

static int close_list(struct json_read *r)
{
    r->p++;
    r->depth--;
    note_list(r);
    r->state = AFTER;
    return MK_JSON_CLOSE;
}

static int read_value(struct json_read *r)
{
    if (r->values_left == 0)
        return json_read_fail(r, MK_E_LIMIT, "too many values");
    r->values_left--;
    if (*r->p == '"') /* as most are */
        return read_string(r, false);
    if (*r->p >= '0' && *r->p <= '9')
        return read_number(r);
    switch (*r->p) {
    case '-':
        return read_number(r);
    case '[':
    case '{':
        return open_list(r);
    case 'n':
    case 't':
    case 'f':
        return read_word(r);
    default:
        return bad(r, "a value is expected");
    }
}

/* ---- between tokens ---- */

static void skip_blanks(struct json_read *r)
{
    const char *p = r->p;

    while (p < r->end && (unsigned char)*p <= ' ' &&
           (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
        p++;
    r->p = p;
}

static int read_end(struct json_read *r)
{
    if (!r->is_last)
        return MK_E_AGAIN;
    switch (r->state) {
    case AFTER:
        return r->depth == 0 ? MK_JSON_END : bad(r, what_follows(r));
    case COLON:
        return bad(r, "a colon is expected");
    case KEY:
    case FIRST_KEY:
        return bad(r, "a key is expected");
    default:
        return bad(r, "a value is expected");
    }
}

/* @return 0: the value may follow */
static int read_colon(struct json_read *r)
{
    if (*r->p != ':')
        return bad(r, "a colon is expected");
    r->state = VALUE;
    r->p++;
    return 0;
}

/* @return 0: a key or value may follow */
static int read_after(struct json_read *r)
{
    if (r->depth > 0 && *r->p == ',') {
        r->state = r->is_in_object ? KEY : VALUE;
        r->p++;
        return 0;
    }
    if (r->depth > 0 && *r->p == (r->is_in_object ? '}' : ']'))
        return close_list(r);
    return bad(r, what_follows(r));
}

static int read_key(struct json_read *r)
{
    return *r->p == '"' ? read_string(r, true) : bad(r, "a key is expected");
}

/* @return 0: a mark was read, so there is more to do */
static int read_one(struct json_read *r)
{
    switch (r->state) {
    case VALUE:
        return read_value(r);
    case FIRST_ITEM:
        return *r->p == ']' ? close_list(r) : read_value(r);
    case FIRST_KEY:
        return *r->p == '}' ? close_list(r) : read_key(r);
    case KEY:
        return read_key(r);
    case COLON:
        return read_colon(r);
    default:
        return read_after(r);
    }
}

static int go_on(struct json_read *r)
{
    if (r->p == r->end && !r->is_last)
        return MK_E_AGAIN;
    if (r->part == STRING)
        return go_on_string(r);
    return r->part == NUMBER ? go_on_number(r) : go_on_word(r);
}

int json_read_next(struct json_read *r)
{
    int result = 0;

    if (r->error < 0)
        return r->error;
    if (r->part != NONE)
        return go_on(r);
    if (r->state == AFTER && r->depth > 0 && r->p < r->end && *r->p == ',') {
        r->p++;
        r->state = r->is_in_object ? KEY : VALUE;
    }
    while (result == 0) {
        if (r->p < r->end && (unsigned char)*r->p <= ' ')
            skip_blanks(r);
        if (r->p == r->end)
            return read_end(r);
        result = read_one(r);
    }
    return result;
}

/* Continuation bytes of UTF-8 begin no column. */
void json_read_place(struct mk_str text, size_t offset, unsigned *line, unsigned *column)
{
    *line = *column = 1;
    for (size_t i = 0; i < offset && i < text.len; i++) {
        if (text.p[i] == '\n') {
            ++*line;
            *column = 1;
        } else if (((unsigned char)text.p[i] & 0xc0) != 0x80) {
            ++*column;
        }
    }
}
