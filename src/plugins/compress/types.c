/* SPDX-License-Identifier: Apache-2.0 */
#include "types.h"

#include "kit/text/words.h"

static bool ends(struct mk_str text, struct mk_str end)
{
    return text.len >= end.len &&
           text_is_word((struct mk_str){text.p + text.len - end.len, end.len}, end);
}

/* With a star at its end, at its beginning, or without one. */
static bool fits(struct mk_str pattern, struct mk_str type)
{
    if (pattern.p[pattern.len - 1] == '*')
        return text_begins(type, (struct mk_str){pattern.p, pattern.len - 1});
    if (pattern.p[0] == '*')
        return ends(type, (struct mk_str){pattern.p + 1, pattern.len - 1});
    return text_is_word(type, pattern);
}

bool compress_types_is_pattern(struct mk_str pattern)
{
    const char *slash = memchr(pattern.p, '/', pattern.len);
    const char *star = memchr(pattern.p, '*', pattern.len);
    size_t at = star ? (size_t)(star - pattern.p) : 0;

    if (!star)
        return slash && slash > pattern.p && slash + 1 < pattern.p + pattern.len;
    if (at == 0)
        return pattern.len == 1 || (pattern.len > 2 && pattern.p[1] == '+');
    return slash && star == slash + 1 && at + 1 == pattern.len;
}

bool compress_types_have(const struct mk_words *types, struct mk_str type)
{
    type = text_trim(text_cut(&type, ';'));
    for (size_t i = 0; type.len > 0 && i < types->count; i++) {
        if (fits(types->items[i], type))
            return true;
    }
    return false;
}
