/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_REDIS_POOL_H
#define MK_DUDA_REDIS_POOL_H

#include "call.h"
#include "ear.h"

#include "remote/client.h"

#include <stdatomic.h>

/* The servers of a client as one worker sees them: which of them gets a command. */

/* What a service asked for: shared by all workers, and never changed but for what was logged. */
struct redis_client {
    struct remote_spec remote;
    struct remote_server
        servers[REDIS_NODES_MAX]; /* workers add those behind the first, of its cluster */
    char *greeting;               /* commands with which connections begin; NULL: none */
    size_t greeting_len;
    unsigned ngreetings;
    duda_global_t pools; /* of each worker */
    atomic_bool is_deaf; /* as the log says: no channels are heard */
};

struct redis_pool {
    struct redis_client *client;
    struct remote_client *remote;
    uint8_t *slots; /* the server of each, as far as it is known; NULL: no cluster */
    struct redis_ear ear;
};

/** How commands go to servers, and their answers come. */
extern const struct remote_protocol redis_protocol;

/** @return whose certificate a server has: that of the client, where the cluster says an address; NULL: its own */
const char *redis_name_of(const struct redis_client *client, const struct remote_place *place);

/** @return owned by the caller; NULL: no memory, or not a worker */
struct redis_pool *redis_pool_new(struct redis_client *client);

/** Free it with its connections. Nothing is called. */
void redis_pool_free(struct redis_pool *pool);

/**
 * Send a command. Calls no function of a command.
 * @param c   taken if it returns 0
 * @param ms  its time limit; 0: that of the client
 * @return 0, REDIS_REFUSED, REDIS_DOWN or REDIS_FULL
 */
int redis_pool_run(struct redis_pool *pool, struct redis_call *c, unsigned ms, duda_request_t *dr);

#endif
