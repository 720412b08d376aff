/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/client/http_url.h"

#include "kit/pure/number.h"
#include "kit/text/words.h"

#include <string.h>

enum { PORT_HTTP = 80, PORT_HTTPS = 443, PORT_MAX = 65535 };

static struct mk_str skip(struct mk_str text, size_t n)
{
    return (struct mk_str){text.p + n, text.len - n};
}

/* Of a few: a loop costs less than a call. */
static inline bool is_one_of(char c, const char *few)
{
    while (*few && *few != c)
        few++;
    return *few;
}

/* @return bytes before the first of these, or a NUL; all where there is none */
static size_t span_until(struct mk_str text, const char *stops)
{
    size_t n = 0;

    while (n < text.len && text.p[n] && !is_one_of(text.p[n], stops))
        n++;
    return n;
}

static bool is_printable(struct mk_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.p[i] <= ' ' || text.p[i] > '~')
            return false;
    }
    return true;
}

/* ---- the authority ---- */

static bool is_alphanumeric(char c)
{
    return (c >= '0' && c <= '9') || (text_lower(c) >= 'a' && text_lower(c) <= 'z');
}

/* Letters of names and of IPv4; of IPv6 in brackets. */
static bool is_host(struct mk_str host, const char *others)
{
    if (host.len == 0 || host.len > HTTP_HOST_MAX)
        return false;
    for (size_t i = 0; i < host.len; i++) {
        if (!is_alphanumeric(host.p[i]) && !is_one_of(host.p[i], others))
            return false;
    }
    return true;
}

/* "" or ":81" */
static bool read_port(struct http_url *u, struct mk_str text)
{
    if (text.len > 0 && text.p[0] != ':')
        return false;
    if (text.len <= 1) {
        u->port = u->is_secure ? PORT_HTTPS : PORT_HTTP;
        return true;
    }
    u->port = number_of(skip(text, 1), PORT_MAX);
    return u->port > 0;
}

static bool read_authority(struct http_url *u)
{
    const struct mk_str a = u->authority;
    size_t end;

    if (a.len > 0 && a.p[0] == '[') {
        end = span_until(a, "]");
        if (end == a.len)
            return false;
        u->host = (struct mk_str){a.p + 1, end - 1};
        return is_host(u->host, ":.") && memchr(u->host.p, ':', u->host.len) &&
               read_port(u, skip(a, end + 1));
    }
    end = span_until(a, ":");
    u->host = (struct mk_str){a.p, end};
    return is_host(u->host, "-._") && read_port(u, skip(a, end));
}

bool http_url_read(struct http_url *u, struct mk_str text)
{
    static const struct mk_str schemes[] = {MK_STR_INIT("http://"), MK_STR_INIT("https://")};
    const size_t secure = text_begins(text, schemes[1]);
    const size_t scheme = schemes[secure].len;

    *u = (struct http_url){.is_secure = secure};
    if (text.len > HTTP_URL_MAX || !text_begins(text, schemes[secure]) || !is_printable(text))
        return false;
    u->authority = skip(text, scheme);
    u->authority.len = span_until(u->authority, "/?#");
    u->origin = (struct mk_str){text.p, scheme + u->authority.len};
    u->target = skip(text, u->origin.len);
    u->target.len = span_until(u->target, "#");
    return read_authority(u);
}

bool http_url_is_same_origin(const struct http_url *a, const struct http_url *b)
{
    return a->is_secure == b->is_secure && a->port == b->port && text_is_word(a->host, b->host);
}

/* ---- references ---- */

static bool has_scheme(struct mk_str reference)
{
    const size_t n = span_until(reference, ":/?#");

    return n > 0 && n < reference.len && reference.p[n] == ':';
}

/* A path without segments "." and "..": RFC 3986 section 5.2.4. In place. @return its bytes */
static size_t remove_dots(char *path, size_t len)
{
    size_t out = 0;

    for (size_t at = 0; at < len;) {
        const struct mk_str rest = {path + at + 1, len - at - 1};
        const size_t segment = span_until(rest, "/");
        const bool is_last = segment == rest.len;

        if (segment == 1 && rest.p[0] == '.') {
            if (is_last)
                path[out++] = '/';
        } else if (segment == 2 && rest.p[0] == '.' && rest.p[1] == '.') {
            while (out > 0 && path[--out] != '/')
                continue;
            if (is_last)
                path[out++] = '/';
        } else {
            memmove(path + out, path + at, segment + 1);
            out += segment + 1;
        }
        at += segment + 1;
    }
    return out;
}

/* The path of the base up to its last slash; all of it for a reference of a query alone. */
static struct mk_str base_path(const struct http_url *base, struct mk_str reference)
{
    struct mk_str path = base->target;
    bool is_whole = reference.len == 0 || reference.p[0] == '?';

    if (reference.len == 0)
        return path;
    path.len = span_until(path, "?");
    while (!is_whole && path.len > 0 && path.p[path.len - 1] != '/')
        path.len--;
    return path.len > 0 ? path : MK_STR("/");
}

static size_t put(char *dst, size_t at, struct mk_str text)
{
    if (text.len > 0)
        memcpy(dst + at, text.p, text.len);
    return at + text.len;
}

size_t http_url_join(const struct http_url *base, struct mk_str reference, char *dst)
{
    struct mk_str before = {NULL, 0}, path, query;
    size_t at = 0, clean;

    reference.len = span_until(reference, "#");
    if (base->origin.len + base->target.len + reference.len + 1 > HTTP_URL_MAX)
        return 0;
    if (has_scheme(reference))
        return put(dst, 0, reference);
    if (text_begins(reference, MK_STR("//")))
        return put(dst, put(dst, 0, base->is_secure ? MK_STR("https:") : MK_STR("http:")),
                   reference);
    if (reference.len == 0 || reference.p[0] != '/')
        before = base_path(base, reference);
    at = put(dst, 0, base->origin);
    clean = put(dst, at, before);
    clean = put(dst, clean, reference) - at;
    path = (struct mk_str){dst + at, clean};
    query = skip(path, span_until(path, "?"));
    if (path.len == query.len) /* an empty path */
        return at + clean;
    clean = remove_dots(dst + at, path.len - query.len);
    memmove(dst + at + clean, query.p, query.len);
    return at + clean + query.len;
}
