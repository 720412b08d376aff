/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/text/percent.h"

#include "kit/text/words.h"

#include <string.h>

static bool is_unreserved(char c)
{
    const char lower = text_lower(c);

    return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_' || c == '~';
}

size_t text_percent(char *dst, struct mk_str s, const char *kept)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t at = 0;

    for (size_t i = 0; i < s.len; i++) {
        const unsigned char c = (unsigned char)s.p[i];

        if (is_unreserved(s.p[i]) || (c != 0 && strchr(kept, c))) {
            dst[at++] = s.p[i];
        } else {
            dst[at++] = '%';
            dst[at++] = digits[c >> 4];
            dst[at++] = digits[c & 15];
        }
    }
    return at;
}

int text_hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = text_lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}
