/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_REDIS_DESK_H
#define MK_DUDA_REDIS_DESK_H

#include "ear.h"
#include "object.h"

#include "data/redis/pool.h"
#include "remote/parking.h"

#include <stdatomic.h>

/* A client of a service, and what one worker has of it: requests that wait, and channels. */

struct redis_client {
    struct redis_servers base; /* first */
    duda_global_t desks;       /* of each worker */
    atomic_bool is_deaf;       /* as the log says: no channels are heard */
};

struct redis_desk {
    struct redis_pool base; /* first */
    struct redis_ear ear;
    struct parking_lot lot;
};

/* A command of a service. */
struct redis_wish {
    struct redis_call base; /* first */
    redis_fn fn;            /* NULL: the service does not want to know */
    void *arg;
    struct parking *parking; /* of its request; NULL: it has none */
};

static inline struct redis_client *redis_client_of(const struct redis_desk *desk)
{
    return (struct redis_client *)(void *)desk->base.of;
}

/** The answer as services know it. NULL: NULL */
const redisReply *redis_published(const struct mk_redis_reply *reply);

/** How a command has ended: for struct redis_servers. */
void redis_desk_tell(struct redis_pool *pool, struct redis_call *c,
                     const struct mk_redis_answer *answer);

/** @return owned by the caller; NULL: no memory, or not a worker */
struct redis_desk *redis_desk_new(struct redis_client *client);

/** Free it with its connections. Nothing is called. */
void redis_desk_free(struct redis_desk *desk);

/**
 * Send a command. Calls no function of a command.
 * @param wish  taken if it returns 0
 * @param ms    its time limit; 0: that of the client
 * @return 0, REDIS_REFUSED, REDIS_DOWN or REDIS_FULL
 */
int redis_desk_run(struct redis_desk *desk, struct redis_wish *wish, unsigned ms,
                   duda_request_t *dr);

#endif
