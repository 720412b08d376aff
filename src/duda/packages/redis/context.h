/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_REDIS_CONTEXT_H
#define MK_DUDA_REDIS_CONTEXT_H

#include "link.h"

/*
 * The published calls: contexts, each with a connection of its own, mostly of one request. A worker has a list of those
 * that are alive, so that an old pointer of a service does no harm.
 */

struct redis_context;

/** What one worker has of them. */
struct redis_contexts {
    struct redis_context *first;
    duda_timer_t *tick; /* while there are any */
};

/** @return NULL: no memory, or dr is not a request */
redisAsyncContext *redis_context_new(struct redis_contexts *all, const char *ip, int port,
                                     duda_request_t *dr);

/** @return the context behind a pointer of a service; NULL: none of this worker */
struct redis_context *redis_context_find(const struct redis_contexts *all,
                                         const redisAsyncContext *rc);

int redis_context_attach(struct redis_context *c);
duda_request_t *redis_context_request(const struct redis_context *c);
int redis_context_on_connect(struct redis_context *c, void (*fn)(const redisAsyncContext *, int));
int redis_context_on_disconnect(struct redis_context *c,
                                void (*fn)(const redisAsyncContext *, int));

/** @param bytes  taken, in any case */
int redis_context_command(struct redis_context *c, char *bytes, size_t len,
                          void (*fn)(redisAsyncContext *, void *reply, void *priv), void *priv);

/** End it behind the last answer. It may be gone afterwards, as after redis_context_free(). */
void redis_context_disconnect(struct redis_context *c);

/** End it now. */
void redis_context_free(struct redis_context *c);

/** The worker has no more use for them: no function is called. */
void redis_contexts_end(struct redis_contexts *all);

#endif
