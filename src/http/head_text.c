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

int mk_head_text(struct mk_buf *b, struct mk_str method, struct mk_str target, struct mk_str fields,
                 size_t length)
{
    bool has_host;

    if (!is_word(method) || !is_word(target) || check_fields(fields, &has_host) < 0)
        return MK_E_INVALID;
    (void)mk_buf_append_str(b, method);
    (void)mk_buf_append_str(b, MK_STR(" "));
    (void)mk_buf_append_str(b, target);
    (void)mk_buf_append_str(b, MK_STR(" HTTP/1.1\r\n"));
    if (!has_host)
        (void)mk_buf_append_str(b, MK_STR("Host: localhost\r\n"));
    (void)mk_buf_append_str(b, fields);
    if (length > 0)
        (void)mk_buf_printf(b, "Content-Length: %zu\r\n", length);
    return mk_buf_append_str(b, MK_STR("\r\n"));
}
