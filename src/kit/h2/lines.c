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

void h2_head_add_lines(struct h2_head *h, struct mk_str lines)
{
    struct mk_str name, value;

    while (lines.len > 0) {
        if (h2_head_add_line(h, &lines))
            continue;
        if (!h2_next_line(&lines, &name, &value))
            return;
        if (!h2_is_of_http1(name))
            h2_head_add(h, name, value);
    }
}

bool h2_send_trailers(struct h2_stream *st, struct mk_str lines)
{
    struct h2_head h;

    if (!h2_head_begin(&h, st, h2_lines_most(lines)))
        return false;
    h2_head_add_lines(&h, lines);
    h2_head_end(&h, H2_FOLLOWS_NOTHING);
    return true;
}
