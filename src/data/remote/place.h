/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DATA_REMOTE_PLACE_H
#define MK_DATA_REMOTE_PLACE_H

#include <monkey/types.h>

#include <stdbool.h>
#include <stddef.h>

/*
 * Where a server is, in one text, "HOST:PORT" or a URL "SCHEME://HOST[:PORT][?connections=N]".
 * A scheme with an s behind it is the same with TLS. The host is a name, an IPv4 address, or an IPv6 address in brackets.
 * Pure functions.
 */

enum {
    REMOTE_HOST_MAX = 254, /* with the terminator; RFC 1035 section 2.3.4 */
    REMOTE_TEXT_MAX = REMOTE_HOST_MAX + 8,
    REMOTE_CONNECTIONS_MAX = 1024
};

struct remote_place {
    char host[REMOTE_HOST_MAX]; /* without brackets */
    char text[REMOTE_TEXT_MAX]; /* "HOST:PORT", the host as it was written */
    unsigned port;
    unsigned connections; /* to it, over all workers; 0: the text does not say */
    bool is_secure;
};

struct remote_scheme {
    const char *name; /* "memcached" */
    unsigned port;    /* unless a URL says it; other texts must */
};

/** Read a text of len bytes. @return what is wrong with it, for people; NULL: nothing */
const char *remote_place_read(struct remote_place *p, const char *text, size_t len,
                              const struct remote_scheme *scheme);

/* ---- parts, for URLs that have more ---- */

/** Take "SCHEME://" or "SCHEMEs://" off the front. @return false: it does not begin so, and nothing is taken */
bool remote_scheme_take(struct mk_str *s, const char *scheme, bool *is_secure);

/** Read "HOST[:PORT]" into a place. @param port  where the text has none; 0: it must have one. @return as remote_place_read() */
const char *remote_place_read_host(struct remote_place *p, struct mk_str s, unsigned port);

/** Read what stands after "?". @param s  p NULL: there is no "?". @return likewise */
const char *remote_place_read_options(struct remote_place *p, struct mk_str s);

/** @return whether the host is an address, and no name */
bool remote_place_is_numeric(const struct remote_place *p);

/** @return whether both texts name one server, as far as can be seen without a look-up */
bool remote_place_is_same(const struct remote_place *a, const struct remote_place *b);

#endif
