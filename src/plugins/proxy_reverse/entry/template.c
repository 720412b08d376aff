/* SPDX-License-Identifier: Apache-2.0 */
#include "entry/template.h"

#include <ctype.h>

static const char *const variable_names[] = {"remote_addr", "scheme", "host",  "http_host",
                                             "server_port", "uri",    "query", "args"};

static bool is_variable_name(struct mk_str text, const char *name)
{
    return text.len == strlen(name) && memcmp(text.p, name, text.len) == 0;
}

struct mk_str proxy_template_next(struct mk_str *rest, struct mk_str *name)
{
    struct mk_str piece = *rest;
    size_t len = 0;

    *name = (struct mk_str){NULL, 0};
    if (piece.p[0] != '$') {
        while (len < piece.len && piece.p[len] != '$')
            len++;
    } else if (piece.len > 1 && piece.p[1] == '$') {
        *rest = (struct mk_str){piece.p + 2, piece.len - 2};
        return (struct mk_str){piece.p, 1};
    } else {
        for (len = 1; len < piece.len; len++) {
            if (!isalnum((unsigned char)piece.p[len]) && piece.p[len] != '_' &&
                piece.p[len] != '{' && piece.p[len] != '}')
                break;
        }
        *name = (struct mk_str){piece.p + 1, len - 1};
    }
    *rest = (struct mk_str){piece.p + len, piece.len - len};
    return (struct mk_str){piece.p, len};
}

bool proxy_is_variable(struct mk_str name)
{
    for (size_t i = 0; i < sizeof(variable_names) / sizeof(variable_names[0]); i++) {
        if (is_variable_name(name, variable_names[i]))
            return true;
    }
    return false;
}
