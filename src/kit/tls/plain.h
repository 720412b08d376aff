/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_TLS_PLAIN_H
#define KIT_TLS_PLAIN_H

#include <monkey/types.h>

#include <stdbool.h>

/*
 * Somebody wrote http:// where https:// was meant. A TLS record begins with its type, 20 to 24, or, from very old
 * clients, with a byte above 127; a request line with a letter. The answer is plain, as only that can be read.
 */

/** Is this the first byte of a request rather than of a record? */
static inline bool tls_is_request(uint8_t first)
{
    return (first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z');
}

enum {
    TLS_PLAIN_MAX = 256, /* bytes of the answer */
    TLS_DRAIN_MAX =
        256
        << 10, /* bytes that are read and thrown away behind such an answer, or behind an alert */
};

/**
 * Write the whole answer: 400 and a sentence.
 * @param now_s  seconds since 1970, for Date (RFC 9110 section 6.6.1)
 * @return its length
 */
size_t tls_plain_answer(char dst[TLS_PLAIN_MAX], int64_t now_s);

#endif
