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

#define MK_EACH_BYTE(b) (UINT64_MAX / 255 * (b))

/** @return the top bit set of each of eight bytes that is a control: below 0x20, or 0x7f. */
static inline uint64_t mk_chars_find_controls(uint64_t eight)
{
    /* one up, so that DEL leaves the seven bits and all controls are below 0x21 */
    uint64_t up = ((eight & MK_EACH_BYTE(0x7f)) + MK_EACH_BYTE(1)) | MK_EACH_BYTE(0x80);

    return ~((up - MK_EACH_BYTE(0x21)) | eight) & MK_EACH_BYTE(0x80);
}

/** @return which byte in memory holds the first bit of found, which is not 0. */
static inline unsigned mk_chars_first(uint64_t found)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return (unsigned)__builtin_ctzll(found) / 8;
#else
    return (unsigned)__builtin_clzll(found) / 8;
#endif
}

/** @return the first byte from p on that is no field text: the CR, in an honest line; or end. */
static inline const char *mk_chars_skip_text(const char *p, const char *end)
{
    while (end - p >= 8) {
        uint64_t eight, found;

        memcpy(&eight, p, sizeof(eight));
        found = mk_chars_find_controls(eight);
        if (found == 0) {
            p += 8;
            continue;
        }
        p += mk_chars_first(found);
        if (*p != '\t')
            return p;
        p++;
    }
    while (p < end && mk_char_is(*p, MK_CHAR_TEXT))
        p++;
    return p;
}

#endif
