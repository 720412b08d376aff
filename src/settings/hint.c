/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"
#include "settings/field.h"

/* What other formats allow, and this one takes for a part of the value. */

static bool is_quoted(struct mk_str s)
{
    return s.len >= 2 && (s.p[0] == '"' || s.p[0] == '\'') && s.p[s.len - 1] == s.p[0];
}

static bool has_comment(struct mk_str rest)
{
    struct mk_str word;

    while (mk_str_next_word(&rest, &word)) {
        if (word.p[0] == '#')
            return true;
    }
    return false;
}

const char *mk_value_hint(struct mk_str value)
{
    if (is_quoted(value))
        return "; values are written without quotes";
    return has_comment(value) ? "; a comment needs a line of its own" : "";
}
