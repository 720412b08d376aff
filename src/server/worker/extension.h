/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_WORKER_EXTENSION_H
#define MK_SERVER_WORKER_EXTENSION_H

#include "base/code.h"

#include <stddef.h>

/*
 * What the workers of a server have only if somebody asks for it, in libraries above the core as well: one object of each
 * kind, made when it is first asked for.
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
    /* NULL, or: the workers' threads have ended. What is posted in it, and before, is still run. */
    void (*end)(struct mk_extension *e);
    /* All posts were run. */
    void (*fini)(struct mk_extension *e);
};

/** @return their object of this kind; NULL without memory. Any thread. */
MK_INSIDE struct mk_extension *mk_shared_extension(struct mk_shared *shared,
                                                   const struct mk_extension_kind *kind);

/** The two steps of the server's end. */
void mk_extensions_end(struct mk_shared *shared);
void mk_extensions_free(struct mk_shared *shared);

#endif
