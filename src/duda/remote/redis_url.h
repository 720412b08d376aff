/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_REMOTE_REDIS_URL_H
#define MK_DUDA_REMOTE_REDIS_URL_H

#include <stdbool.h>

/*
 * Where a server of Redis is, in one text: `redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]`. A pure function.
 * `rediss://` is the same with TLS, and `?ca=FILE` at its end names whose certificates are believed.
 *
 * The host is a name, an IPv4 address, or an IPv6 address in brackets. %XX in users and passwords is decoded.
 */

enum {
    REDIS_URL_HOST_MAX = 254, /* with the terminator; RFC 1035 section 2.3.4 */
    REDIS_URL_NAME_MAX = 128, /* of a user, and of a password */
    REDIS_URL_CA_MAX = 1024,  /* of the path of a file */
    REDIS_URL_DB_MAX = 65535,
    REDIS_URL_PORT_USUAL = 6379
};

struct redis_url {
    char host[REDIS_URL_HOST_MAX];                               /* without brackets */
    char user[REDIS_URL_NAME_MAX], password[REDIS_URL_NAME_MAX]; /* "": none */
    char ca[REDIS_URL_CA_MAX];                                   /* "": those of the system */
    unsigned port, db;
    bool is_secure;
};

/** Does the text begin as such a URL does? */
bool redis_url_is(const char *text);

/** Read one. @return what is wrong with it, for people, without its password; NULL: nothing */
const char *redis_url_read(struct redis_url *url, const char *text);

#endif
