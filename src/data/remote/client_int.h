/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DATA_REMOTE_CLIENT_INT_H
#define MK_DATA_REMOTE_CLIENT_INT_H

#include "data/remote/backoff.h"
#include "data/remote/client.h"

#include <monkey/events.h>
#include <monkey/upstream.h>

#include <stddef.h>

/* What a worker has of servers. client.c: calls, servers and time; client_link.c: connections. */

enum {
    REMOTE_TICK_MS = 100,
    REMOTE_IDLE_MS = 30000,  /* until a connection without calls is closed */
    REMOTE_PIECES_MAX = 16,  /* calls that one system call sends */
    REMOTE_ROUNDS_MAX = 16,  /* reads of one event, so that others have their turn */
    REMOTE_READ_ROOM = 16384 /* bytes of one read */
};

#define REMOTE_TO(state) (1U << REMOTE_LINK_##state)
#define REMOTE_LINK_STATES(X)                                                                      \
    X(TAKE, "take", REMOTE_TO(TAKE) | REMOTE_TO(GREET) | REMOTE_TO(OPEN) | REMOTE_TO(OVER),        \
      "waits for a connection, a probe with its call")                                             \
    X(GREET, "greet", REMOTE_TO(OPEN) | REMOTE_TO(BROKEN) | REMOTE_TO(OVER),                       \
      "its first call is the greeting; gets no more calls yet")                                    \
    X(OPEN, "open", REMOTE_TO(LEAVING) | REMOTE_TO(BROKEN) | REMOTE_TO(OVER),                      \
      "calls are sent as they come")                                                               \
    X(LEAVING, "leaving", REMOTE_TO(BROKEN) | REMOTE_TO(OVER),                                     \
      "gets no more calls: others wait for the connection")                                        \
    X(BROKEN, "broken", REMOTE_TO(OVER),                                                           \
      "the connection has ended; the next tick tells its calls")                                   \
    X(OVER, "over", 0, "nothing refers to it but the function that ends it")

enum remote_link_state {
#define REMOTE_STATE(name, text, next, meaning) REMOTE_LINK_##name,
    REMOTE_LINK_STATES(REMOTE_STATE)
#undef REMOTE_STATE
};

/* A server as one worker sees it. */
#define REMOTE_POOL_STATES(X)                                                                      \
    X(UP, "it takes calls")                                                                        \
    X(OUT, "it has failed, and is left alone")                                                     \
    X(TRIED, "a probe is on its way")

enum remote_pool_state {
#define REMOTE_STATE(name, meaning) REMOTE_POOL_##name,
    REMOTE_POOL_STATES(REMOTE_STATE)
#undef REMOTE_STATE
};

struct remote_queue {
    struct remote_call *first, **end;
};

struct remote_pool {
    struct remote_client *client;
    struct remote_server *server;
    struct mk_upstream *upstream;
    struct remote_link *links;
    unsigned nlinks;             /* without probes */
    struct remote_queue waiting; /* for a connection; empty unless it is UP */
    struct backoff backoff;
    struct backoff growth; /* of attempts at further connections beside one that works */
    enum remote_pool_state state;
    uint64_t used; /* the number of the last call that was sent to it, of all that were */
    bool is_tight; /* workers may have to wait for each other's connections */
};

struct remote_client {
    const struct remote_spec *spec;
    void *of;
    struct remote_home home;
    unsigned ncalls; /* begun, and not freed */
    unsigned nservers;
    uint64_t nsent;
    struct mk_alarm *tick; /* while there are calls or links, or a server is not UP */
    struct remote_pool pools[];
};

