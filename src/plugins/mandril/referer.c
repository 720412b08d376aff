/* SPDX-License-Identifier: Apache-2.0 */
#include "referer.h"

#include "kit/text/words.h"

static bool skip_prefix(struct mk_str *s, struct mk_str prefix)
{
    if (!text_begins(*s, prefix))
        return false;
    s->p += prefix.len;
    s->len -= prefix.len;
    return true;
}

/* How many bytes stand before the first of stops. */
static size_t span_until(struct mk_str s, const char *stops)
{
    size_t n = 0;

    while (n < s.len && !strchr(stops, s.p[n]))
        n++;
    return n;
}

/* An authority without its port; the colons of an IPv6 address stand in brackets. */
static struct mk_str without_port(struct mk_str authority)
{
    const char *bracket =
        authority.len > 0 && authority.p[0] == '[' ? memchr(authority.p, ']', authority.len) : NULL;

    if (bracket)
        authority.len = (size_t)(bracket - authority.p) + 1;
    else
        authority.len = span_until(authority, ":");
    return authority;
}

struct mk_str mandril_url_host(struct mk_str url)
{
    const char *at;

    if (!skip_prefix(&url, MK_STR("http://")) && !skip_prefix(&url, MK_STR("https://")))
        return (struct mk_str){NULL, 0};
    url.len = span_until(url, "/?#\\");
    at = memrchr(url.p, '@', url.len);
    if (at) {
        url.len -= (size_t)(at + 1 - url.p);
        url.p = at + 1;
    }
    return without_port(url);
}

bool mandril_name_matches(struct mk_str name, struct mk_str host)
{
    if (name.len > 2 && name.p[0] == '*' && name.p[1] == '.') {
        const struct mk_str below = {name.p + 1, name.len - 1}; /* with the dot */

        return host.len > below.len &&
               text_begins((struct mk_str){host.p + host.len - below.len, below.len}, below);
    }
    return text_is_word(host, name);
}

bool mandril_comes_from_elsewhere(const struct mk_request *r, const struct mk_words *names)
{
    struct mk_str referer = mk_request_header(r, MK_STR("Referer")), host;
    struct mk_request_facts facts = {.size = sizeof(facts)};

    if (referer.len == 0)
        return false;
    host = mandril_url_host(referer);
    if (host.len == 0)
        return true;
    mk_request_facts(r, &facts);
    if (facts.host.p && mandril_name_matches(without_port(facts.host), host))
        return false;
    for (size_t i = 0; i < names->count; i++) {
        if (mandril_name_matches(names->items[i], host))
            return false;
    }
    return true;
}
