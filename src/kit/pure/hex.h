/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_PURE_HEX_H
#define KIT_PURE_HEX_H

#include <stddef.h>

/* Hexadecimal digits. */

/** The digit of the lowest four bits. */
static inline char hex_lower(unsigned bits)
{
    return "0123456789abcdef"[bits & 15];
}

static inline char hex_upper(unsigned bits)
{
    return "0123456789ABCDEF"[bits & 15];
}

/** @return the value of a digit in any case; -1: it is none. */
static inline int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/** Two lower-case digits a byte. @param dst  room for 2 * len; not terminated */
static inline void hex_write(char *dst, const void *bytes, size_t len)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < len; i++) {
        dst[2 * i] = hex_lower(p[i] >> 4U);
        dst[2 * i + 1] = hex_lower(p[i]);
    }
}

#endif
