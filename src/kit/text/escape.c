/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/text/escape.h"

#include "kit/pure/hex.h"

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

/* @return 0: each of eight bytes stands for itself. A borrow or carry comes only from one that does not. */
static inline uint64_t special(uint64_t eight)
{
    const uint64_t each = 0x0101010101010101U;
    const uint64_t found = ((eight ^ (each * '"')) - each) | ((eight ^ (each * '\\')) - each) |
                           (eight - each * ' ') | (eight + each) | eight;

    return found & (each * 0x80);
}

static inline bool is_plain(char c)
{
    return c >= ' ' && c < 0x7F && c != '"' && c != '\\';
}

static inline uint64_t eight_bytes(const char *p)
{
    uint64_t eight;

    memcpy(&eight, p, sizeof(eight));
    return eight;
}

/* One to seven bytes, some of them twice, and blanks. */
static inline uint64_t few_bytes(const char *p, size_t len)
{
    uint32_t first, last;
    uint16_t two = ' ' << 8 | ' ';

    if (len >= sizeof(first)) {
        memcpy(&first, p, sizeof(first));
        memcpy(&last, p + len - sizeof(last), sizeof(last));
        return (uint64_t)first << 32 | last;
    }
    if (len >= sizeof(two))
        memcpy(&two, p, sizeof(two));
    return 0x2020202000000000U | (uint64_t)two << 16 | ' ' << 8 | (unsigned char)p[len - 1];
}

/* @return bytes that s begins with and that stand for themselves: of ASCII, most text is nothing else. */
static size_t plain_bytes(struct mk_str s)
{
    size_t n = 0;

    while (s.len - n >= sizeof(uint64_t) && !special(eight_bytes(s.p + n)))
        n += sizeof(uint64_t);
    while (n < s.len && is_plain(s.p[n]))
        n++;
    return n;
}

static inline void copy_few(char *dst, const char *p, size_t len)
{
    if (len >= sizeof(uint32_t)) {
        memcpy(dst, p, sizeof(uint32_t));
        memcpy(dst + len - sizeof(uint32_t), p + len - sizeof(uint32_t), sizeof(uint32_t));
        return;
    }
    if (len >= sizeof(uint16_t))
        memcpy(dst, p, sizeof(uint16_t));
    dst[len - 1] = p[len - 1];
}

bool text_json_copy(char *dst, struct mk_str s)
{
    if (s.len < sizeof(uint64_t)) {
        if (s.len == 0)
            return true;
        copy_few(dst, s.p, s.len);
        return !special(few_bytes(s.p, s.len));
    }
    for (size_t at = 0; at < s.len; at += sizeof(uint64_t)) {
        /* the last eight may be some of those before them once more */
        const size_t from = s.len - at < sizeof(uint64_t) ? s.len - sizeof(uint64_t) : at;
        const uint64_t eight = eight_bytes(s.p + from);

        if (special(eight))
            return false;
        memcpy(dst + from, &eight, sizeof(eight));
    }
    return true;
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
