/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/variables.h"

#include <ctype.h>
#include <stdio.h>

static const char *const names[] = {"remote_addr", "scheme", "host",  "http_host",
                                    "server_port", "uri",    "query", "args"};

static bool is_name(struct mk_str text, const char *name)
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
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (is_name(name, names[i]))
            return true;
    }
    return false;
}

/* Without its port; brackets stay. */
static struct mk_str host_alone(struct mk_str host)
{
    const char *colon = host.p ? memrchr(host.p, ':', host.len) : NULL;

    if (colon && !memchr(colon, ']', (size_t)(host.p + host.len - colon)))
        host.len = (size_t)(colon - host.p);
    return host;
}

struct mk_str proxy_variable(struct mk_str name, const struct proxy_request *q,
                             char scratch[PROXY_PORT_TEXT], bool *is_path)
{
    *is_path = false;
    if (is_name(name, "remote_addr"))
        return q->peer.len > 0 ? q->peer : MK_STR("unknown");
    if (is_name(name, "scheme"))
        return mk_str_from(q->scheme);
    if (is_name(name, "host"))
        return host_alone(q->host);
    if (is_name(name, "http_host"))
        return q->host;
    if (is_name(name, "query") || is_name(name, "args"))
        return q->query;
    if (is_name(name, "server_port")) {
        int len = snprintf(scratch, PROXY_PORT_TEXT, "%u", q->port);

        return (struct mk_str){scratch, q->port > 0 && len > 0 ? (size_t)len : 0};
    }
    *is_path = true;
    return q->path;
}
