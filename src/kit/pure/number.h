/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_PURE_NUMBER_H
#define KIT_PURE_NUMBER_H

#include <monkey/types.h>

#include <stddef.h>
#include <stdint.h>

/* Decimal numbers without a sign. */

enum { NUMBER_TEXT = 20 }; /* digits of UINT64_MAX */

/** Digits and nothing else. @return the number, 1 to max; 0: it is none, or out of range. */
uint32_t number_of(struct mk_str text, uint32_t max);

/** @return the digits, at the end of room. */
static inline struct mk_str number_text(char room[NUMBER_TEXT], uint64_t n)
{
    size_t at = NUMBER_TEXT;

    do
        room[--at] = (char)('0' + n % 10);
    while ((n /= 10) > 0);
    return (struct mk_str){room + at, NUMBER_TEXT - at};
}

/** @return how many digits there are now at dst. */
static inline size_t number_write(char *dst, uint64_t n)
{
    size_t len = 1;

    for (uint64_t bound = 10; n >= bound && len < NUMBER_TEXT; bound *= 10)
        len++;
    for (size_t at = len; at > 0; n /= 10)
        dst[--at] = (char)('0' + n % 10);
    return len;
}

/** The last `width` digits, with zeros before them. @return where they end. */
static inline char *number_padded(char *dst, size_t width, unsigned n)
{
    for (size_t i = width; i > 0; n /= 10)
        dst[--i] = (char)('0' + n % 10);
    return dst + width;
}

#endif
