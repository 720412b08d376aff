/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BASE_STR_H
#define MK_BASE_STR_H

#include <monkey/types.h>

#include <stdbool.h>

/* Operations on borrowed slices. ASCII only: the locale never matters. */

static inline char mk_char_lower(char c)
{
    return (unsigned char)(c - 'A') < 26 ? (char)(c | 0x20) : c;
}

static inline bool mk_str_eq(struct mk_str a, struct mk_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

/** Equal but for the case of ASCII letters. */
bool mk_str_ieq(struct mk_str a, struct mk_str b);

/* Copies of these three would lie with the code for the start, which calls them most; requests do, too. */
__attribute__((always_inline)) static inline bool mk_str_has_prefix(struct mk_str s,
                                                                    struct mk_str prefix)
{
    return s.len >= prefix.len && memcmp(s.p, prefix.p, prefix.len) == 0;
}

__attribute__((always_inline)) static inline bool mk_str_has_suffix(struct mk_str s,
                                                                    struct mk_str suffix)
{
    return s.len >= suffix.len && memcmp(s.p + s.len - suffix.len, suffix.p, suffix.len) == 0;
}

/** s from offset from on; empty when from is past the end. */
__attribute__((always_inline)) static inline struct mk_str mk_str_skip(struct mk_str s, size_t from)
{
    return from < s.len ? (struct mk_str){s.p + from, s.len - from}
                        : (struct mk_str){s.p ? s.p + s.len : NULL, 0};
}

/** Without blanks (SP and HTAB) at either end. */
struct mk_str mk_str_trim(struct mk_str s);

/**
 * Cut the next element off a blank-separated list.
 * @param rest  in: what is left of the list; out: what follows the element
 * @param word  out: the element, borrowed from rest
 * @return false when only blanks were left.
 */
bool mk_str_next_word(struct mk_str *rest, struct mk_str *word);

/**
 * Read a whole slice as an unsigned decimal number: digits only, no sign, no blank.
 * @return 0; MK_E_BAD when it is empty or holds another character; MK_E_LIMIT above max.
 */
int mk_str_to_u64(struct mk_str s, uint64_t max, uint64_t *value) MK_MUST_USE;

/**
 * Write n in decimal at dst, which has room for at least 20 characters; no terminator.
 * @return the number of characters written.
 */
size_t mk_u64_to_dec(char *dst, uint64_t n);

/** FNV-1a of the bytes, folded with seed; for tables whose keys the peer does not choose freely. */
uint32_t mk_str_hash(struct mk_str s, uint32_t seed);

#endif
