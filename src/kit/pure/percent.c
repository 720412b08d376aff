/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/pure/percent.h"

#include <stdbool.h>
#include <string.h>

static bool is_unreserved(char c)
{
    const char lower = (char)(c | 0x20);

    return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
           c == '_' || c == '~';
}

size_t percent_encode(char *dst, struct mk_str s, const char *kept)
{
    size_t at = 0;

    for (size_t i = 0; i < s.len; i++) {
        if (is_unreserved(s.p[i]) || (s.p[i] != '\0' && strchr(kept, s.p[i])))
            dst[at++] = s.p[i];
        else
            at += percent_byte(dst + at, (unsigned char)s.p[i]);
    }
    return at;
}
