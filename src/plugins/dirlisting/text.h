/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DIRLISTING_TEXT_H
#define DIRLISTING_TEXT_H

#include <monkey/types.h>

#include <stdint.h>

/*
 * What file names, sizes and times become on their way to a client. A file name may hold every byte but
 * NUL and `/`; nothing of it may become markup or break a string.
 */

enum {
    DIRLISTING_HTML_GROWTH = 6, /* "&quot;" for one byte */
    DIRLISTING_JSON_GROWTH = 6, /* "\u001f" */
    DIRLISTING_URL_GROWTH = 3,
    DIRLISTING_SIZE_MAX = 24,
    DIRLISTING_TIME_MAX = 24,
};

/**
 * Text for HTML, in an attribute too: & < > " ' are escaped; a control byte and each byte that is not part of
 * a valid UTF-8 sequence become U+FFFD.
 * @param dst  room for len * DIRLISTING_HTML_GROWTH
 * @return bytes written.
 */
size_t dirlisting_html(char *dst, struct mk_str s);

/**
 * Text for a JSON string, RFC 8259 section 7: `"`, `\` and control bytes are escaped; each byte that is not
 * part of a valid UTF-8 sequence becomes `\ufffd`.
 * @param dst  room for len * DIRLISTING_JSON_GROWTH
 * @return bytes written.
 */
size_t dirlisting_json(char *dst, struct mk_str s);

/**
 * A file name as one segment of a URL, byte for byte: all but the unreserved characters is percent-encoded
 * (RFC 3986 section 2.3), `:` too, so that no name looks like a scheme.
 * @param dst  room for len * DIRLISTING_URL_GROWTH
 * @return bytes written.
 */
size_t dirlisting_url(char *dst, struct mk_str s);

/** "17 B", "4.0 KiB", "1.2 GiB": rounded to nearest. @return bytes written; terminated. */
size_t dirlisting_size(char dst[DIRLISTING_SIZE_MAX], int64_t bytes);

/** "2026-11-21T17:46:56Z", with this character in place of the T. @return bytes written; 0 for years that have not four digits. */
size_t dirlisting_time(char dst[DIRLISTING_TIME_MAX], int64_t seconds, char between);

/** Bytes of the valid UTF-8 sequence that s begins with (RFC 3629); 0: none. */
size_t dirlisting_utf8(struct mk_str s);

#endif
