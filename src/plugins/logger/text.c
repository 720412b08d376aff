/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include "kit/pure/hex.h"
#include "kit/text/escape.h"

static const struct mk_str clipped = MK_STR_INIT("...");

static size_t room(const struct logger_text *t)
{
    return (size_t)(t->end - t->at);
}

void logger_put(struct logger_text *t, struct mk_str s)
{
    if (room(t) < s.len) {
        t->full = true;
        return;
    }
    if (s.len > 0)
        memcpy(t->at, s.p, s.len);
    t->at += s.len;
}

void logger_put_part(struct logger_text *t, struct mk_str s)
{
    const bool fits = s.len <= room(t);

    logger_put(t, (struct mk_str){s.p, fits ? s.len : room(t)});
    t->full = t->full || !fits;
}

static bool is_plain(unsigned char c)
{
    return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
}

#define EACH(byte) (UINT64_MAX / 255 * (byte))

/* Eight bytes at once: false when one of them may need an escape. May err on that side. */
static inline __attribute__((always_inline)) bool are_plain(uint64_t eight)
{
    uint64_t quote = eight ^ EACH('"'), backslash = eight ^ EACH('\\');
    uint64_t odd = eight | (eight + EACH(1)) | ((eight - EACH(' ')) & ~eight) |
                   ((quote - EACH(1)) & ~quote) | ((backslash - EACH(1)) & ~backslash);

    return (odd & EACH(0x80)) == 0;
}

/* Copies until the first byte that needs an escape. @return how many. */
static size_t copy_plain(char *dst, const char *src, size_t len)
{
    size_t n = 0;
    uint64_t eight;

    for (; len - n >= sizeof(eight); n += sizeof(eight)) {
        memcpy(&eight, src + n, sizeof(eight));
        if (!are_plain(eight))
            break;
        memcpy(dst + n, &eight, sizeof(eight));
    }
    if (n > 0 && len - n < sizeof(eight)) { /* the end once more with what is before it */
        memcpy(&eight, src + len - sizeof(eight), sizeof(eight));
        if (are_plain(eight)) {
            memcpy(dst + len - sizeof(eight), &eight, sizeof(eight));
            return len;
        }
    }
    for (; n < len && is_plain((unsigned char)src[n]); n++)
        dst[n] = src[n];
    return n;
}

/* @return length of the escape written to dst. */
static size_t escape_of(char dst[TEXT_JSON_GROWTH], unsigned char c, enum logger_style style)
{
    if (style == LOGGER_JSON)
        return text_json_byte(dst, c);
    dst[0] = '\\';
    dst[1] = 'x';
    dst[2] = hex_upper(c >> 4U);
    dst[3] = hex_upper(c);
    return 4;
}

void logger_put_escaped(struct logger_text *t, struct mk_str s, size_t max, enum logger_style style)
{
    const bool fits = room(t) >= max; /* then what does not fit was too long */
    char *limit = t->at + (fits ? max : room(t));
    size_t used = 0;

    while (used < s.len) {
        size_t left = s.len - used, n = (size_t)(limit - t->at), len;
        char escape[TEXT_JSON_GROWTH];

        n = copy_plain(t->at, s.p + used, left < n ? left : n);
        t->at += n;
        used += n;
        if (used == s.len || t->at == limit)
            break;
        len = escape_of(escape, (unsigned char)s.p[used], style);
        if ((size_t)(limit - t->at) < len)
            break;
        memcpy(t->at, escape, len);
        t->at += len;
        used++;
    }
    if (used == s.len)
        return;
    if (fits)
        logger_put(t, clipped);
    else
        t->full = true;
}

void logger_put_uint(struct logger_text *t, uint64_t value)
{
    char digits[20];
    size_t at = sizeof(digits);

    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    logger_put(t, (struct mk_str){digits + at, sizeof(digits) - at});
}

void logger_put_cut(struct logger_text *t)
{
    t->end += LOGGER_CUT;
    t->full = false;
    logger_put(t, MK_STR("...\n"));
}