struct remote_link {
    struct remote_link *next; /* of the pool */
    struct remote_pool *pool;
    struct mk_upstream_wait *wait;
    struct mk_stream *s;
    uint8_t state;       /* enum remote_link_state */
    bool is_probe;       /* its first call is one, behind a greeting */
    bool is_greeting;    /* its first call is the greeting */
    bool is_inside;      /* its event is on the stack */
    bool is_answering;   /* the reader has begun with the answer to the first call */
    bool has_answered;   /* the connection, at least one call */
    bool is_kept;        /* another link had the connection */
    bool is_early;       /* the answer began before the first call was sent: it may be a refusal */
    unsigned idle_ticks; /* that found it without calls */
    unsigned ncalls, nunsent;   /* nunsent: of which not all was sent */
    unsigned nowed;             /* answers that what was read may be of */
    struct remote_queue calls;  /* without an answer, in their order */
    struct remote_call *unsent; /* the first of which not all was sent; NULL: none */
    size_t sent;                /* bytes of it that were */
    max_align_t reader[];       /* of the protocol */
};

static inline void remote_queue_init(struct remote_queue *q)
{
    q->first = NULL;
    q->end = &q->first;
}

static inline void remote_queue_add(struct remote_queue *q, struct remote_call *call)
{
    call->next = NULL;
    *q->end = call;
    q->end = &call->next;
}

static inline struct remote_call *remote_queue_pop(struct remote_queue *q)
{
    struct remote_call *call = q->first;

    if (!call)
        return NULL;
    q->first = call->next;
    if (!q->first)
        q->end = &q->first;
    return call;
}

/* ---- client.c ---- */

/** The server has failed: leave it out, and tell the calls that wait. @param is_probe  that of a probe */
void remote_pool_failed(struct remote_pool *pool, const char *why, bool is_probe);
/** It is not UP, and has answered. */
void remote_pool_is_back(struct remote_pool *pool);
/** Send a probe. @param fresh  over a new connection; else over an idle one, if there is one */
void remote_pool_try(struct remote_pool *pool, bool fresh);
/** A connection has gone: see to one for the calls that wait. */
void remote_pool_serve(struct remote_pool *pool);
/** Free a call that is over: its answer has come, or its connection has ended. */
void remote_call_forget(const struct remote_pool *pool, struct remote_call *call);
/** These calls have no answer. @param unsent  the first that was not sent; NULL: all were. @param end  of the first; LOST: the others' */
void remote_pool_lose(struct remote_pool *pool, struct remote_call *first,
                      const struct remote_call *unsent, enum remote_end end, const char *text);

/** Call fn(arg) in the home of a client. */
void remote_client_run(const struct remote_client *c, void (*fn)(void *arg), void *arg);

/* ---- client_link.c ---- */

/** Begin to connect. @param probe  taken if it returns 0; NULL: for calls that wait. @param fresh  no idle one. @return 0, or an error */
int remote_link_new(struct remote_pool *pool, struct remote_call *probe, bool fresh);
/** @return an open connection for a call; NULL: none, or all are left to others */
struct remote_link *remote_link_choose(struct remote_pool *pool);
/** @return how many connections for calls are on their way */
unsigned remote_link_coming(const struct remote_pool *pool);
/** No further connection can be had now: calls that wait for one go over one that is open. Nothing is called. */
void remote_link_share(struct remote_pool *pool);
/** Append a call, and send what the socket takes. Nothing is called. */
void remote_link_send(struct remote_link *l, struct remote_call *call);
/** @return a call whose time is over, for late(); NULL: none */
struct remote_call *remote_link_late(const struct remote_link *l, int64_t now_ms);
/** @return whether it must be ended: it is broken, or keeps a call waiting for too long */
bool remote_link_is_due(const struct remote_link *l, int64_t now_ms);
/** End it as a failure of its server. */
void remote_link_expire(struct remote_link *l);
/** Give it back if it has had nothing to do for a whole tick, or the server is left out. @return whether it was; l is gone then */
bool remote_link_rest(struct remote_link *l);
/** @return whether nothing of a user is under way over it, and no event of it is on the stack */
bool remote_link_is_idle(const struct remote_link *l);
/** Free it with its calls. */
void remote_link_free(struct remote_link *l);

#endif
