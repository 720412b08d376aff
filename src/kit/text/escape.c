/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/text/escape.h"

#include "kit/pure/hex.h"
#include "kit/pure/json_text.h"

static const struct mk_str replacement = MK_STR_INIT("\xEF\xBF\xBD"); /* U+FFFD */

static size_t put_bytes(char *dst, struct mk_str s)
{
    memcpy(dst, s.p, s.len);
    return s.len;
}

size_t text_utf8(struct mk_str s)
{
    const unsigned char *p = (const unsigned char *)s.p;
    unsigned char low = 0x80, high = 0xBF; /* of the second byte: no overlong form, no surrogate */
    size_t len;

    if (s.len == 0)
        return 0;
    if (p[0] < 0x80)
        return 1;
    if (p[0] < 0xC2 || p[0] > 0xF4)
        return 0;
    len = p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : 4;
    if (p[0] == 0xE0)
        low = 0xA0;
    else if (p[0] == 0xED)
        high = 0x9F;
    else if (p[0] == 0xF0)
        low = 0x90;
    else if (p[0] == 0xF4)
        high = 0x8F;
    if (len > s.len || p[1] < low || p[1] > high)
        return 0;
    for (size_t i = 2; i < len; i++) {
        if (p[i] < 0x80 || p[i] > 0xBF)
            return 0;
    }
    return len;
}

static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7F;
}

static struct mk_str entity_of(char c)
{
    switch (c) {
    case '&':
        return MK_STR("&amp;");
    case '<':
        return MK_STR("&lt;");
    case '>':
        return MK_STR("&gt;");
    case '"':
        return MK_STR("&quot;");
    case '\'':
        return MK_STR("&#39;");
    default:
        return (struct mk_str){NULL, 0};
    }
}

size_t text_html(char *dst, struct mk_str s)
{
    size_t at = 0, n;

    for (size_t i = 0; i < s.len; i += n) {
        struct mk_str rest = {s.p + i, s.len - i}, entity = entity_of(*rest.p);

        n = text_utf8(rest);
        if (n == 0 || is_control(*rest.p)) {
            n = 1;
            at += put_bytes(dst + at, replacement);
        } else {
            at += put_bytes(dst + at, entity.p ? entity : (struct mk_str){rest.p, n});
        }
    }
    return at;
}

static size_t put_json_code(char *dst, unsigned code)
{
    dst[0] = '\\';
    dst[1] = 'u';
    for (int i = 0; i < 4; i++)
        dst[2 + i] = hex_upper(code >> (12 - 4 * i));
    return 6;
}

static inline bool is_plain(char c)
{
    return c >= ' ' && c < 0x7F && c != '"' && c != '\\';
}

/* @return bytes that s begins with and that stand for themselves: of ASCII, most text is nothing else. */
static size_t plain_bytes(struct mk_str s)
{
    size_t n = 0;

    while (s.len - n >= sizeof(uint64_t) && !json_text_special(json_text_eight(s.p + n)))
        n += sizeof(uint64_t);
    while (n < s.len && is_plain(s.p[n]))
        n++;
    return n;
}

size_t text_json(char *dst, struct mk_str s)
{
    size_t at = 0, n;

    for (size_t i = 0; i < s.len; i += n) {
        struct mk_str rest = {s.p + i, s.len - i};

        n = plain_bytes(rest);
        if (n > 0) {
            at += put_bytes(dst + at, (struct mk_str){rest.p, n});
            continue;
        }
        n = text_utf8(rest);
        if (n == 0) {
            n = 1;
            at += put_json_code(dst + at, 0xFFFD);
        } else if (is_control(*rest.p)) {
            at += put_json_code(dst + at, (unsigned char)*rest.p);
        } else {
            if (*rest.p == '"' || *rest.p == '\\')
                dst[at++] = '\\';
            at += put_bytes(dst + at, (struct mk_str){rest.p, n});
        }
    }
    return at;
}

size_t text_json_byte(char dst[TEXT_JSON_GROWTH], unsigned char c)
{
    return put_json_code(dst, c);
}

size_t text_line_byte(char dst[TEXT_LINE_GROWTH], unsigned char c)
{
    if (c == '"' || c == '\\') {
        dst[0] = '\\';
        dst[1] = (char)c;
        return 2;
    }
    if (c >= ' ' && c < 0x7f) {
        dst[0] = (char)c;
        return 1;
    }
    dst[0] = '\\';
    dst[1] = 'x';
    hex_write(dst + 2, &c, 1);
    return TEXT_LINE_GROWTH;
}
