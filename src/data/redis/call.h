/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DATA_REDIS_CALL_H
#define MK_DATA_REDIS_CALL_H

#include "data/redis/bounds.h"
#include "data/redis/protocol.h"

#include "data/remote/client.h"

/* A command of a client on its way to a server, and how its answer is read. Users have structs that begin with it. */

struct redis_call {
    struct remote_call call; /* first */
    unsigned server;         /* that has it */
    unsigned nredirects;     /* of a cluster */
    unsigned nanswers;       /* the last one is its own */
    bool is_greeting;        /* none of the answers may be an error */
    size_t len;
    char *
        bytes; /* behind the user's struct: what makes a server take the command of a key that is on its way there, and the command */
};

static inline struct redis_call *redis_call_of(struct remote_call *call)
{
    return (struct redis_call *)(void *)call;
}

/**
 * @param size   of the struct that begins with it, which is zeroed behind
 * @param bytes  a command, or several with as many answers; copied
 * @return owned by the caller: free(); NULL: no memory
 */
struct redis_call *redis_call_new(size_t size, const char *bytes, size_t len, unsigned nanswers);

/** @return the command, as it was given */
const char *redis_call_command(const struct redis_call *c);

/** Send it as one that follows a redirect: ASK, or another one. */
void redis_call_ask(struct redis_call *c, bool is_asking);

/* ---- the reader of remote/client.h; zeroed at first ---- */

struct redis_intake {
    struct redis_reader *reader;  /* NULL: nothing was read */
    struct mk_redis_reply *reply; /* of the call, complete */
    size_t nahead;                /* bytes behind the last answer that the reader has got */
    unsigned nleft;               /* answers to come */
    bool is_greeting;
    bool is_first; /* of the connection: the next answer */
    char why[REDIS_WHY_MAX];
};

void redis_intake_begin(struct redis_intake *in, const struct redis_call *c, bool is_first);
enum remote_progress redis_intake_read(struct redis_intake *in, const char *bytes, size_t len,
                                       size_t *used);
void redis_intake_reset(struct redis_intake *in);
void redis_intake_fini(struct redis_intake *in);

#endif
