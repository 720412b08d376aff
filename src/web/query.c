/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/web/query.h>

#include "kit/pure/hex.h"

#include "base/str.h"

/* Pairs of a query. */

enum { NUMBER_MAX = 64 }; /* bytes of a number, each of which may be escaped */

/* Pairs are short: one loop costs less than a search for each mark. @return false: there is no other. */
static inline bool cut_pair(struct mk_str *rest, struct mk_str *name, struct mk_str *value)
{
    const char *p = rest->p, *const end = p + rest->len, *equals = NULL;

    while (p < end && *p == '&')
        p++;
    if (p == end)
        return false;
    name->p = p;
    for (; p < end && *p != '&'; p++) {
        if (*p == '=' && !equals)
            equals = p;
    }
    name->len = (size_t)((equals ? equals : p) - name->p);
    *value =
        equals ? (struct mk_str){equals + 1, (size_t)(p - equals - 1)} : (struct mk_str){NULL, 0};
    p += p < end;
    *rest = (struct mk_str){p, (size_t)(end - p)};
    return true;
}

bool mk_pair_next(struct mk_str *rest, struct mk_str *name, struct mk_str *value)
{
    if (!rest || !name || !value)
        return false;
    if (rest->len == 0)
        return false;
    if (cut_pair(rest, name, value))
        return true;
    *rest = mk_str_skip(*rest, rest->len);
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

static inline bool stands_for_itself(char c)
{
    return c != '%' && c != '+' && c != '\0';
}

/* Most are as they are sent. */
static size_t copy_plain(char *dst, struct mk_str text)
{
    size_t len = 0;

    for (; len < text.len && stands_for_itself(text.p[len]); len++)
        dst[len] = text.p[len];
    return len;
}

ssize_t mk_pair_decode(char *dst, struct mk_str text)
{
    size_t len;

    if (!dst)
        return MK_E_INVALID;
    len = copy_plain(dst, text);
    text = mk_str_skip(text, len);
    while (text.len > 0) {
        int byte = next_byte(&text);

        if (byte < 0)
            return byte;
        dst[len++] = (char)byte;
    }
    return (ssize_t)len;
}

static bool is_named_escaped(struct mk_str text, struct mk_str name)
{
    while (text.len > 0 && name.len > 0) {
        if (next_byte(&text) != (unsigned char)name.p[0])
            return false;
        name = mk_str_skip(name, 1);
    }
    return text.len == 0 && name.len == 0;
}

static inline bool is_named(struct mk_str text, struct mk_str name)
{
    size_t i = 0;

    while (i < text.len && i < name.len && text.p[i] == name.p[i] && stands_for_itself(text.p[i]))
        i++;
    if (i == text.len || stands_for_itself(text.p[i]))
        return i == text.len && i == name.len;
    return is_named_escaped(mk_str_skip(text, i), mk_str_skip(name, i));
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

/* @param value  out: not decoded */
static bool find(const struct mk_request *r, struct mk_str name, struct mk_str *value)
{
    struct mk_str rest = mk_request_query(r), raw;

    while (rest.len > 0 && cut_pair(&rest, &raw, value)) {
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
    if (text.len > 0 && text.p[0] != '+' && text.len <= sizeof(digits) &&
        mk_text_int(text, number) == 0)
        return 1;
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
    query = mk_request_query(r);
    rest = mk_str_skip(query, *at);
    if (!mk_pair_next(&rest, &raw, &text))
        return 0;
    *at = query.len - rest.len;
    err = decode_copy(r, raw, name);
    return err < 0 ? err : decode_copy(r, text, value);
}
