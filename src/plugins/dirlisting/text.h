/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DIRLISTING_TEXT_H
#define DIRLISTING_TEXT_H

#include <monkey/types.h>

#include <stdint.h>

/*
 * What file names and sizes become on their way to a client, beside kit/text/escape.h. A file name may hold every byte but
 * NUL and `/`; nothing of it may become markup or break a string.
 */

enum {
    DIRLISTING_URL_GROWTH = 3,
    DIRLISTING_SIZE_MAX = 24,
};

/**
 * A file name as one segment of a URL, byte for byte: all but the unreserved characters is percent-encoded
 * (RFC 3986 section 2.3), `:` too, so that no name looks like a scheme.
 * @param dst  room for len * DIRLISTING_URL_GROWTH
 * @return bytes written.
 */
size_t dirlisting_url(char *dst, struct mk_str s);

/** "17 B", "4.0 KiB", "1.2 GiB": rounded to nearest. @return bytes written; terminated. */
size_t dirlisting_size(char dst[DIRLISTING_SIZE_MAX], int64_t bytes);

#endif
