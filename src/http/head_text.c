/* SPDX-License-Identifier: Apache-2.0 */
#include "http/head_text.h"

#include "base/str.h"
#include "http/field.h"

#include <monkey/field.h>

/* These say how a message is framed, or what one connection is asked (RFC 9110 sections 7.6.1 and 10.1.1). */
static bool is_of_framing(struct mk_str name)
{
    return (mk_field_rules(name) & MK_RULE_MESSAGE) || mk_str_ieq(name, MK_STR("Expect")) ||
           mk_str_ieq(name, MK_STR("Trailer"));
}

static bool is_word(struct mk_str s)
{
    for (size_t i = 0; i < s.len; i++) {
        if (s.p[i] <= ' ' || s.p[i] > '~')
            return false;
    }
    return s.len > 0;
}

/* @return 0 or MK_E_INVALID. */
static int check_fields(struct mk_str lines, bool *has_host)
{
    struct mk_str line, name, value;

    *has_host = false;
    while (lines.len > 0) {
        if (!mk_field_next_line(&lines, &line, &name, &value) || !mk_field_is_name(name) ||
            !mk_field_is_value(value) || is_of_framing(name))
            return MK_E_INVALID;
        *has_host = *has_host || mk_str_ieq(name, MK_STR("Host"));
    }
    return 0;
}

static char *put(char *to, struct mk_str text)
{
    if (text.len > 0)
        memcpy(to, text.p, text.len);
    return to + text.len;
}

int mk_head_text(struct mk_buf *b, struct mk_str method, struct mk_str target, struct mk_str fields,
                 enum mk_head_fields known, size_t length)
{
    static const struct mk_str version = MK_STR_INIT(" HTTP/1.1\r\n"),
                               host = MK_STR_INIT("Host: localhost\r\n");
    bool has_host = true;
    char *to;

    if (!is_word(method) || !is_word(target) ||
        (known == MK_HEAD_FIELDS_ANY && check_fields(fields, &has_host) < 0))
        return MK_E_INVALID;
    to = mk_buf_reserve(b, method.len + 1 + target.len + version.len + host.len + fields.len);
    if (!to)
        return b->error;
    to = put(put(to, method), MK_STR(" "));
    to = put(put(to, target), version);
    to = put(to, has_host ? MK_STR("") : host);
    b->len = (size_t)(put(to, fields) - b->p);
    if (length > 0)
        (void)mk_buf_printf(b, "Content-Length: %zu\r\n", length);
    return mk_buf_append_str(b, MK_STR("\r\n"));
}

int mk_head_text_copy(struct mk_buf *b, struct mk_str method, struct mk_str target,
                      struct mk_str text)
{
    char *to;

    if (!is_word(method) || !is_word(target))
        return MK_E_INVALID;
    to = mk_buf_reserve(b, text.len);
    if (!to)
        return b->error;
    (void)put(to, text);
    b->len += text.len;
    return 0;
}
