/* SPDX-License-Identifier: Apache-2.0 */
#include "compat/reply.h"

#include <monkey/field.h>

static struct mk_str trim(struct mk_str s)
{
    while (s.len > 0 && (s.p[0] == ' ' || s.p[0] == '\t'))
        s.p++, s.len--;
    while (s.len > 0 && strchr(" \t\r", s.p[s.len - 1]))
        s.len--;
    return s;
}

/* A token and bytes that are allowed in a value (RFC 9110 section 5). */
static bool is_field(struct mk_str name, struct mk_str value)
{
    for (size_t i = 0; i < name.len; i++) {
        if (name.p[i] <= ' ' || name.p[i] == 127 || strchr("\"(),/:;<=>?@[\\]{}", name.p[i]))
            return false;
    }
    for (size_t i = 0; i < value.len; i++) {
        if (((unsigned char)value.p[i] < ' ' && value.p[i] != '\t') || value.p[i] == 127)
            return false;
    }
    return name.len > 0;
}

static void add_line(struct mk_reply *p, struct mk_request *r, struct mk_str line)
{
    const char *colon = memchr(line.p, ':', line.len);
    const struct mk_str name = {line.p, colon ? (size_t)(colon - line.p) : 0};
    struct mk_str value = {0};

    if (colon)
        value = trim((struct mk_str){colon + 1, line.len - name.len - 1});
    if (!colon || !is_field(name, value))
        mk_request_log(r, MK_LOG_WARN, "a line that the program gave is no header field");
    else if (mk_field_rules(name) & (MK_RULE_MESSAGE | MK_RULE_HOP))
        mk_request_log(r, MK_LOG_WARN, "%.*s of the program left out: the server writes it",
                       (int)name.len, name.p);
    else
        mk_reply_line(p, name, value);
}

int mk_compat_reply(struct mk_request *r, unsigned status, struct mk_str lines, int64_t length)
{
    struct mk_reply p;
    int err;

    if (status < 200 || status > 599)
        return MK_E_INVALID;
    err = mk_reply_begin(&p, r, status);
    if (err < 0)
        return err;
    while (lines.len > 0) {
        const char *end = memchr(lines.p, '\n', lines.len);
        const size_t len = end ? (size_t)(end - lines.p) : lines.len;
        const struct mk_str line = trim((struct mk_str){lines.p, len});

        if (line.len > 0)
            add_line(&p, r, line);
        lines.p += len + (end != NULL);
        lines.len -= len + (end != NULL);
    }
    return mk_reply_end(&p, length);
}
