/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_PURE_JSON_TEXT_H
#define KIT_PURE_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Strings of JSON whose bytes all stand for themselves, as those of most keys and texts do: ASCII without marks, RFC 8259 7. */

/** @return 0: each of eight bytes stands for itself. A borrow or carry comes only from one that does not. */
static inline uint64_t json_text_special(uint64_t eight)
{
    const uint64_t each = 0x0101010101010101U;
    const uint64_t found = ((eight ^ (each * '"')) - each) | ((eight ^ (each * '\\')) - each) |
                           (eight - each * ' ') | (eight + each) | eight;

    return found & (each * 0x80);
}

static inline uint64_t json_text_eight(const char *p)
{
    uint64_t eight;

    memcpy(&eight, p, sizeof(eight));
    return eight;
}

/* Up to eight bytes are one number, some of them twice or blanks, when they are looked at. */
static inline bool json_text_copy_few(char *dst, const char *p, size_t len)
{
    uint32_t first, last;
    uint16_t two = ' ' << 8 | ' ';

    if (len >= sizeof(first)) {
        memcpy(&first, p, sizeof(first));
        memcpy(&last, p + len - sizeof(last), sizeof(last));
        memcpy(dst, &first, sizeof(first));
        memcpy(dst + len - sizeof(last), &last, sizeof(last));
        return !json_text_special((uint64_t)first << 32 | last);
    }
    if (len == 0)
        return true;
    if (len >= sizeof(two)) {
        memcpy(&two, p, sizeof(two));
        memcpy(dst, &two, sizeof(two));
    }
    dst[len - 1] = p[len - 1];
    return !json_text_special(0x2020202000000000U | (uint64_t)two << 16 | ' ' << 8 |
                              (unsigned char)p[len - 1]);
}

#ifdef __SSE2__
/* Not 0: one of 16 bytes does not stand for itself. Bytes of 0x80 and above are negative. */
static inline int json_text_special_16(__m128i bytes)
{
    const __m128i marks = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
                                       _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
    const __m128i others = _mm_or_si128(_mm_cmplt_epi8(bytes, _mm_set1_epi8(' ')),
                                        _mm_cmpeq_epi8(bytes, _mm_set1_epi8(0x7f)));

    return _mm_movemask_epi8(_mm_or_si128(marks, others));
}

/* Eight to sixteen bytes, some of them twice. */
static inline bool json_text_copy_some(char *dst, const char *text, size_t len)
{
    const __m128i first = _mm_loadl_epi64((const __m128i *)(const void *)text);
    const __m128i last = _mm_loadl_epi64((const __m128i *)(const void *)(text + len - 8));

    _mm_storel_epi64((__m128i *)(void *)dst, first);
    _mm_storel_epi64((__m128i *)(void *)(dst + len - 8), last);
    return !json_text_special_16(_mm_unpacklo_epi64(first, last));
}

static inline bool json_text_copy_many(char *dst, const char *text, size_t len)
{
    enum { ALL = 16 };

    if (len <= ALL)
        return json_text_copy_some(dst, text, len);
    for (size_t at = 0; at < len; at += ALL) {
        /* the last may be some of those before them once more */
        const size_t from = len - at < ALL ? len - ALL : at;
        const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(text + from));

        if (json_text_special_16(bytes))
            return false;
        _mm_storeu_si128((__m128i *)(void *)(dst + from), bytes);
    }
    return true;
}
#else
static inline bool json_text_copy_many(char *dst, const char *text, size_t len)
{
    for (size_t at = 0; at < len; at += sizeof(uint64_t)) {
        /* the last eight may be some of those before them once more */
        const size_t from = len - at < sizeof(uint64_t) ? len - sizeof(uint64_t) : at;
        const uint64_t eight = json_text_eight(text + from);

        if (json_text_special(eight))
            return false;
        memcpy(dst + from, &eight, sizeof(eight));
    }
    return true;
}
#endif

/**
 * Copy text that needs no escape in a JSON string.
 * @param dst  room for len
 * @return false: it needs some, and what is in dst is of no use.
 */
static inline bool json_text_copy(char *dst, const char *text, size_t len)
{
    if (len < sizeof(uint64_t))
        return json_text_copy_few(dst, text, len);
    return json_text_copy_many(dst, text, len);
}

#endif
