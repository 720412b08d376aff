/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/cookie/cookie.h"

#include "kit/text/words.h"

struct mk_str cookie_find(const struct mk_request *r, struct mk_str name)
{
    uint32_t at = 0;
    struct mk_str field, value;

    while (mk_request_next_header(r, &at, &field, &value)) {
        if (!text_is_word(field, MK_STR("Cookie")))
            continue;
        while (value.len > 0) {
            struct mk_str pair = text_cut(&value, ';');

            if (text_is(text_trim(text_cut(&pair, '=')), name))
                return text_trim(pair);
        }
    }
    return (struct mk_str){NULL, 0};
}
