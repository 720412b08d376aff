/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include <stdbool.h>
#include <stdio.h>

static bool is_unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_' || c == '~';
}

size_t dirlisting_url(char *dst, struct mk_str s)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t at = 0;

    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.p[i];

        if (is_unreserved(s.p[i])) {
            dst[at++] = s.p[i];
        } else {
            dst[at++] = '%';
            dst[at++] = digits[c >> 4];
            dst[at++] = digits[c & 15];
        }
    }
    return at;
}

size_t dirlisting_size(char dst[DIRLISTING_SIZE_MAX], int64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double n = (double)bytes / 1024;
    size_t unit = 0;

    if (bytes < 1024)
        return (size_t)snprintf(dst, DIRLISTING_SIZE_MAX, "%d B", (int)bytes);
    while (n >= 1023.5 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        n /= 1024;
        unit++;
    }
    return (size_t)snprintf(dst, DIRLISTING_SIZE_MAX, n < 9.95 ? "%.1f %s" : "%.0f %s", n,
                            units[unit]);
}
