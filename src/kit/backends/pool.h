/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_BACKENDS_POOL_H
#define KIT_BACKENDS_POOL_H

#include "kit/counted/counted.h"

#include <monkey/upstream.h>

struct uploads;

/*
 * The connections to one backend, and the uploads that hold some of them. A pool belongs to no configuration: each of them
 * that would make the connections in the same way has a reference, as has whatever outlives a configuration.
 */
struct backend_pool {
    struct mk_upstream *upstream;
    struct uploads *uploads;            /* that hold its connections */
    struct mk_upstream_options options; /* its texts are behind the pool */
    struct counted refs;
};

/** @param like  texts are copied. @return it with one reference; NULL without memory. Control thread. */
struct backend_pool *backend_pool_new(struct mk_server *server,
                                      const struct mk_upstream_options *like) MK_MUST_USE;
/**
 * Would a pool of these options have the same connections? Never one that goes by a transport, nor one whose backend sent
 * bytes that nobody asked for: their connections begin anew.
 */
bool backend_pool_is(const struct backend_pool *pool, const struct mk_upstream_options *options);
struct backend_pool *backend_pool_get(struct backend_pool *pool);
/** NULL is allowed. Any thread. */
void backend_pool_put(struct backend_pool *pool);

#endif
