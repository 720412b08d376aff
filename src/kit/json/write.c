/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/json/write.h"

enum {
    PIECE = 512, /* bytes of a string for which there is room at once */
    GROWTH = 6,  /* of one byte: \u001f */
};

void json_fail(struct mk_json *j, int error)
{
    if (j->error == 0)
        j->error = error;
    j->size = j->len; /* no room, so each further call comes to json_make_room */
}

char *json_make_room(struct mk_json *j, size_t needed)
{
    int err;

    if (j->error < 0)
        return NULL;
    err = j->room ? j->room(j, needed, j->arg) : MK_E_LIMIT;
    if (err == 0 && j->size - j->len < needed)
        err = MK_E_LIMIT;
    if (err < 0)
        json_fail(j, err);
    return err < 0 ? NULL : j->p + j->len;
}

void json_put_bytes(struct mk_json *j, const char *bytes, size_t len)
{
    while (len > 0) {
        const size_t piece = len < PIECE ? len : PIECE;
        char *at = json_reserve(j, piece);

        if (!at)
            return;
        memcpy(at, bytes, piece);
        j->len += piece;
        bytes += piece;
        len -= piece;
    }
}

/* ---- strings ---- */

/* Bytes of the next piece, which does not cut a character in two. */
static size_t piece_of(struct mk_str text)
{
    if (text.len <= PIECE)
        return text.len;
    for (size_t len = PIECE; len > PIECE - 4; len--) {
        if (((unsigned char)text.p[len] & 0xc0) != 0x80)
            return len;
    }
    return PIECE;
}

void json_put_escaped(struct mk_json *j, struct mk_str text, json_escape_fn escape)
{
    JSON_PUT(j, "\"");
    while (text.len > 0) {
        const struct mk_str piece = {text.p, piece_of(text)};
        char *at = json_reserve(j, piece.len * GROWTH);

        if (!at)
            return;
        j->len += escape(at, piece);
        text.p += piece.len;
        text.len -= piece.len;
    }
    JSON_PUT(j, "\"");
}

/* ---- numbers ---- */

static const char pairs[] = "00010203040506070809101112131415161718192021222324"
                            "25262728293031323334353637383940414243444546474849"
                            "50515253545556575859606162636465666768697071727374"
                            "75767778798081828384858687888990919293949596979899";

static char *put_pair(char *to, uint64_t value)
{
    return (char *)memcpy(to, pairs + 2 * value, 2) + 2;
}

/* Below 100 with as many digits as it has. */
static char *put_first(char *to, uint64_t value)
{
    if (value >= 10)
        return put_pair(to, value);
    *to = (char)('0' + value);
    return to + 1;
}

static char *put_many(char *to, uint64_t value)
{
    char digits[20], *p = digits + sizeof(digits);

    for (; value >= 100; value /= 100)
        p = memcpy(p - 2, pairs + value % 100 * 2, 2);
    to = put_first(to, value);
    return (char *)memcpy(to, p, (size_t)(digits + sizeof(digits) - p)) +
           (digits + sizeof(digits) - p);
}

char *json_put_digits(char *to, uint64_t value)
{
    if (value < 100)
        return put_first(to, value);
    if (value < 10000)
        return put_pair(put_first(to, (uint32_t)value / 100), (uint32_t)value % 100);
    if (value < 1000000) {
        const uint32_t n = (uint32_t)value;

        return put_pair(put_pair(put_first(to, n / 10000), n / 100 % 100), n % 100);
    }
    return put_many(to, value);
}

char *json_put_int64(char *to, int64_t value)
{
    if (value < 0)
        *to++ = '-';
    return json_put_digits(to, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* ---- arrays and objects ---- */

/* Of each 64 levels those further out are put aside. @return false: there are too many */
static bool put_aside(struct mk_json *j)
{
    if (!j->outer || j->depth == JSON_WRITE_DEPTH)
        return false;
    j->outer[j->depth / 64 - 1] = j->arrays;
    return true;
}

void json_open(struct mk_json *j, bool is_array)
{
    if (j->depth > 0 && j->depth % 64 == 0 && !put_aside(j))
        json_fail(j, MK_E_LIMIT);
    if (!json_begin_value(j) || j->error < 0)
        return;
    json_put_few(j, is_array ? "[" : "{", 1);
    j->arrays = j->arrays << 1 | is_array;
    j->depth++;
    j->place = is_array ? JSON_AT_FIRST_ITEM : JSON_AT_FIRST_KEY;
    j->after = is_array ? JSON_AT_ITEM : JSON_AT_KEY;
}

static uint8_t place_after(const struct mk_json *j)
{
    if (j->depth == 0)
        return JSON_AT_END;
    return j->arrays & 1 ? JSON_AT_ITEM : JSON_AT_KEY;
}

void json_close(struct mk_json *j)
{
    if (j->depth == 0 || j->place == JSON_AT_MEMBER) {
        json_fail(j, MK_E_INVALID);
        return;
    }
    json_put_few(j, j->arrays & 1 ? "]" : "}", 1);
    j->arrays >>= 1;
    j->depth--;
    if (j->depth > 0 && j->depth % 64 == 0)
        j->arrays = j->outer[j->depth / 64 - 1];
    j->place = j->after = place_after(j);
}

int json_finish(struct mk_json *j)
{
    if (j->place != JSON_AT_END)
        json_fail(j, MK_E_INVALID);
    return j->error;
}
