/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_POOL_H
#define PROXY_POOL_H

#include "entry/settings.h"

#include <monkey/upstream.h>

/* The connections to a backend, for all configurations that would make them in the same way. */
struct proxy_pool;
struct uploads;

/** What the settings say of them. Texts are borrowed from the settings. */
struct mk_upstream_options proxy_pool_options(const struct proxy_settings *set,
                                              const struct proxy_server *server);
/** @param like  texts are copied. @return it with one reference; NULL without memory. Control thread. */
struct proxy_pool *proxy_pool_new(struct mk_server *server, const struct mk_upstream_options *like);
/** Would a pool of these options be the same? Never one of connections that are not plain. */
bool proxy_pool_is(const struct proxy_pool *pool, const struct mk_upstream_options *options);
struct proxy_pool *proxy_pool_get(struct proxy_pool *pool);
/** NULL is allowed. Any thread. */
void proxy_pool_put(struct proxy_pool *pool);
struct mk_upstream *proxy_pool_upstream(const struct proxy_pool *pool);
/** Uploads that hold its connections. */
struct uploads *proxy_pool_uploads(const struct proxy_pool *pool);

#endif
