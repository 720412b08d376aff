/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_RUN_EXTENSION_H
#define MK_SERVER_RUN_EXTENSION_H

#include "base/code.h"

#include <stddef.h>

/*
 * What a library above the core keeps for a server, without the core knowing it: one object of each kind, made when it is
 * first asked for.
 */

struct mk_server;

/** The first member of such an object. */
struct mk_extension {
    struct mk_extension *next;
    const struct mk_extension_kind *kind;
};

/** Told from others by its address. */
struct mk_extension_kind {
    size_t size; /* of the object, which begins zeroed */
    void (*init)(struct mk_extension *e);
    void (*fini)(struct mk_extension
                     *e); /* no thread of the server runs any more, and all posts were delivered */
};

/** @return the server's object of this kind; NULL without memory. Any thread. */
MK_INSIDE struct mk_extension *mk_server_extension(struct mk_server *server,
                                                   const struct mk_extension_kind *kind);

/** The end of the server. */
void mk_extensions_free(struct mk_server *server);

#endif
