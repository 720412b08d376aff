/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_HTTP_CHARS_INT_H
#define MK_HTTP_CHARS_INT_H

#include <monkey/types.h>

#include <stdbool.h>

/* The character classes of the HTTP and URI grammars, one bit each. */
enum mk_char_class {
    MK_CHAR_TOKEN = 0x01, /* tchar, RFC 9110 section 5.6.2 */
    MK_CHAR_TARGET =
        0x02, /* unreserved, reserved but `#`, and `%`: RFC 3986 section 2; and ^ ` { | }, which
                               browsers send as they are (URL standard, query percent-encode set) */
    MK_CHAR_PATH = 0x04,    /* the same without `?` */
    MK_CHAR_HOST = 0x08,    /* unreserved and sub-delims: a reg-name without escapes */
    MK_CHAR_SEGMENT = 0x10, /* pchar without escapes, and `/`: RFC 3986 section 3.3 */
    MK_CHAR_TEXT = 0x20,    /* field-vchar, obs-text, SP and HTAB: RFC 9110 section 5.5 */
    MK_CHAR_HEX = 0x40,
};

extern const uint8_t mk_char_classes[256];

static inline bool mk_char_is(char c, unsigned classes)
{
    return mk_char_classes[(unsigned char)c] & classes;
}

/** @return the value of a digit that is known to be hexadecimal. */
static inline unsigned mk_hex_value(char c)
{
    return ((unsigned char)c & 15) + (c >= 'A' ? 9 : 0);
}

/** @return the first byte from p on that is not of the class, or end. */
const char *mk_chars_skip(const char *p, const char *end, unsigned classes);

static inline bool mk_chars_all(struct mk_str s, unsigned classes)
{
    return mk_chars_skip(s.p, s.p + s.len, classes) == s.p + s.len;
}

#endif
