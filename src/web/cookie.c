/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/web/cookie.h>

#include "base/str.h"
#include "http/field.h"
#include "kit/text/words.h"

#include <stdio.h>

/* ---- in ---- */

bool mk_cookie_next(struct mk_str *rest, struct mk_str *name, struct mk_str *value)
{
    while (rest && name && value && rest->len > 0) {
        const char *end = memchr(rest->p, ';', rest->len);
        const struct mk_str piece = {rest->p, end ? (size_t)(end - rest->p) : rest->len};
        const struct mk_str pair = mk_str_trim(piece);
        const char *equals = pair.len > 0 ? memchr(pair.p, '=', pair.len) : NULL;

        *rest = mk_str_skip(*rest, piece.len + 1);
        if (pair.len == 0)
            continue;
        *name = (struct mk_str){pair.p, equals ? (size_t)(equals - pair.p) : 0};
        *value = equals ? mk_str_trim(mk_str_skip(pair, name->len + 1)) : pair;
        *name = mk_str_trim(*name);
        return true;
    }
    return false;
}

struct mk_str mk_cookie_value(const struct mk_request *r, struct mk_str wanted)
{
    struct mk_str field, rest, name, value;
    uint32_t at = 0;

    while (r && mk_request_next_header(r, &at, &field, &rest)) {
        if (!mk_str_ieq(field, MK_STR("Cookie")))
            continue;
        while (mk_cookie_next(&rest, &name, &value)) {
            if (mk_str_eq(name, wanted))
                return value;
        }
    }
    return (struct mk_str){NULL, 0};
}

/* ---- out ---- */

static bool has_only(struct mk_str text, const char *excluded)
{
    for (size_t i = 0; i < text.len; i++) {
        const unsigned char c = (unsigned char)text.p[i];

        if (c <= ' ' || c >= 0x7f || strchr(excluded, (char)c))
            return false;
    }
    return true;
}

/* cookie-value, RFC 6265 section 4.1.1: perhaps with quotes around it. */
static bool is_value(struct mk_str value)
{
    if (value.len >= 2 && value.p[0] == '"' && value.p[value.len - 1] == '"')
        value = (struct mk_str){value.p + 1, value.len - 2};
    return has_only(value, "\",;\\");
}

static bool is_path(struct mk_str path)
{
    return path.len > 0 && path.p[0] == '/' && has_only(path, ";");
}

static bool is_domain(struct mk_str domain)
{
    for (size_t i = 0; i < domain.len; i++) {
        const char c = mk_char_lower(domain.p[i]);

        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-' && c != '.')
            return false;
    }
    return domain.len > 0 && domain.p[domain.len - 1] != '.';
}

/* @return why browsers would ignore it, or read it as another one; NULL: they would not. */
static const char *malformed(const struct mk_cookie *c)
{
    const bool is_host = text_begins(c->name, MK_STR("__Host-"));

    if (!mk_field_is_name(c->name))
        return "the name of the cookie is no token";
    if (!is_value(c->value))
        return "the value of the cookie has a byte that is not allowed";
    if (c->path.p && !is_path(c->path))
        return "the path of the cookie is malformed";
    if (c->domain.p && !is_domain(c->domain))
        return "the domain of the cookie is malformed";
    if (c->same_site > MK_SAME_SITE_NONE)
        return "there is no such SameSite";
    if (!c->secure && c->same_site == MK_SAME_SITE_NONE)
        return "SameSite=None needs Secure";
    if (!c->secure && c->partitioned)
        return "Partitioned needs Secure";
    if (!c->secure && (is_host || text_begins(c->name, MK_STR("__Secure-"))))
        return "a cookie of this name needs Secure";
    if (is_host && (c->domain.p || !c->path.p || !mk_str_eq(c->path, MK_STR("/"))))
        return "a __Host- cookie needs the path / and no domain";
    return NULL;
}

struct output {
    char *p;
    size_t len, size;
    bool is_full;
};

static void put(struct output *o, struct mk_str text)
{
    if (o->is_full || text.len > o->size - o->len) {
        o->is_full = true;
        return;
    }
    if (text.len > 0)
        memcpy(o->p + o->len, text.p, text.len);
    o->len += text.len;
}

static void put_attribute(struct output *o, struct mk_str name, struct mk_str value)
{
    if (!value.p)
        return;
    put(o, name);
    put(o, value);
}

static void put_attributes(struct output *o, const struct mk_cookie *c)
{
    static const char *const same_sites[] = {NULL, "Strict", "Lax", "None"};
    char age[24];

    put_attribute(o, MK_STR("; Path="), c->path);
    put_attribute(o, MK_STR("; Domain="), c->domain);
    if (c->has_max_age) {
        int len = snprintf(age, sizeof(age), "%lld", (long long)(c->max_age > 0 ? c->max_age : 0));

        put_attribute(o, MK_STR("; Max-Age="), (struct mk_str){age, (size_t)len});
    }
    put_attribute(o, MK_STR("; SameSite="), mk_str_from(same_sites[c->same_site]));
    put(o, c->secure ? MK_STR("; Secure") : MK_STR(""));
    put(o, c->http_only ? MK_STR("; HttpOnly") : MK_STR(""));
    put(o, c->partitioned ? MK_STR("; Partitioned") : MK_STR(""));
}

ssize_t mk_cookie_write(char *dst, size_t size, const struct mk_cookie *cookie, const char **why)
{
    struct mk_cookie c = {.size = sizeof(c)};
    struct output o = {.p = dst, .size = size};
    const char *reason;

    if (!dst || !cookie) {
        if (why)
            *why = "there is no cookie, or no room for it";
        return MK_E_INVALID;
    }
    memcpy(&c, cookie, cookie->size < sizeof(c) ? cookie->size : sizeof(c));
    reason = malformed(&c);
    if (reason && why)
        *why = reason;
    if (reason)
        return MK_E_INVALID;
    if (c.name.len + c.value.len > MK_COOKIE_PAIR || c.path.len > MK_COOKIE_ATTRIBUTE ||
        c.domain.len > MK_COOKIE_ATTRIBUTE)
        return MK_E_LIMIT;
    put(&o, c.name);
    put(&o, MK_STR("="));
    put(&o, c.value);
    put_attributes(&o, &c);
    return o.is_full ? MK_E_LIMIT : (ssize_t)o.len;
}

int mk_reply_cookie(struct mk_reply *p, const struct mk_cookie *cookie)
{
    char text[MK_COOKIE_PAIR + 2 * MK_COOKIE_ATTRIBUTE + 128];
    const char *why = "a cookie is too large";
    ssize_t len;

    if (!p)
        return MK_E_INVALID;
    len = mk_cookie_write(text, sizeof(text), cookie, &why);
    if (len < 0) {
        mk_request_log(p->r, MK_LOG_ERROR, "%s", why);
        return (int)len;
    }
    mk_reply_line(p, MK_STR("Set-Cookie"), (struct mk_str){text, (size_t)len});
    return 0;
}
