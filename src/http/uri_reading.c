/* SPDX-License-Identifier: Apache-2.0 */
#include "http/uri_reading.h"

#include <stdbool.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

unsigned mk_uri_readings(struct mk_str path)
{
    unsigned readings = 0;
    char before = '/';

    for (size_t i = 0; i <= path.len; i++) {
        char c = i < path.len ? path.p[i] : '/';
        bool ends = c == '/' || c == '\\' || c == ';';

        if (c == ';')
            readings |= MK_READING_PARAMETERS;
        if (c == '\\')
            readings |= MK_READING_BACKSLASH;
        if (ends && (before == '.' || is_blank(before)))
            readings |= MK_READING_ENDS;
        before = c;
    }
    return readings;
}

static bool is_slash(char c, unsigned readings)
{
    return c == '/' || (c == '\\' && (readings & MK_READING_BACKSLASH));
}

static struct mk_str without_parameters(struct mk_str segment)
{
    const char *mark = memchr(segment.p, ';', segment.len);

    return mark ? (struct mk_str){segment.p, (size_t)(mark - segment.p)} : segment;
}

/* "." and ".." stay, blanks behind them or not. */
static struct mk_str without_end(struct mk_str segment)
{
    size_t len = segment.len;

    while (len > 0 && is_blank(segment.p[len - 1]))
        len--;
    if (len > 2 || (len > 0 && segment.p[0] != '.') || (len == 2 && segment.p[1] != '.')) {
        while (len > 0 && (segment.p[len - 1] == '.' || is_blank(segment.p[len - 1])))
            len--;
    }
    return (struct mk_str){segment.p, len};
}

static bool is_dots(struct mk_str segment, size_t count)
{
    return segment.len == count && memcmp(segment.p, "..", count) == 0;
}

/* dst[0..len) ends in a slash. @return its length without the last segment. */
static size_t leave(const char *dst, size_t len)
{
    if (len > 1)
        len--;
    while (dst[len - 1] != '/') /* dst[0] is one */
        len--;
    return len;
}

size_t mk_uri_read(struct mk_str path, unsigned readings, char *dst)
{
    size_t len = 1, at = 1;

    dst[0] = '/';
    while (at < path.len) {
        struct mk_str segment = {path.p + at, 0};

        while (at < path.len && !is_slash(path.p[at], readings))
            at++;
        segment.len = (size_t)(path.p + at - segment.p);
        if (readings & MK_READING_PARAMETERS)
            segment = without_parameters(segment);
        if (readings & MK_READING_ENDS)
            segment = without_end(segment);
        if (is_dots(segment, 2)) {
            len = leave(dst, len);
        } else if (segment.len > 0 && !is_dots(segment, 1)) {
            memcpy(dst + len, segment.p, segment.len);
            len += segment.len;
            if (at < path.len)
                dst[len++] = '/';
        }
        at++;
    }
    return len;
}
