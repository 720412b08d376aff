/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"
#include "settings/field.h"

/* What other formats allow, and this one takes for a part of the value. */

static bool is_quoted(struct mk_str s)
{
    return s.len >= 2 && (s.p[0] == '"' || s.p[0] == '\'') && s.p[s.len - 1] == s.p[0];
}

const char *mk_value_hint(struct mk_str value)
{
    return is_quoted(value) ? "; values are written without quotes" : "";
}
