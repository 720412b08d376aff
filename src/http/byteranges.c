/* SPDX-License-Identifier: Apache-2.0 */
#include "http/byteranges.h"

#include <stdbool.h>
#include <stdio.h>

/* Bytes of a separator besides the type: names, the boundary, three numbers. */
enum { SEPARATOR_MAX = 160 };

size_t mk_byteranges_room(const struct mk_byteranges *b)
{
    return ((size_t)b->count + 1) * (SEPARATOR_MAX + b->type.len);
}

static size_t write_before(const struct mk_byteranges *b, int i, char *text, const char *boundary)
{
    const struct mk_range *range = &b->ranges[i];
    const bool has_type = b->type.p != NULL;

    return (size_t)snprintf(text, SEPARATOR_MAX + b->type.len,
                            "\r\n--%s\r\n%s%.*s%sContent-Range: bytes %llu-%llu/%llu\r\n\r\n",
                            boundary, has_type ? "Content-Type: " : "", (int)b->type.len,
                            has_type ? b->type.p : "", has_type ? "\r\n" : "",
                            (unsigned long long)range->first, (unsigned long long)range->last,
                            (unsigned long long)b->size);
}

/* Out of line: it is rare, and its callers are compiled to be fast. */
__attribute__((noinline)) uint64_t mk_byteranges_write(struct mk_byteranges *b, char *text,
                                                       struct mk_str *separators, uint64_t number)
{
    static const char before[] = "multipart/byteranges; boundary=";
    const char *boundary = b->content_type + sizeof(before) - 1;
    uint64_t length = 0;

    (void)snprintf(b->content_type, sizeof(b->content_type), "%smonkey%016llx", before,
                   (unsigned long long)number);
    for (int i = 0; i <= b->count; i++) {
        const size_t len = i < b->count
                               ? write_before(b, i, text, boundary)
                               : (size_t)snprintf(text, SEPARATOR_MAX, "\r\n--%s--\r\n", boundary);

        separators[i] = (struct mk_str){text, len};
        text += len;
        length += len + (i < b->count ? b->ranges[i].last - b->ranges[i].first + 1 : 0);
    }
    return length;
}
