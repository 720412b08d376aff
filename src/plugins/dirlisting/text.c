/* SPDX-License-Identifier: Apache-2.0 */
#include "text.h"

#include <stdbool.h>
#include <stdio.h>
#include <time.h>

static const struct mk_str replacement = MK_STR_INIT("\xEF\xBF\xBD"); /* U+FFFD */

static size_t put(char *dst, struct mk_str s)
{
    memcpy(dst, s.p, s.len);
    return s.len;
}

size_t dirlisting_utf8(struct mk_str s)
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

static struct mk_str html_of(char c)
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

size_t dirlisting_html(char *dst, struct mk_str s)
{
    size_t at = 0, n;

    for (size_t i = 0; i < s.len; i += n) {
        struct mk_str rest = {s.p + i, s.len - i}, entity = html_of(*rest.p);

        n = dirlisting_utf8(rest);
        if (n == 0 || is_control(*rest.p)) {
            n = 1;
            at += put(dst + at, replacement);
        } else {
            at += put(dst + at, entity.p ? entity : (struct mk_str){rest.p, n});
        }
    }
    return at;
}

static size_t put_json_escape(char *dst, unsigned code)
{
    static const char digits[] = "0123456789abcdef";

    dst[0] = '\\';
    dst[1] = 'u';
    for (int i = 0; i < 4; i++)
        dst[2 + i] = digits[(code >> (12 - 4 * i)) & 15];
    return 6;
}

size_t dirlisting_json(char *dst, struct mk_str s)
{
    size_t at = 0, n;

    for (size_t i = 0; i < s.len; i += n) {
        struct mk_str rest = {s.p + i, s.len - i};

        n = dirlisting_utf8(rest);
        if (n == 0) {
            n = 1;
            at += put_json_escape(dst + at, 0xFFFD);
        } else if (is_control(*rest.p)) {
            at += put_json_escape(dst + at, (unsigned char)*rest.p);
        } else {
            if (*rest.p == '"' || *rest.p == '\\')
                dst[at++] = '\\';
            at += put(dst + at, (struct mk_str){rest.p, n});
        }
    }
    return at;
}

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

static void put_digits(char *dst, unsigned width, int value)
{
    while (width > 0) {
        dst[--width] = (char)('0' + value % 10);
        value /= 10;
    }
}

size_t dirlisting_time(char dst[DIRLISTING_TIME_MAX], int64_t seconds, char between)
{
    time_t t = (time_t)seconds;
    struct tm tm;

    if (!gmtime_r(&t, &tm) || tm.tm_year < -1900 || tm.tm_year > 9999 - 1900)
        return 0;
    memcpy(dst, "0000-00-00T00:00:00Z", sizeof("0000-00-00T00:00:00Z"));
    put_digits(dst, 4, tm.tm_year + 1900);
    put_digits(dst + 5, 2, tm.tm_mon + 1);
    put_digits(dst + 8, 2, tm.tm_mday);
    dst[10] = between;
    put_digits(dst + 11, 2, tm.tm_hour);
    put_digits(dst + 14, 2, tm.tm_min);
    put_digits(dst + 17, 2, tm.tm_sec);
    return sizeof("0000-00-00T00:00:00Z") - 1;
}
