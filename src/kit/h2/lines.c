/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/h2/lines.h"

#include "kit/text/words.h"

#include <string.h>

bool h2_next_line(struct mk_str *lines, struct mk_str *name, struct mk_str *value)
{
    const char *end = lines->len > 0 ? memchr(lines->p, '\r', lines->len) : NULL;
    const char *colon = end ? memchr(lines->p, ':', (size_t)(end - lines->p)) : NULL;

    if (!colon)
        return false;
    *name = (struct mk_str){lines->p, (size_t)(colon - lines->p)};
    *value = text_trim((struct mk_str){colon + 1, (size_t)(end - colon - 1)});
    lines->len -= (size_t)(end + 2 - lines->p);
    lines->p = end + 2;
    return true;
}

bool h2_is_of_http1(struct mk_str name)
{
    switch (name.len) {
    case 7:
        return text_is_word(name, MK_STR("upgrade"));
    case 10:
        return text_is_word(name, MK_STR("connection")) || text_is_word(name, MK_STR("keep-alive"));
    case 16:
        return text_is_word(name, MK_STR("proxy-connection"));
    case 17:
        return text_is_word(name, MK_STR("transfer-encoding"));
    case 20:
        return text_is_word(name, MK_STR("sec-websocket-accept"));
    default:
        return false;
    }
}
