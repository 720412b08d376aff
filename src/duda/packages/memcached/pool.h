/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_MEMCACHED_POOL_H
#define MK_DUDA_MEMCACHED_POOL_H

#include "command.h"
#include "places.h"
#include "ring.h"

/* The servers of a client as one worker sees them: which of them gets a command. */

/* What a service asked for: shared by all workers, and never changed. */
struct memcached_client {
    struct remote_spec remote;
    size_t value_max;
    struct ring *ring;
    duda_global_t pools; /* of each worker */
};

struct memc_pool {
    const struct memcached_client *client;
    struct remote_client *remote;
    struct parking_lot lot;
};

/** How commands go to servers, and their answers come. */
extern const struct remote_protocol memc_protocol;

/** @return owned by the caller; NULL: no memory, or not a worker */
struct memc_pool *memc_pool_new(const struct memcached_client *client);

/** Free it with its connections. No function of a command is called. */
void memc_pool_free(struct memc_pool *pool);

/**
 * Send a command to the server of its key, which is another one if that is left out. Calls no function of a command.
 * @param c  taken if it returns 0
 * @return 0, MEMCACHED_DOWN or MEMCACHED_FULL
 */
int memc_pool_submit(struct memc_pool *pool, struct memc_command *c, duda_request_t *dr);

#endif
