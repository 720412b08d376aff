/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_JSON_SCAN_H
#define KIT_JSON_SCAN_H

/* The bytes of strings that stand for themselves are copied as they are looked at, 16 at once where the processor can. */

#include <stdbool.h>
#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* @return whether the byte ends what is copied. @param is_ascii  bytes of 0x80 and above do as well */
static inline bool json_is_special(char c, bool is_ascii)
{
    return (unsigned char)c < 0x20 || c == '"' || c == '\\' || (is_ascii && (signed char)c < 0);
}

/**
 * Copy bytes up to the first that is special.
 * @param to  room for all from p to end; in: where to write, out: behind what was written
 * @return the first special byte, or end
 */
static inline const char *json_copy_plain(char **to, const char *p, const char *end, bool is_ascii)
{
    char *out = *to;

#ifdef __SSE2__
    while (end - p >= 16) {
        const __m128i bytes = _mm_loadu_si128((const __m128i *)p);
        const __m128i marks =
            _mm_or_si128(_mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes),
                         _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
                                      _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))));
        const int found = _mm_movemask_epi8(is_ascii ? _mm_or_si128(marks, bytes) : marks);

        _mm_storeu_si128((__m128i *)out, bytes);
        if (found) {
            *to = out + __builtin_ctz((unsigned)found);
            return p + __builtin_ctz((unsigned)found);
        }
        p += 16;
        out += 16;
    }
#endif
    while (p < end && !json_is_special(*p, is_ascii))
        *out++ = *p++;
    *to = out;
    return p;
}

#endif
