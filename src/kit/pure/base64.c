/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/pure/base64.h"

#include <stdbool.h>

static const char alphabet[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

size_t base64_encode(char *text, const void *bytes, size_t len)
{
    const uint8_t *from = bytes;
    char *p = text;

    for (; len >= 3; len -= 3, from += 3) {
        *p++ = alphabet[from[0] >> 2];
        *p++ = alphabet[(from[0] & 3) << 4 | from[1] >> 4];
        *p++ = alphabet[(from[1] & 15) << 2 | from[2] >> 6];
        *p++ = alphabet[from[2] & 63];
    }
    if (len > 0) {
        const unsigned second = len > 1 ? from[1] : 0;

        *p++ = alphabet[from[0] >> 2];
        *p++ = alphabet[(from[0] & 3) << 4 | second >> 4];
        *p++ = len > 1 ? alphabet[(second & 15) << 2] : '=';
        *p++ = '=';
    }
    return (size_t)(p - text);
}

/* @return the six bits of a letter; -1 for any other byte. */
static int six_bits(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static ssize_t decode(uint8_t *bytes, const char *text, size_t len, bool skips_others)
{
    uint8_t *p = bytes;
    unsigned count = 0;
    int padding = 0;
    uint32_t group = 0;

    for (size_t i = 0; i < len; i++) {
        const int six = text[i] == '=' ? 0 : six_bits(text[i]);

        if (six < 0 && skips_others)
            continue;
        if (six < 0 || (padding > 0 && text[i] != '='))
            return -1;
        padding += text[i] == '=';
        group = group << 6 | (unsigned)six;
        if (++count % 4 != 0)
            continue;
        if (padding > 2)
            return -1;
        *p++ = (uint8_t)(group >> 16);
        *p++ = (uint8_t)(group >> 8);
        *p++ = (uint8_t)group;
    }
    return count % 4 == 0 ? p - bytes - padding : -1;
}

ssize_t base64_decode(void *bytes, const char *text, size_t len)
{
    return decode(bytes, text, len, false);
}

ssize_t base64_decode_among(void *bytes, const char *text, size_t len)
{
    return decode(bytes, text, len, true);
}

size_t base64url_encode(char *text, const void *bytes, size_t len)
{
    const size_t used = base64url_encoded_len(len);

    (void)base64_encode(text, bytes, len);
    for (size_t i = 0; i < used; i++)
        text[i] = (char)(text[i] == '+' ? '-' : text[i] == '/' ? '_' : text[i]);
    return used;
}

static int six_bits_of_url(char c)
{
    if (c == '+' || c == '/')
        return -1;
    return six_bits((char)(c == '-' ? '+' : c == '_' ? '/' : c));
}

ssize_t base64url_decode(void *bytes, const char *text, size_t len)
{
    uint8_t *p = bytes;
    uint32_t bits = 0;
    unsigned held = 0;

    for (size_t i = 0; i < len; i++) {
        const int six = six_bits_of_url(text[i]);

        if (six < 0)
            return -1;
        bits = bits << 6 | (uint32_t)six;
        held += 6;
        if (held >= 8) {
            held -= 8;
            *p++ = (uint8_t)(bits >> held);
            bits &= (1U << held) - 1;
        }
    }
    return held >= 6 || bits != 0 ? -1 : p - (uint8_t *)bytes;
}
