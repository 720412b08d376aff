/* SPDX-License-Identifier: Apache-2.0 */
#include "web/parameter.h"

#include "base/str.h"

/* A quote ends it, unless a backslash stands before it. @return its length with the quotes; 0: it does not end. */
static size_t quoted_length(struct mk_str text)
{
    for (size_t i = 1; i < text.len; i++) {
        if (text.p[i] == '"')
            return i + 1;
        if (text.p[i] == '\\' && i + 1 < text.len && text.p[i + 1] == '"')
            i++;
    }
    return 0;
}

static size_t token_length(struct mk_str text)
{
    size_t len = 0;

    while (len < text.len && (unsigned char)text.p[len] > ' ' && !strchr(";=\",", text.p[len]))
        len++;
    return len;
}

int mk_parameter_next(struct mk_str *rest, struct mk_str *name, struct mk_str *value)
{
    struct mk_str text = mk_str_trim(*rest);
    size_t len;

    if (text.len == 0)
        return 0;
    if (text.p[0] != ';')
        return MK_E_BAD;
    text = mk_str_trim(mk_str_skip(text, 1));
    len = token_length(text);
    *name = (struct mk_str){text.p, len};
    text = mk_str_skip(text, len);
    if (len == 0 || text.len < 2 || text.p[0] != '=')
        return MK_E_BAD;
    text = mk_str_skip(text, 1);
    len = text.p[0] == '"' ? quoted_length(text) : token_length(text);
    if (len == 0)
        return MK_E_BAD;
    *value = (struct mk_str){text.p, len};
    *rest = mk_str_skip(text, len);
    return 1;
}

struct mk_str mk_parameter_unquoted(struct mk_str value)
{
    return value.p[0] == '"' ? (struct mk_str){value.p + 1, value.len - 2} : value;
}
