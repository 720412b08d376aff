/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/json/character.h"

#include "kit/pure/hex.h"

#include <string.h>

/* The strings of a text: RFC 8259 section 7. */

enum { MORE = -1, BAD = 0, ESCAPED = 6 }; /* \uXXXX */

/* The second byte of a character: neither a longer form than is needed, nor a surrogate, nor above U+10FFFF. */
static bool may_follow(unsigned char first, unsigned char second)
{
    const unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    const unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;

    return second >= low && second <= high;
}

/* @return the length of a well-formed character of UTF-8 (RFC 3629 section 4); BAD; MORE: it may become one */
static int utf8_len(const unsigned char *p, size_t len)
{
    const size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;

    if (n == 0 || p[0] > 0xf4)
        return BAD;
    if (n > 1 && len > 1 && !may_follow(p[0], p[1]))
        return BAD;
    for (size_t i = 2; i < n && i < len; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return BAD;
    }
    return n > len ? MORE : (int)n;
}

/* @param value  out: that of \uXXXX @return ESCAPED, BAD or MORE */
static int take_unit(const char *p, size_t len, unsigned *value)
{
    *value = 0;
    for (size_t i = 0; i < ESCAPED && i < len; i++) {
        const int digit = i < 2 ? 0 : hex_value(p[i]);

        if ((i == 0 && p[i] != '\\') || (i == 1 && p[i] != 'u') || digit < 0)
            return BAD;
        *value = *value << 4 | (unsigned)digit;
    }
    return len < ESCAPED ? MORE : ESCAPED;
}

static char *put_utf8(char *to, unsigned long code)
{
    if (code < 0x80) {
        *to++ = (char)code;
        return to;
    }
    if (code < 0x800) {
        *to++ = (char)(0xc0 | code >> 6);
    } else {
        if (code < 0x10000) {
            *to++ = (char)(0xe0 | code >> 12);
        } else {
            *to++ = (char)(0xf0 | code >> 18);
            *to++ = (char)(0x80 | (code >> 12 & 0x3f));
        }
        *to++ = (char)(0x80 | (code >> 6 & 0x3f));
    }
    *to++ = (char)(0x80 | (code & 0x3f));
    return to;
}

/* The second half of a pair is read where the first one is (RFC 8259 section 7); a half alone is no character. */
static int take_pair(const char *p, size_t len, unsigned high, char **to)
{
    unsigned low;
    const int n = take_unit(p + ESCAPED, len - ESCAPED, &low);

    if (n != ESCAPED)
        return n;
    if (low < 0xdc00 || low >= 0xe000)
        return BAD;
    *to = put_utf8(*to, 0x10000 + ((high - 0xd800UL) << 10) + (low - 0xdc00UL));
    return 2 * ESCAPED;
}

static int take_code(const char *p, size_t len, char **to)
{
    unsigned code;
    const int n = take_unit(p, len, &code);

    if (n != ESCAPED)
        return n;
    if (code >= 0xdc00 && code < 0xe000)
        return BAD;
    if (code >= 0xd800 && code < 0xdc00)
        return take_pair(p, len, code, to);
    *to = put_utf8(*to, code);
    return n;
}

static int take_escape(const char *p, size_t len, char **to)
{
    static const char from[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char *found;

    if (len < 2)
        return MORE;
    if (p[1] == 'u')
        return take_code(p, len, to);
    found = memchr(from, p[1], sizeof(from) - 1);
    if (!found)
        return BAD;
    *(*to)++ = meant[found - from];
    return 2;
}

int json_take_character(const char *p, size_t len, char **to)
{
    int n;

    if (*p == '\\')
        return take_escape(p, len, to);
    n = (unsigned char)*p < 0x20 ? BAD : utf8_len((const unsigned char *)p, len);
    if (n > 0)
        *to = (char *)memcpy(*to, p, (size_t)n) + n;
    return n;
}

bool json_is_text(const char *text)
{
    const char *p = text, *end = text + strlen(text);

    while (p < end) {
        const int n = utf8_len((const unsigned char *)p, (size_t)(end - p));

        if (n <= 0)
            return false;
        p += n;
    }
    return true;
}
