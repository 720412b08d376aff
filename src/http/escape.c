/* SPDX-License-Identifier: Apache-2.0 */
#include "http/escape.h"

#include "http/chars_int.h"
#include "kit/pure/percent.h"

/* @param but  bytes of a segment that are encoded all the same */
static size_t escape_but(char *dst, struct mk_str s, const char *but)
{
    size_t out = 0;

    for (size_t i = 0; i < s.len; i++) {
        if (mk_char_is(s.p[i], MK_CHAR_SEGMENT) && !strchr(but, s.p[i]))
            dst[out++] = s.p[i];
        else
            out += percent_byte(dst + out, (unsigned char)s.p[i]);
    }
    return out;
}

size_t mk_escape_path(char *dst, struct mk_str s)
{
    return escape_but(dst, s, "");
}

size_t mk_escape_value(char *dst, struct mk_str s)
{
    return escape_but(dst, s, "!$&'()*+,;=:@"); /* sub-delims mean something there */
}

static size_t log_of(char dst[4], char c)
{
    if (c >= 0x20 && c < 0x7f && c != '"' && c != '\\') {
        dst[0] = c;
        return 1;
    }
    dst[0] = '\\';
    dst[1] = 'x';
    dst[2] = hex_upper((unsigned char)c >> 4U);
    dst[3] = hex_upper((unsigned char)c);
    return 4;
}

size_t mk_escape_log(char *dst, size_t max, struct mk_str s)
{
    size_t out = 0, whole = 0; /* whole: the last end after which "..." still fits */

    for (size_t i = 0; i < s.len; i++) {
        char text[4];
        size_t len = log_of(text, s.p[i]);

        if (len > max - out) {
            size_t dots = max - whole < 3 ? max - whole : 3;

            memset(dst + whole, '.', dots);
            return whole + dots;
        }
        memcpy(dst + out, text, len);
        out += len;
        if (max - out >= 3)
            whole = out;
    }
    return out;
}
