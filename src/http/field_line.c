/* SPDX-License-Identifier: Apache-2.0 */
#include "http/field_line_int.h"

#include "base/invariant.h"
#include "base/str.h"

bool mk_field_line_next(struct mk_str lines, uint32_t *at, struct mk_str *name,
                        struct mk_str *value)
{
    struct mk_str rest = mk_str_skip(lines, *at);
    const char *colon, *lf, *end;

    if (rest.len == 0)
        return false;
    colon = memchr(rest.p, ':', rest.len);
    lf = memchr(rest.p, '\n', rest.len);
    MK_ASSERT(colon && lf && colon < lf);
    end = lf[-1] == '\r' ? lf - 1 : lf;
    *name = (struct mk_str){rest.p, (size_t)(colon - rest.p)};
    *value = mk_str_trim((struct mk_str){colon + 1, (size_t)(end - colon) - 1});
    *at += (uint32_t)(lf + 1 - rest.p);
    return true;
}

struct mk_str mk_field_line_find(struct mk_str lines, struct mk_str name)
{
    struct mk_str candidate, value;
    uint32_t at = 0;

    while (mk_field_line_next(lines, &at, &candidate, &value)) {
        if (mk_str_ieq(candidate, name))
            return value;
    }
    return (struct mk_str){NULL, 0};
}
