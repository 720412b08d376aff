/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_REDIS_POOL_H
#define MK_DUDA_REDIS_POOL_H

#include "link.h"

#include "remote/backoff.h"
#include "remote/lookup.h"
#include "remote/parking.h"

#include <stdatomic.h>

/* The server of a client as one worker sees it. Everything here belongs to the thread of that worker. */

/* What a service asked for: shared by all workers, and never changed but for what was logged. */
struct redis_client {
    struct address place;
    char host[REMOTE_HOST_MAX]; /* of which the certificate is; "": an address, without a URL */
    unsigned port;              /* of the host */
    struct redis_trust *
        trust; /* NULL: without TLS. It lasts until the process ends, as the library of the service does */
    char user[REDIS_NAME_MAX], password[REDIS_NAME_MAX], db[16]; /* "": none */
    unsigned connections, timeout_ms;
    duda_global_t pools; /* of each worker */
    atomic_bool is_out;  /* as the log says */
};

/* A channel that is heard. */
struct redis_sub {
    struct redis_sub *next;
    redis_message_fn fn;
    void *arg;
    char name[];
};

/* A server: that of the client, or one of its cluster. */
struct redis_node {
    struct address place;
    struct backoff backoff;
    unsigned nlinks; /* without the ear */
};

struct redis_pool {
    struct redis_client *client;
    struct redis_node nodes[REDIS_NODES_MAX]; /* the first is that of the client */
    unsigned nnodes;
    uint8_t *slots;           /* the node of each, as far as it is known; NULL: no cluster */
    struct redis_link *links; /* to all nodes */
    unsigned ncommands;       /* whose function has not been called */
    duda_timer_t *tick;       /* while there is something to wait for */
    struct redis_link *ear;   /* hears channels, and nothing else; NULL: none */
    struct redis_sub *subs;
    unsigned nsubs;
    int64_t heard_ms; /* when the server sent something to the ear */
    struct mk_worker *worker;
    struct lookup *lookup; /* of the client's host, which may have moved; NULL: none */
};

/** @return owned by the caller; NULL: no memory */
struct redis_pool *redis_pool_new(struct redis_client *client);

/** Free it with its connections, whose descriptors are closed with their watches. Nothing is called. */
void redis_pool_free(struct redis_pool *pool);

/**
 * Send a command. Calls no function of a command.
 * @param c  taken if it returns 0; with fn and arg
 * @return 0, REDIS_REFUSED, REDIS_DOWN or REDIS_FULL
 */
int redis_pool_run(struct redis_pool *pool, struct parking_lot *lot, struct redis_command *c,
                   unsigned ms, duda_request_t *dr);

/* ---- for what hears channels ---- */

/** Begin to connect, unless the last attempt failed a moment ago. @return NULL: it failed */
struct redis_link *redis_pool_open(struct redis_pool *pool, struct redis_node *node,
                                   const struct redis_owner *of);

/** A connection is ready, or never was: the host of the client is looked up then. */
void redis_node_is_back(struct redis_pool *pool, struct redis_node *node);
void redis_node_failed(struct redis_pool *pool, struct redis_node *node, const char *why);

/** @return whether time is looked at */
bool redis_pool_tick(struct redis_pool *pool);

/* ---- ear.c ---- */

int redis_pool_subscribe(struct redis_pool *pool, const char *channel, redis_message_fn fn,
                         void *arg);
int redis_pool_unsubscribe(struct redis_pool *pool, const char *channel);
/** Look whether the server is still there. */
void redis_ear_look(struct redis_pool *pool, int64_t now_ms);
void redis_ear_free(struct redis_pool *pool);

#endif
