/* SPDX-License-Identifier: Apache-2.0 */
#include "data/remote/place.h"
#include "data/remote/address.h"
#include "data/remote/take.h"

#include "kit/pure/number.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { DIGITS_MAX = 5 };

/* @return 0: it is no number from 1 to max, or has more digits than a port */
static unsigned short_number(struct mk_str s, unsigned max)
{
    return s.len <= DIGITS_MAX ? number_of(s, max) : 0;
}

/* @return AF_INET or AF_INET6, with its bytes; 0: a name */
static int family_of(const char *host, unsigned char bytes[16])
{
    if (inet_pton(AF_INET, host, bytes) == 1)
        return AF_INET;
    return inet_pton(AF_INET6, host, bytes) == 1 ? AF_INET6 : 0;
}

static bool set_host(struct remote_place *p, struct mk_str host, bool is_v6)
{
    unsigned char bytes[16];

    if (host.len == 0 || host.len >= sizeof(p->host) || memchr(host.p, '\0', host.len))
        return false;
    memcpy(p->host, host.p, host.len);
    p->host[host.len] = '\0';
    if (is_v6)
        return family_of(p->host, bytes) == AF_INET6;
    return family_of(p->host, bytes) == AF_INET || host_is_name(p->host);
}

const char *remote_place_read_host(struct remote_place *p, struct mk_str s, unsigned port)
{
    const bool is_v6 = remote_take(&s, "[");
    struct mk_str rest = remote_cut(&s, is_v6 ? ']' : ':');
    const bool has_port = is_v6 ? rest.p && remote_take(&rest, ":") : rest.p != NULL;

    if (is_v6 && (!rest.p || (!has_port && rest.len > 0)))
        return "an IPv6 address stands in brackets";
    if (!set_host(p, s, is_v6))
        return "it names no host";
    p->port = has_port ? short_number(rest, 65535) : port;
    if (p->port == 0)
        return "a port is a number up to 65535";
    (void)snprintf(p->text, sizeof(p->text), is_v6 ? "[%s]:%u" : "%s:%u", p->host, p->port);
    return NULL;
}

const char *remote_place_read_options(struct remote_place *p, struct mk_str s)
{
    if (!s.p)
        return NULL;
    p->connections = remote_take(&s, "connections=") ? short_number(s, REMOTE_CONNECTIONS_MAX) : 0;
    return p->connections > 0 ? NULL : "behind ? may be connections= with a number up to 1024";
}

bool remote_scheme_take(struct mk_str *s, const char *scheme, bool *is_secure)
{
    struct mk_str rest = *s;

    if (!remote_take(&rest, scheme))
        return false;
    *is_secure = remote_take(&rest, "s");
    if (!remote_take(&rest, "://"))
        return *is_secure = false;
    *s = rest;
    return true;
}

const char *remote_place_read(struct remote_place *p, const char *text, size_t len,
                              const struct remote_scheme *scheme)
{
    struct mk_str s = {text, len}, options;
    const char *why;

    *p = (struct remote_place){.port = 0};
    if (!remote_scheme_take(&s, scheme->name, &p->is_secure))
        return remote_place_read_host(p, s, 0);
    options = remote_cut(&s, '?');
    why = remote_place_read_host(p, s, scheme->port);
    return why ? why : remote_place_read_options(p, options);
}

bool remote_place_is_numeric(const struct remote_place *p)
{
    unsigned char bytes[16];

    return family_of(p->host, bytes) != 0;
}

bool remote_place_is_same(const struct remote_place *a, const struct remote_place *b)
{
    unsigned char x[16], y[16];
    const int family = family_of(a->host, x);

    if (a->port != b->port)
        return false;
    if (strcasecmp(a->host, b->host) == 0)
        return true;
    return family != 0 && family_of(b->host, y) == family &&
           memcmp(x, y, family == AF_INET ? 4 : 16) == 0;
}
