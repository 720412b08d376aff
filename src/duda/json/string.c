/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/pure/hex.h"
#include "json/scan.h"
#include "json/tree.h"

/* The strings of a text: RFC 8259 section 7. */

/* @return the length of a well-formed character of UTF-8 (RFC 3629 section 4); 0: it is none */
static size_t utf8_len(const unsigned char *p, size_t len)
{
    size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    unsigned char low = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80;
    unsigned char high = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;

    if (n == 0 || n > len || p[0] > 0xf4)
        return 0;
    if (n > 1 && (p[1] < low || p[1] > high))
        return 0;
    for (size_t i = 2; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    }
    return n;
}

/* @return the value of \uXXXX; -1: it is not one */
static long unit(const char *p, const char *end)
{
    long value = 0;

    if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
        return -1;
    for (int i = 2; i < 6; i++) {
        const int digit = hex_value(p[i]);

        if (digit < 0)
            return -1;
        value = value << 4 | digit;
    }
    return value;
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

/* @return behind \uXXXX, or behind both of a surrogate pair; NULL: it is no character */
static const char *read_unit(const char *p, const char *end, char **to)
{
    long code = unit(p, end), low;

    if (code <= 0 || (code >= 0xdc00 && code < 0xe000))
        return NULL;
    p += 6;
    if (code >= 0xd800 && code < 0xdc00) {
        low = unit(p, end);
        if (low < 0xdc00 || low >= 0xe000)
            return NULL;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        p += 6;
    }
    *to = put_utf8(*to, (unsigned long)code);
    return p;
}

static const char *read_escape(const char *p, const char *end, char **to)
{
    static const char from[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char *found;

    if (end - p < 2)
        return NULL;
    if (p[1] == 'u')
        return read_unit(p, end, to);
    found = p[1] ? strchr(from, p[1]) : NULL;
    if (!found)
        return NULL;
    *(*to)++ = meant[found - from];
    return p + 2;
}

/* @return behind one character that is not plain, which has gone to *to; NULL: it may not be in a string */
static const char *read_character(const char *p, const char *end, char **to)
{
    size_t n;

    if (*p == '\\')
        return read_escape(p, end, to);
    n = (unsigned char)*p < 0x20 ? 0 : utf8_len((const unsigned char *)p, (size_t)(end - p));
    if (n == 0)
        return NULL;
    memcpy(*to, p, n);
    *to += n;
    return p + n;
}

const char *json_read_string(const char *p, const char *end, char **to)
{
    while (p < end) {
        const char *next;

        p = json_copy_plain(to, p, end, true);
        if (p == end || *p == '"')
            break;
        next = read_character(p, end, to);
        if (!next)
            break;
        p = next;
    }
    return p;
}

bool json_is_text(const char *text)
{
    const char *p = text, *end = text + strlen(text);

    while (p < end) {
        const size_t n = utf8_len((const unsigned char *)p, (size_t)(end - p));

        if (n == 0)
            return false;
        p += n;
    }
    return true;
}
