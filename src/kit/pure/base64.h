/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_PURE_BASE64_H
#define KIT_PURE_BASE64_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Base64 on one line, as RFC 4648 has it. */

/** The most bytes that can be encoded. */
#define BASE64_LEN_MAX ((size_t)PTRDIFF_MAX / 4 * 3 - 3)

/** @return the length of the text of len bytes, at most BASE64_LEN_MAX. */
static inline size_t base64_encoded_len(size_t len)
{
    return (len + 2) / 3 * 4;
}

/** @return room that is enough for the bytes of a text, in either alphabet. */
static inline size_t base64_decoded_room(size_t len)
{
    return len / 4 * 3 + 3;
}

/** Encode with padding. @param text  room for base64_encoded_len(len); not terminated. @return the length of the text. */
size_t base64_encode(char *text, const void *bytes, size_t len);

/**
 * Decode section 4: padding required, nothing else in between.
 * @param bytes  room for len / 4 * 3
 * @return how many bytes; -1: it is not base64.
 */
ssize_t base64_decode(void *bytes, const char *text, size_t len);

/**
 * The same, leaving out what is not of the alphabet, such as line ends.
 * @return how many bytes; -1: characters of the alphabet and padding do not make whole groups of four, or padding is not at the end.
 */
ssize_t base64_decode_among(void *bytes, const char *text, size_t len);

/** @return the length of the text of base64url without padding. */
static inline size_t base64url_encoded_len(size_t len)
{
    return len / 3 * 4 + (len % 3 > 0 ? len % 3 + 1 : 0);
}

/**
 * Encode as base64url without padding (RFC 4648 section 5).
 * @param text  room for base64_encoded_len(len); not terminated
 * @return the length of the text.
 */
size_t base64url_encode(char *text, const void *bytes, size_t len);

/**
 * Decode base64url without padding (RFC 7515 section 2). Bits that no byte has must be zero, so each text has one form.
 * @param bytes  room for base64_decoded_room(len)
 * @return how many bytes; -1: it is not base64url.
 */
ssize_t base64url_decode(void *bytes, const char *text, size_t len);

#endif
