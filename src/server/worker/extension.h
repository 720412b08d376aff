/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_WORKER_EXTENSION_H
#define MK_SERVER_WORKER_EXTENSION_H

#include "base/code.h"

#include <stddef.h>

/*
 * What a library above the core keeps for the workers of a server, without the core knowing it: one object of each kind, made when it is
 * first asked for.
 */

struct mk_shared;

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

/** @return their object of this kind; NULL without memory. Any thread. */
MK_INSIDE struct mk_extension *mk_shared_extension(struct mk_shared *shared,
                                                   const struct mk_extension_kind *kind);

/** The end of the server. */
void mk_extensions_free(struct mk_shared *shared);

#endif
