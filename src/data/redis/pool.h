/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DATA_REDIS_POOL_H
#define MK_DATA_REDIS_POOL_H

#include "data/redis/call.h"
#include "data/redis/url.h"

#include "data/remote/client.h"

/* The servers of a client as one worker sees them: which of them gets a command. */

struct redis_pool;

extern const char redis_no_memory[]; /* of redis_servers_init() */

/** What a user asked for: shared by all workers, and never changed. Zeroed at first. */
struct redis_servers {
    struct remote_spec remote;
    struct remote_server server; /* workers add others, of its cluster */
    char *greeting;              /* commands with which connections begin; NULL: none */
    size_t greeting_len;
    unsigned ngreetings;
    /** A command has ended. It stays the pool's, and is freed afterwards or, if it was late, later. */
    void (*told)(struct redis_pool *pool, struct redis_call *c,
                 const struct mk_redis_answer *answer);
};

/** A user's struct may begin with it. */
struct redis_pool {
    struct redis_servers *of;
    struct remote_client *remote;
    uint8_t *slots; /* the server of each, as far as it is known; NULL: no cluster */
};

/** @param connections, timeout_ms, commands  0: the usual. @return what is wrong, for people; NULL: nothing */
const char *redis_servers_init(struct redis_servers *s, const struct redis_url *url,
                               unsigned connections, unsigned timeout_ms, unsigned commands);
/** Free what it refers to, also after init has failed, and not if there was none. */
void redis_servers_fini(struct redis_servers *s);

/** @return whose certificate a server has: that of the client, where the cluster says an address; NULL: its own */
const char *redis_name_of(const struct redis_servers *of, const struct remote_place *place);

/** @param pool  the caller's, zeroed. @return 0; -1: no memory */
int redis_pool_init(struct redis_pool *pool, struct redis_servers *of,
                    const struct remote_home *home);

/** End its connections. Nothing is called. */
void redis_pool_fini(struct redis_pool *pool);

/** @return whether a command is refused: it would change a connection that many requests share, or has another answer than one */
bool redis_pool_refuses(const struct redis_call *c);

/**
 * Send a command. Calls no function of a command.
 * @param c   taken if it returns 0
 * @param ms  its time limit; 0: that of the client
 * @return 0; MK_E_INVALID: it is refused; MK_E_BUSY: too many have no answer; MK_E_PEER: no server can be reached
 */
int redis_pool_run(struct redis_pool *pool, struct redis_call *c, unsigned ms);

#endif
