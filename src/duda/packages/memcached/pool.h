/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_MEMCACHED_POOL_H
#define MK_DUDA_MEMCACHED_POOL_H

#include "command.h"
#include "places.h"
#include "remote/backoff.h"
#include "remote/parking.h"
#include "ring.h"

/* The servers of a client as one worker sees them. Everything here belongs to the thread of that worker. */

/* What a service asked for: shared by all workers, and never changed. */
struct memcached_client {
    struct address places[MEMC_SERVERS_MAX];
    unsigned nplaces, connections, timeout_ms;
    uint64_t all; /* a bit for each place */
    size_t value_max;
    struct ring *ring;
    duda_global_t pools; /* of each worker */
};

struct memc_server {
    struct memc_pool *pool;
    const struct address *place;
    struct memc_connection *connections;
    unsigned nconnections;
    struct backoff backoff;
    bool is_probed; /* a connection tries it */
};

struct memc_pool {
    const struct memcached_client *client;
    uint64_t alive;     /* a bit for each server that is not left out */
    unsigned ncommands; /* without an answer */
    duda_timer_t *tick; /* while there are commands, or servers are left out */
    struct parking_lot lot;
    struct memc_server servers[]; /* as the client's places */
};

/** @return owned by the caller; NULL: no memory */
struct memc_pool *memc_pool_new(const struct memcached_client *client);

/** Free it with its connections, whose descriptors are closed with their watches. No function of a command is called. */
void memc_pool_free(struct memc_pool *pool);

/**
 * Send a command to the server of its key, which is another one if that is left out. Calls no function of a command.
 * @param c  taken if it returns 0
 * @return 0, MEMCACHED_DOWN or MEMCACHED_FULL
 */
int memc_pool_submit(struct memc_pool *pool, struct memc_command *c, duda_request_t *dr);

/* ---- for connections ---- */

/** Call the function of a command, and free it. Its connection has forgotten it. */
void memc_pool_answer(struct memc_pool *pool, struct memc_command *c,
                      const struct memcached_answer *answer);

/** Find a connection for a command that was submitted. @return 0; MEMCACHED_DOWN: it is the caller's */
int memc_pool_route(struct memc_pool *pool, struct memc_command *c);

/** Leave a server out for a while, after a failure. @param is_probe  of the connection that tried it */
void memc_server_failed(struct memc_server *s, bool is_probe);

/** A server has answered a probe. */
void memc_server_is_back(struct memc_server *s);

#endif
