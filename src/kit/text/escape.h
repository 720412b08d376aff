/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_TEXT_ESCAPE_H
#define KIT_TEXT_ESCAPE_H

#include <monkey/types.h>

#include <stdbool.h>

/* Text of others within text of ours: HTML, JSON strings, lines that people read. */

enum {
    TEXT_HTML_GROWTH = 6, /* "&quot;" for one byte */
    TEXT_JSON_GROWTH = 6, /* "\u001F" */
    TEXT_LINE_GROWTH = 4, /* "\x1b" */
};

/** Bytes of the valid UTF-8 sequence that s begins with (RFC 3629); 0: none. */
size_t text_utf8(struct mk_str s);

/**
 * Text for HTML, in an attribute too: & < > " ' are escaped; a control byte and each byte that is not part of
 * a valid UTF-8 sequence become U+FFFD.
 * @param dst  room for len * TEXT_HTML_GROWTH
 * @return bytes written.
 */
size_t text_html(char *dst, struct mk_str s);

/**
 * Text for a JSON string, RFC 8259 section 7: `"`, `\` and control bytes are escaped; each byte that is not
 * part of a valid UTF-8 sequence becomes `\uFFFD`.
 * @param dst  room for len * TEXT_JSON_GROWTH
 * @return bytes written.
 */
size_t text_json(char *dst, struct mk_str s);

/**
 * Bytes that need not be UTF-8 in a JSON string: one of them as the character of its number, so that every byte
 * string is valid JSON and can be had back. What is escaped is for the caller to say: at least `"`, `\`, control
 * bytes and all above 0x7e.
 * @return TEXT_JSON_GROWTH: "\u00HH".
 */
size_t text_json_byte(char dst[TEXT_JSON_GROWTH], unsigned char c);

/**
 * One byte so that a text stays one line, in quotes or not: printable ASCII stays, `"` and `\` get a `\`, the others
 * become \xhh.
 * @return bytes written: 1, 2 or TEXT_LINE_GROWTH.
 */
size_t text_line_byte(char dst[TEXT_LINE_GROWTH], unsigned char c);

#endif
