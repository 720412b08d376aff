/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/web/query.h>
#include <monkey/web/router.h>

#include "kit/text/type.h"

/* Numbers of requests. */

int mk_text_int(struct mk_str text, int64_t *number)
{
    if (!number)
        return MK_E_INVALID;
    return text_int(text, number) ? 0 : MK_E_BAD;
}

int mk_path_int(const struct mk_request *r, struct mk_str name, int64_t *number)
{
    const struct mk_str value = mk_path_value(r, name);

    if (!r || !number)
        return MK_E_INVALID;
    if (!value.p)
        return 0;
    return text_int(value, number) ? 1 : MK_E_BAD;
}
