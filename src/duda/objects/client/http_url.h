/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_HTTP_URL_H
#define MK_DUDA_OBJECTS_HTTP_URL_H

#include <monkey/types.h>

#include <stdbool.h>

/* URLs of http and https: RFC 3986, RFC 9110 section 4.2. Pure functions. */

enum { HTTP_URL_MAX = 8192, HTTP_HOST_MAX = 255 };

/** The parts of a URL, borrowed from its text. */
struct http_url {
    struct mk_str origin;    /* "http://[::1]:81" */
    struct mk_str authority; /* "[::1]:81", as in the field Host */
    struct mk_str host;      /* "::1" */
    struct mk_str target; /* path and query, without the fragment; may be empty or begin with `?` */
    unsigned port;
    bool is_secure;
};

/**
 * @param text  borrowed
 * @return false: it is no URL of http or https, has a user, bytes that are not printable ASCII, or more than HTTP_URL_MAX
 */
bool http_url_read(struct http_url *u, struct mk_str text) MK_MUST_USE;

/** Do both lead to the same server? RFC 6454 section 5 */
bool http_url_is_same_origin(const struct http_url *a, const struct http_url *b);

/**
 * Resolve a reference, such as the value of Location: RFC 3986 section 5.2.
 * @param dst  room for HTTP_URL_MAX bytes
 * @return bytes of the URL, which http_url_read still judges; 0: it is longer
 */
size_t http_url_join(const struct http_url *base, struct mk_str reference, char *dst) MK_MUST_USE;

#endif
