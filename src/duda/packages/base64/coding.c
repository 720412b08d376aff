/* SPDX-License-Identifier: Apache-2.0 */
#include "coding.h"

static const unsigned char alphabet[65] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

size_t base64_encode(unsigned char *text, const unsigned char *bytes, size_t len)
{
    unsigned char *p = text;

    for (; len >= 3; len -= 3, bytes += 3) {
        *p++ = alphabet[bytes[0] >> 2];
        *p++ = alphabet[(bytes[0] & 3) << 4 | bytes[1] >> 4];
        *p++ = alphabet[(bytes[1] & 15) << 2 | bytes[2] >> 6];
        *p++ = alphabet[bytes[2] & 63];
    }
    if (len > 0) {
        unsigned second = len > 1 ? bytes[1] : 0;

        *p++ = alphabet[bytes[0] >> 2];
        *p++ = alphabet[(bytes[0] & 3) << 4 | second >> 4];
        *p++ = len > 1 ? alphabet[(second & 15) << 2] : '=';
        *p++ = '=';
    }
    return (size_t)(p - text);
}

/* @return the value of a character of the alphabet; -1: it is none */
static int value_of(unsigned char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    if (c == '+')
        return 62;
    return c == '/' ? 63 : -1;
}

ssize_t base64_decode(unsigned char *bytes, const unsigned char *text, size_t len)
{
    unsigned char *p = bytes;
    unsigned count = 0, padding = 0;
    uint32_t group = 0;

    for (size_t i = 0; i < len; i++) {
        int value = text[i] == '=' ? 0 : value_of(text[i]);

        if (value < 0)
            continue;
        if (text[i] == '=')
            padding++;
        else if (padding > 0)
            return -1;
        group = group << 6 | (unsigned)value;
        if (++count % 4 != 0)
            continue;
        if (padding > 2)
            return -1;
        *p++ = (unsigned char)(group >> 16);
        *p++ = (unsigned char)(group >> 8);
        *p++ = (unsigned char)group;
    }
    return count % 4 == 0 ? p - bytes - padding : -1;
}
