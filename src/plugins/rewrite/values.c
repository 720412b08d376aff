/* SPDX-License-Identifier: Apache-2.0 */
#include "values.h"

#include "kit/text/percent.h"
#include "kit/text/words.h"

#include <string.h>

/* RFC 3986 section 3.2.2: "a.test" of "a.test:8080", "[::1]" of "[::1]:8080". */
static struct mk_str name_of(struct mk_str host)
{
    const char *end = host.len > 0 && host.p[0] == '[' ? memchr(host.p, ']', host.len) : NULL;
    const char *colon;

    if (end)
        return (struct mk_str){host.p, (size_t)(end - host.p) + 1};
    colon = host.len > 0 ? memchr(host.p, ':', host.len) : NULL;
    return (struct mk_str){host.p, colon ? (size_t)(colon - host.p) : host.len};
}

static struct mk_str port_of(const char *listen)
{
    const char *colon = strrchr(listen, ':');

    return mk_str_from(colon && !strchr(colon, '/') ? colon + 1 : "");
}

/* RFC 9112 section 3.2: "http://a.test/x" asks for "/x", and "*" for none. */
static struct mk_str without_origin(struct mk_str target)
{
    const char *scheme = memmem(target.p, target.len, "://", 3), *at;
    const char *end = target.p + target.len;

    if (target.len > 0 && target.p[0] == '/')
        return target;
    at = scheme ? scheme + 3 : end;
    while (at < end && *at != '/' && *at != '?')
        at++;
    return (struct mk_str){at, (size_t)(end - at)};
}

void rewrite_values_of(struct values *v, struct mk_request *r)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};
    struct mk_conn_facts conn = {.size = sizeof(conn)};
    struct mk_str *of = v->of_target.by_kind;

    mk_request_facts(r, &facts);
    mk_conn_facts(facts.conn, &conn);
    memset(&v->of_target, 0, sizeof(v->of_target));
    v->host = facts.host;
    of[TARGET_PATH] = facts.path;
    of[TARGET_URI] = without_origin(facts.target);
    of[TARGET_QUERY] = facts.query;
    /* RFC 9112 section 3.2: HTTP/1.0 needs no Host */
    of[TARGET_HOST] = facts.host.len > 0 ? name_of(facts.host) : mk_str_from(facts.site_name);
    of[TARGET_SCHEME] = mk_str_from(facts.scheme);
    of[TARGET_ADDRESS] = (struct mk_str){v->address, mk_conn_peer(facts.conn, v->address)};
    of[TARGET_PORT] = port_of(conn.listen ? conn.listen : "");
}

/* @return whether text began with it, which is taken away. */
static bool take(struct mk_str *text, struct mk_str beginning)
{
    if (!text_begins(*text, beginning))
        return false;
    *text = (struct mk_str){text->p + beginning.len, text->len - beginning.len};
    return true;
}

/* RFC 9110 section 4.2.3: the same with or without the port of the scheme, and with a slash or nothing after it. */
static bool take_origin(struct mk_str *location, const struct values *v)
{
    const bool is_secure = text_is(v->of_target.by_kind[TARGET_SCHEME], MK_STR("https"));
    const struct mk_str own_port = is_secure ? MK_STR(":443") : MK_STR(":80");

    if (!take(location, v->of_target.by_kind[TARGET_SCHEME]) || !take(location, MK_STR("://")))
        return false;
    if (take(location, v->host))
        return true;
    if (!take(location, v->of_target.by_kind[TARGET_HOST]))
        return false;
    return text_is(v->host, v->of_target.by_kind[TARGET_HOST]) ||
           (v->host.len == v->of_target.by_kind[TARGET_HOST].len + own_port.len &&
            memcmp(v->host.p + v->host.len - own_port.len, own_port.p, own_port.len) == 0);
}

/* @return the next byte of an encoded text, decoded; -1: there is none. */
static int next_byte(struct mk_str *s)
{
    const bool is_code = s->len > 2 && s->p[0] == '%';
    const int high = is_code ? text_hex_digit(s->p[1]) : -1,
              low = is_code ? text_hex_digit(s->p[2]) : -1;
    const size_t len = high >= 0 && low >= 0 ? 3 : 1;
    int byte;

    if (s->len == 0)
        return -1;
    byte = len > 1 ? high * 16 + low : (unsigned char)s->p[0];
    *s = (struct mk_str){s->p + len, s->len - len};
    return byte;
}

/* @param path  decoded, as requests' paths are: of several slashes it has one */
static bool is_path(struct mk_str location, struct mk_str path)
{
    int byte, before = 0;

    while ((byte = next_byte(&location)) >= 0) {
        if (byte == '/' && before == '/')
            continue;
        if (path.len == 0 || byte != (unsigned char)path.p[0])
            return false;
        path = (struct mk_str){path.p + 1, path.len - 1};
        before = byte;
    }
    return path.len == 0;
}

static bool is_query(struct mk_str a, struct mk_str b)
{
    int byte;

    do {
        byte = next_byte(&a);
        if (byte != next_byte(&b))
            return false;
    } while (byte >= 0);
    return true;
}

bool rewrite_values_lead_here(const struct values *v, struct mk_str location)
{
    const struct mk_str *of = v->of_target.by_kind;
    struct mk_str query, path;

    if (location.len > 0 && location.p[0] != '/' && !take_origin(&location, v))
        return false;
    query = text_cut(&location, '#'); /* a fragment is the client's own */
    if (text_is(query, of[TARGET_URI]))
        return true;
    path = text_cut(&query, '?');
    return is_path(path.len > 0 ? path : MK_STR("/"), of[TARGET_PATH]) &&
           is_query(query, of[TARGET_QUERY]);
}
