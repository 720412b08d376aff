/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/back.h"

#include "kit/text/words.h"

#include <string.h>

static struct mk_str skip(struct mk_str text, size_t n)
{
    return (struct mk_str){text.p + n, text.len - n};
}

static bool begins(struct mk_str text, struct mk_str beginning)
{
    return text.len >= beginning.len && memcmp(text.p, beginning.p, beginning.len) == 0;
}

static size_t put(char *dst, size_t at, struct mk_str text)
{
    if (text.len > 0)
        memcpy(dst + at, text.p, text.len);
    return at + text.len;
}

/* ---- paths ---- */

static struct mk_str without_slash(struct mk_str path)
{
    if (path.len > 1 && path.p[path.len - 1] == '/')
        path.len--;
    return path;
}

/* "/v1/x?y" below "/v1/" becomes "/api/x?y", and "/v1" becomes "/api". @return bytes; 0: it is not below. */
static size_t put_path(const struct proxy_back *b, struct mk_str path, char *dst, size_t at)
{
    const struct mk_str bare = without_slash(b->to);

    if (begins(path, b->to))
        return put(dst, put(dst, at, b->from), skip(path, b->to.len));
    if (b->to.len > 1 && begins(path, bare) &&
        (path.len == bare.len || memchr("?#", path.p[bare.len], 2)))
        return put(dst, put(dst, at, without_slash(b->from)), skip(path, bare.len));
    return 0;
}

/* ---- URLs ---- */

/* "http://host" of a URL: RFC 3986 section 3. @return its bytes up to the path; 0: it has none. */
static size_t origin_len(struct mk_str url, struct mk_str *authority)
{
    static const struct mk_str schemes[] = {MK_STR_INIT("http://"), MK_STR_INIT("https://")};

    for (size_t i = 0; i < 2; i++) {
        size_t len = schemes[i].len;

        if (url.len < len || !text_is_word((struct mk_str){url.p, len}, schemes[i]))
            continue;
        while (len < url.len && !memchr("/?#", url.p[len], 3))
            len++;
        *authority = skip((struct mk_str){url.p, len}, schemes[i].len);
        return len;
    }
    return 0;
}

/* The ports of http and https say nothing: RFC 9110 section 4.2.3. */
static struct mk_str without_port(struct mk_str authority)
{
    static const struct mk_str ports[] = {MK_STR_INIT(":80"), MK_STR_INIT(":443")};

    for (size_t i = 0; i < 2; i++) {
        if (authority.len > ports[i].len &&
            text_is(skip(authority, authority.len - ports[i].len), ports[i]))
            authority.len -= ports[i].len;
    }
    return authority;
}

static bool is_same(struct mk_str authority, struct mk_str other)
{
    return other.len > 0 && text_is_word(without_port(authority), without_port(other));
}

static bool is_backend(const struct proxy_back *b, struct mk_str authority)
{
    return is_same(authority, b->authority) || is_same(authority, b->told);
}

static size_t put_url(const struct proxy_back *b, struct mk_str url, char *dst, size_t at)
{
    struct mk_str authority = {NULL, 0};
    const size_t origin = origin_len(url, &authority);
    struct mk_str path = skip(url, origin);

    if (origin == 0)
        return begins(url, MK_STR("//")) ? 0 : put_path(b, url, dst, at);
    if (path.len == 0)
        path = MK_STR("/");
    if (!is_backend(b, authority) && !is_same(authority, b->host))
        return 0;
    if (!is_backend(b, authority))
        at = put(dst, at, (struct mk_str){url.p, origin});
    return put_path(b, path, dst, at);
}

/* "5; url=/x", which browsers take with quotes too. */
static size_t put_refresh(const struct proxy_back *b, struct mk_str value, char *dst)
{
    struct mk_str rest = value, seconds = text_cut(&rest, ';'), url, end;
    size_t at, len;

    if (seconds.len == value.len)
        return 0;
    url = text_trim(rest);
    if (url.len < 4 || !text_is_word((struct mk_str){url.p, 4}, MK_STR("url=")))
        return 0;
    url = skip(url, 4);
    if (url.len > 1 && (url.p[0] == '"' || url.p[0] == '\''))
        url = skip(url, 1);
    end = url;
    while (url.len > 0 && (url.p[url.len - 1] == '"' || url.p[url.len - 1] == '\''))
        url.len--;
    at = put(dst, 0, (struct mk_str){value.p, (size_t)(url.p - value.p)});
    len = put_url(b, url, dst, at);
    return len > 0 ? put(dst, len, skip(end, url.len)) : 0;
}

