/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_PURE_JSON_TEXT_H
#define KIT_PURE_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/* One to seven bytes, some of them twice, and blanks. */
static inline uint64_t json_text_few(const char *p, size_t len)
{
    uint32_t first, last;
    uint16_t two = ' ' << 8 | ' ';

    if (len >= sizeof(first)) {
        memcpy(&first, p, sizeof(first));
        memcpy(&last, p + len - sizeof(last), sizeof(last));
        return (uint64_t)first << 32 | last;
    }
    if (len >= sizeof(two))
        memcpy(&two, p, sizeof(two));
    return 0x2020202000000000U | (uint64_t)two << 16 | ' ' << 8 | (unsigned char)p[len - 1];
}

static inline void json_text_put_few(char *dst, const char *p, size_t len)
{
    if (len >= sizeof(uint32_t)) {
        memcpy(dst, p, sizeof(uint32_t));
        memcpy(dst + len - sizeof(uint32_t), p + len - sizeof(uint32_t), sizeof(uint32_t));
        return;
    }
    if (len >= sizeof(uint16_t))
        memcpy(dst, p, sizeof(uint16_t));
    dst[len - 1] = p[len - 1];
}

/**
 * Copy text that needs no escape in a JSON string.
 * @param dst  room for len
 * @return false: it needs some, and what is in dst is of no use.
 */
static inline bool json_text_copy(char *dst, const char *text, size_t len)
{
    if (len < sizeof(uint64_t)) {
        if (len == 0)
            return true;
        json_text_put_few(dst, text, len);
        return !json_text_special(json_text_few(text, len));
    }
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
