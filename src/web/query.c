/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/web/query.h>

#include "kit/pure/hex.h"

#include "base/str.h"

/* Pairs of a query. */

enum { NUMBER_MAX = 64 }; /* bytes of a number, each of which may be escaped */

bool mk_pair_next(struct mk_str *rest, struct mk_str *name, struct mk_str *value)
{
    while (rest && name && value && rest->len > 0) {
        const char *end = memchr(rest->p, '&', rest->len);
        const struct mk_str pair = {rest->p, end ? (size_t)(end - rest->p) : rest->len};
        const char *equals = pair.len > 0 ? memchr(pair.p, '=', pair.len) : NULL;

        *rest = mk_str_skip(*rest, pair.len + 1);
        if (pair.len == 0)
            continue;
        *name = (struct mk_str){pair.p, equals ? (size_t)(equals - pair.p) : pair.len};
        *value = equals ? mk_str_skip(pair, name->len + 1) : (struct mk_str){NULL, 0};
        return true;
    }
    return false;
}

/* @return the next byte, cut off the text; MK_E_BAD. */
static int next_byte(struct mk_str *text)
{
    size_t used = 1;
    int byte = (unsigned char)text->p[0];

    if (byte == '+') {
        byte = ' ';
    } else if (byte == '%') {
        int high = text->len > 2 ? hex_value(text->p[1]) : -1;
        int low = text->len > 2 ? hex_value(text->p[2]) : -1;

        if (high < 0 || low < 0)
            return MK_E_BAD;
        byte = high * 16 + low;
        used = 3;
    }
    *text = mk_str_skip(*text, used);
    return byte == 0 ? MK_E_BAD : byte;
}

ssize_t mk_pair_decode(char *dst, struct mk_str text)
{
    size_t len = 0;

    if (!dst)
        return MK_E_INVALID;
    while (text.len > 0) {
        int byte = next_byte(&text);

        if (byte < 0)
            return byte;
        dst[len++] = (char)byte;
    }
    return (ssize_t)len;
}

static bool is_named(struct mk_str text, struct mk_str name)
{
    while (text.len > 0 && name.len > 0) {
        if (next_byte(&text) != (unsigned char)name.p[0])
            return false;
        name = mk_str_skip(name, 1);
    }
    return text.len == 0 && name.len == 0;
}

static int decode_copy(struct mk_request *r, struct mk_str text, struct mk_str *decoded)
{
    char *copy = mk_request_alloc(r, text.len + 1);
    ssize_t len = copy ? mk_pair_decode(copy, text) : MK_E_NOMEM;

    if (len < 0)
        return (int)len;
    copy[len] = '\0';
    *decoded = (struct mk_str){copy, (size_t)len};
    return 1;
}

static struct mk_str query_of(const struct mk_request *r)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};

    mk_request_facts(r, &facts);
    return facts.query;
}

/* @param value  out: not decoded */
static bool find(const struct mk_request *r, struct mk_str name, struct mk_str *value)
{
    struct mk_str rest = query_of(r), raw;

    while (mk_pair_next(&rest, &raw, value)) {
        if (is_named(raw, name))
            return true;
    }
    return false;
}

int mk_query_value(struct mk_request *r, struct mk_str name, struct mk_str *value)
{
    struct mk_str text;

    if (!r || !value)
        return MK_E_INVALID;
    return find(r, name, &text) ? decode_copy(r, text, value) : 0;
}

int mk_query_int(struct mk_request *r, struct mk_str name, int64_t *number)
{
    char digits[NUMBER_MAX];
    struct mk_str text;
    ssize_t len;

    if (!r || !number)
        return MK_E_INVALID;
    if (!find(r, name, &text))
        return 0;
    len = text.len <= sizeof(digits) ? mk_pair_decode(digits, text) : MK_E_BAD;
    if (len < 0 || mk_text_int((struct mk_str){digits, (size_t)len}, number) < 0)
        return MK_E_BAD;
    return 1;
}

int mk_query_next(struct mk_request *r, size_t *at, struct mk_str *name, struct mk_str *value)
{
    struct mk_str query, rest, raw, text;
    int err;

    if (!r || !at || !name || !value)
        return MK_E_INVALID;
    query = query_of(r);
    rest = mk_str_skip(query, *at);
    if (!mk_pair_next(&rest, &raw, &text))
        return 0;
    *at = query.len - rest.len;
    err = decode_copy(r, raw, name);
    return err < 0 ? err : decode_copy(r, text, value);
}
