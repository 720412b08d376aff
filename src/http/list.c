/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/field.h>

#include "base/str.h"

bool mk_list_next(struct mk_str *rest, struct mk_str *member)
{
    while (rest->len > 0) {
        size_t len = 0;

        while (len < rest->len && rest->p[len] != ',')
            len++;
        *member = mk_str_trim((struct mk_str){rest->p, len});
        *rest = mk_str_skip(*rest, len + 1);
        if (member->len > 0)
            return true;
    }
    return false;
}

bool mk_list_has_token(struct mk_str list, struct mk_str token)
{
    struct mk_str member;

    while (mk_list_next(&list, &member)) {
        if (mk_str_ieq(member, token))
            return true;
    }
    return false;
}