/* ---- cookies: RFC 6265 section 4.1.2 ---- */

/* A path above all of the backend's is the beginning of what clients ask of it. */
static size_t put_cookie_path(const struct proxy_back *b, struct mk_str path, char *dst, size_t at)
{
    if (path.len == 0 || path.p[0] != '/')
        return 0;
    if (begins(path, b->to) && path.len > b->to.len)
        return put_path(b, path, dst, at);
    return begins(b->to, path) || begins(path, b->to) ? put(dst, at, without_slash(b->from)) : 0;
}

static bool is_of_backend(const struct proxy_back *b, struct mk_str domain)
{
    struct mk_str authority = b->authority, told = b->told;

    if (domain.len > 0 && domain.p[0] == '.')
        domain = skip(domain, 1);
    authority = text_cut(&authority, ':');
    told = text_cut(&told, ':');
    return domain.len > 0 && (text_is_word(domain, authority) || text_is_word(domain, told));
}

/* @return where the output ends. @param changed  set where it is not what came */
static size_t put_attribute(const struct proxy_back *b, struct mk_str attribute, char *dst,
                            size_t at, bool *changed)
{
    struct mk_str value = attribute, name = text_trim(text_cut(&value, '='));
    const size_t sign = put(dst, at, MK_STR(";"));
    size_t end = 0;

    value = text_trim(value);
    if (text_is_word(name, MK_STR("Domain")) && is_of_backend(b, value)) {
        *changed = true;
        return at;
    }
    if (text_is_word(name, MK_STR("Path")))
        end = put_cookie_path(b, value, dst, put(dst, sign, MK_STR(" Path=")));
    *changed = *changed || end > 0;
    return end > 0 ? end : put(dst, sign, attribute);
}

static size_t put_cookie(const struct proxy_back *b, struct mk_str value, char *dst)
{
    struct mk_str rest = value, pair = text_cut(&rest, ';');
    bool changed = false;
    size_t at = put(dst, 0, pair);

    for (bool more = pair.len < value.len; more;) {
        const struct mk_str before = rest, attribute = text_cut(&rest, ';');

        at = put_attribute(b, attribute, dst, at, &changed);
        more = attribute.len < before.len;
    }
    return changed ? at : 0;
}

/* ---- fields ---- */

static const struct {
    struct mk_str name;
    enum back_kind { BACK_URL, BACK_REFRESH, BACK_COOKIE } kind;
} fields[] = {
    {MK_STR_INIT("Location"), BACK_URL},
    {MK_STR_INIT("Content-Location"), BACK_URL},
    {MK_STR_INIT("Refresh"), BACK_REFRESH},
    {MK_STR_INIT("Set-Cookie"), BACK_COOKIE},
};

static int kind_of(struct mk_str name)
{
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        if (text_is_word(name, fields[i].name))
            return (int)fields[i].kind;
    }
    return -1;
}

bool proxy_back_knows(struct mk_str name)
{
    return kind_of(name) >= 0;
}

/* Each attribute of a cookie may be a path; other values have one. */
size_t proxy_back_room(const struct proxy_back *b, struct mk_str value)
{
    size_t attributes = 1;

    for (size_t i = 0; i < value.len; i++)
        attributes += value.p[i] == ';';
    return value.len + attributes * (b->from.len + sizeof("; Path="));
}

size_t proxy_back_value(const struct proxy_back *b, struct mk_str name, struct mk_str value,
                        char *dst)
{
    switch (kind_of(name)) {
    case BACK_URL:
        return put_url(b, value, dst, 0);
    case BACK_REFRESH:
        return put_refresh(b, value, dst);
    case BACK_COOKIE:
        return put_cookie(b, value, dst);
    default:
        return 0;
    }
}
