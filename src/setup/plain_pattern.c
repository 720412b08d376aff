/* SPDX-License-Identifier: Apache-2.0 */
#include "setup/plain_pattern.h"

#include "base/code.h"
#include "base/str.h"

#include <string.h>

static bool cut(struct mk_str *s, struct mk_str end)
{
    if (!mk_str_has_suffix(*s, end))
        return false;
    s->len -= end.len;
    return true;
}

/* What a cut takes from the middle of something else leaves a backslash or a bracket behind. */
MK_AT_START bool mk_plain_read(struct mk_plain *p, struct mk_str pattern)
{
    size_t i = 0;

    if (pattern.len > 0 && pattern.p[0] == '^')
        p->text[i++] = '\0';
    p->len = i;
    p->ends = cut(&pattern, MK_STR("$"));
    if (cut(&pattern, MK_STR(".*")) || cut(&pattern, MK_STR("(.*)")))
        p->ends = false;
    if (pattern.len == i + 1 && pattern.p[i] == '.')
        return true; /* no path is empty */
    for (; i < pattern.len && p->len < MK_PLAIN_MAX; i++) {
        static const char special[] = ".[](){}*+?|^$\\";

        if (pattern.p[i] == '\\' && i + 1 < pattern.len && strchr(special, pattern.p[i + 1]))
            i++;
        else if (strchr(special, pattern.p[i]))
            return false;
        p->text[p->len++] = mk_char_lower(pattern.p[i]);
    }
    return i == pattern.len;
}

static bool is_in(const struct mk_plain *p, const char *text, size_t len)
{
    return !p->ends && memmem(text, len, p->text, p->len);
}

/* What is in "^/" is in each path. */
MK_AT_START bool mk_plain_covers(struct mk_str first, struct mk_str second)
{
    struct mk_plain a, b;

    return mk_str_ieq(first, second) ||
           (mk_plain_read(&a, first) &&
            (is_in(&a, "\0/", 2) || (mk_plain_read(&b, second) && is_in(&a, b.text, b.len))));
}
