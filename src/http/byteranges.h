/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_HTTP_BYTERANGES_H
#define MK_HTTP_BYTERANGES_H

#include "http/range.h"

/* The body of a 206 with several ranges: multipart/byteranges, RFC 9110 section 14.6. */

enum { MK_BYTERANGES_TYPE = 64 };

struct mk_byteranges {
    const struct mk_range *ranges; /* borrowed */
    int count;
    uint64_t size;                         /* of the whole */
    struct mk_str type;                    /* of the whole, borrowed; p NULL: none */
    char content_type[MK_BYTERANGES_TYPE]; /* of the answer, by mk_byteranges_write */
};

/** Bytes that mk_byteranges_write needs. */
size_t mk_byteranges_room(const struct mk_byteranges *b);

/**
 * Write what stands between the parts.
 * @param text        room for mk_byteranges_room(), as long as the separators are needed
 * @param separators  room for count + 1: what stands before each part, and after the last
 * @param number      of the boundary: another one for each answer, so that no content can have it on purpose
 * @return the length of the body, separators and parts.
 */
uint64_t mk_byteranges_write(struct mk_byteranges *b, char *text, struct mk_str *separators,
                             uint64_t number);

#endif
