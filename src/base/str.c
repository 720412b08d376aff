/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"

#include "kit/pure/hash.h"
#include "kit/pure/number.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

bool mk_str_ieq(struct mk_str a, struct mk_str b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++) {
        if (mk_char_lower(a.p[i]) != mk_char_lower(b.p[i]))
            return false;
    }
    return true;
}

struct mk_str mk_str_trim(struct mk_str s)
{
    while (s.len > 0 && is_blank(s.p[0])) {
        s.p++;
        s.len--;
    }
    while (s.len > 0 && is_blank(s.p[s.len - 1]))
        s.len--;
    return s;
}

bool mk_str_next_word(struct mk_str *rest, struct mk_str *word)
{
    size_t start = 0, end;

    while (start < rest->len && is_blank(rest->p[start]))
        start++;
    for (end = start; end < rest->len && !is_blank(rest->p[end]);)
        end++;
    if (start == end)
        return false;
    *word = (struct mk_str){rest->p + start, end - start};
    *rest = mk_str_skip(*rest, end);
    return true;
}

int mk_str_to_u64(struct mk_str s, uint64_t max, uint64_t *value)
{
    bool overflow = false;
    uint64_t n = 0;

    if (s.len == 0)
        return MK_E_BAD;
    for (size_t i = 0; i < s.len; i++) {
        unsigned digit = (unsigned char)(s.p[i] - '0');

        if (digit > 9)
            return MK_E_BAD; /* also behind an overflow */
        overflow = overflow || n > (UINT64_MAX - digit) / 10;
        n = n * 10 + digit;
    }
    if (overflow || n > max)
        return MK_E_LIMIT;
    *value = n;
    return 0;
}

size_t mk_u64_to_dec(char *dst, uint64_t n)
{
    return number_write(dst, n);
}

uint32_t mk_str_hash(struct mk_str s, uint32_t seed)
{
    const uint32_t h = hash_32(HASH_START_32 ^ seed, s.p, s.len);

    return h ^ (h >> 15);
}
