/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MONKEY_WEB_COOKIE_H
#define MONKEY_WEB_COOKIE_H

/* Cookies as a server reads and sets them (RFC 6265, and the browsers' rules of its revision, draft-ietf-httpbis-rfc6265bis). */

#include <monkey/request.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Bounds that browsers have, in bytes: of name and value together, and of one attribute. */
enum { MK_COOKIE_PAIR = 4096, MK_COOKIE_ATTRIBUTE = 1024 };

/**
 * Cut the next cookie off the value of a Cookie field.
 * @param rest   in: the value, or the rest of it; out: what follows
 * @param name   out: borrowed; empty for a cookie without `=`, whose value is all of it
 * @param value  out: as sent, with the quotes that it may have
 * @return false: there is none. Any thread.
 */
MK_API bool mk_cookie_next(struct mk_str *rest, struct mk_str *name, struct mk_str *value);

/**
 * The first cookie of that name in a request. Names are case-sensitive. A browser sends the cookie with the longest path first; another
 * site of the same domain may have set one of this name too, unless the name begins with `__Host-`.
 * @return its value, as sent, valid as long as the request's fields; {NULL, 0}: absent.
 */
MK_API struct mk_str mk_cookie_value(const struct mk_request *r, struct mk_str name);

enum mk_same_site {
    MK_SAME_SITE_UNSAID, /* the browser's default, mostly Lax */
    MK_SAME_SITE_STRICT,
    MK_SAME_SITE_LAX,
    MK_SAME_SITE_NONE, /* needs Secure */
};

/** A cookie to set. */
struct mk_cookie {
    size_t size;        /* sizeof(struct mk_cookie) */
    struct mk_str name; /* a token */
    struct mk_str
        value; /* no blanks, commas, semicolons, backslashes, quotes except around it, control and non-ASCII bytes */
    struct mk_str path;   /* begins with a slash; p NULL: the folder of the request's path */
    struct mk_str domain; /* and its subdomains; p NULL: this host only */
    bool has_max_age;     /* otherwise until the browser is closed */
    int64_t max_age;      /* seconds; 0 or less: delete it */
    enum mk_same_site same_site;
    bool secure, http_only;
    bool partitioned; /* by top-level site; needs Secure */
};

/**
 * Write the value of a Set-Cookie field, without a terminator. Cookies that browsers would ignore are refused: SameSite=None or
 * Partitioned without Secure, a name `__Secure-...` without Secure, `__Host-...` without Secure or without the path "/" or
 * with a domain (names in any case).
 * @param why  out: for MK_E_INVALID a sentence, static; NULL: not wanted
 * @return bytes written; MK_E_INVALID: the cookie is malformed or would be ignored; MK_E_LIMIT: it is larger than the bounds
 *         above, or than size. Any thread.
 */
MK_API ssize_t mk_cookie_write(char *dst, size_t size, const struct mk_cookie *cookie,
                               const char **why) MK_MUST_USE;

/** Add a Set-Cookie line to a head that is being written. A cookie that mk_cookie_write refuses is logged. @return 0 or its error. */
MK_API int mk_reply_cookie(struct mk_reply *p, const struct mk_cookie *cookie);

#ifdef __cplusplus
}
#endif

#endif
