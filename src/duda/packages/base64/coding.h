/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_BASE64_CODING_H
#define MK_DUDA_BASE64_CODING_H

/* Base64 in the standard alphabet with padding, on one line: RFC 4648 section 4. Pure: from any thread. */

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** The most bytes that can be encoded. */
#define BASE64_LEN_MAX ((size_t)PTRDIFF_MAX / 4 * 3 - 3)

/** @return the length of the text of len bytes, at most BASE64_LEN_MAX. */
static inline size_t base64_encoded_len(size_t len)
{
    return (len + 2) / 3 * 4;
}

/** @return room that is enough for the bytes of a text. */
static inline size_t base64_decoded_room(size_t len)
{
    return len / 4 * 3 + 3;
}

/** Encode. @param text  room for base64_encoded_len(len) bytes; not terminated. @return the length of the text. */
size_t base64_encode(unsigned char *text, const unsigned char *bytes, size_t len);

/**
 * Decode, leaving out what is not of the alphabet, such as line ends.
 * @param bytes  room for base64_decoded_room(len)
 * @return how many bytes; -1: characters of the alphabet and padding do not make whole groups of four, or padding is not at the end
 */
ssize_t base64_decode(unsigned char *bytes, const unsigned char *text, size_t len);

#endif
