/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DATA_REMOTE_BACKEND_H
#define MK_DATA_REMOTE_BACKEND_H

#include "data/remote/place.h"

#include <monkey/upstream.h>

/**
 * What streams to a place need, for mk_upstream_new(); the caller adds bounds and times.
 * @param name  of the server's certificate; NULL: its host. @param tls  the transport of places with TLS
 */
static inline struct mk_upstream_options remote_backend(const struct remote_place *place,
                                                        const char *name, const char *tls)
{
    struct mk_upstream_options options = {
        .size = sizeof(options), .host = place->host, .port = place->port};

    if (place->is_secure) {
        options.transport = tls;
        options.name = name ? name : place->host;
    }
    return options;
}

#endif
