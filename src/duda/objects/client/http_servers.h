/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_HTTP_SERVERS_H
#define MK_DUDA_OBJECTS_HTTP_SERVERS_H

#include "objects/client/http_url.h"

#include <monkey/upstream.h>

/* The servers that a service asks on one worker, each with its kept connections. Zeroed at first. */

enum {
    HTTP_SERVERS_MAX = 64,
    HTTP_CONNECTIONS_MAX = 64, /* to each of them */
    HTTP_IDLE_MAX = 16,
    HTTP_CONNECT_MS = 5000,
    HTTP_IDLE_MS = 15000
};

struct http_server {
    struct mk_upstream *upstream;
    unsigned users;     /* calls */
    uint64_t used;      /* the greater, the later */
    struct http_url at; /* its texts are behind it */
    char origin[];
};

struct http_servers {
    struct http_server *items[HTTP_SERVERS_MAX];
    unsigned count;
    uint64_t clock;
};

/**
 * The server of a URL, for one call more. Another one that no call uses makes room.
 * @param tls  the transport of https; NULL: there is none
 * @return 0; MK_E_UNSUPPORTED: https without a transport; MK_E_BUSY: all of them are in use; MK_E_NOMEM
 */
int http_servers_get(struct http_servers *all, struct mk_worker *w, const char *tls,
                     const struct http_url *url, struct http_server **server) MK_MUST_USE;
/** The call is over. NULL is allowed. */
void http_servers_put(struct http_server *server);
/** No call uses any. */
void http_servers_fini(struct http_servers *all);

#endif
