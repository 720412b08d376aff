/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DATA_REDIS_URL_H
#define MK_DATA_REDIS_URL_H

#include "data/remote/place.h"

/*
 * Where a server of Redis is, in one text: `redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE][?connections=N]`. A pure function.
 * `rediss://` is the same with TLS.
 *
 * The host is as in remote/place.h. %XX in users and passwords is decoded.
 */

enum {
    REDIS_URL_NAME_MAX = 128, /* of a user, and of a password */
    REDIS_URL_DB_MAX = 65535,
    REDIS_URL_PORT_USUAL = 6379
};

struct redis_url {
    struct remote_place place;
    char user[REDIS_URL_NAME_MAX], password[REDIS_URL_NAME_MAX]; /* "": none */
    unsigned db;
};

/** Does the text begin as such a URL does? */
bool redis_url_is(const char *text);

/** Read one. @return what is wrong with it, for people, without its password; NULL: nothing */
const char *redis_url_read(struct redis_url *url, const char *text);

#endif
