/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/variables.h"

#include <stdio.h>

static bool is_name(struct mk_str text, const char *name)
{
    return text.len == strlen(name) && memcmp(text.p, name, text.len) == 0;
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
