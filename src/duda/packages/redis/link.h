/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_REDIS_LINK_H
#define MK_DUDA_REDIS_LINK_H

#include "bounds.h"
#include "object.h"

#include "data/redis/protocol.h"

#include "data/remote/place.h"

#include "duda_host.h"

#include <stdint.h>

/*
 * A connection whose bytes are not answers alone, as those of remote/client.h are: commands go out one after the other, and
 * between their answers, in the same order, may be messages of channels. It is a stream of the server, from a backend of its
 * own, so hosts are looked up without blocking and TLS is the transport of the server. Everything here belongs to the thread
 * of one worker.
 */

#define REDIS_LINK_STATES(X)                                                                       \
    X(CONNECTING, "there is no connection yet, and commands wait")                                 \
    X(GREETING, "the server has not accepted the user or the database yet, and commands wait")     \
    X(READY, "commands are sent as they come")                                                     \
    X(LOST, "it has ended, and its owner is told so")

enum redis_link_state {
#define REDIS_STATE(name, meaning) REDIS_LINK_##name,
    REDIS_LINK_STATES(REDIS_STATE)
#undef REDIS_STATE
};

/* Those of hiredis, of which services know the numbers. */
enum redis_fault {
    REDIS_NO_FAULT,
    REDIS_FAULT_IO,
    REDIS_FAULT_OTHER,
    REDIS_FAULT_EOF,
    REDIS_FAULT_PROTOCOL
};

struct redis_command {
    struct redis_command *next; /* behind it on its link */
    char *bytes;
    size_t len;
    unsigned confirmations; /* of channels, in place of an answer; 0: it has an answer */
    unsigned ngreetings;    /* answers, none of which may be an error; 0: it is its owner's */
    /* its owner's */
    void (*fn)(void); /* of the service; NULL: it does not want to know */
    void *arg;
    int64_t deadline_ms; /* of CLOCK_MONOTONIC */
};

struct redis_link;
struct mk_stream;
struct mk_upstream;
struct mk_upstream_wait;

/* Who has a link, which lives while these functions run. No call of this header makes them, but where it says so. */
struct redis_owner {
    /* Commands are sent from now on. NULL: nothing */
    void (*on_ready)(struct redis_link *l);
    /* The answer to a command, which is the owner's now; reply is borrowed. NULL: none will come, l->why */
    void (*on_answer)(struct redis_link *l, struct redis_command *c,
                      const struct mk_redis_reply *reply);
    /* A message of a channel, or the confirmation of one */
    void (*on_message)(struct redis_link *l, const struct mk_redis_reply *reply);
    /* After all answers: it has ended, l->why. redis_link_close() is for the owner to call */
    void (*on_lost)(struct redis_link *l);
};

struct redis_queue {
    struct redis_command *first, **end;
};

struct redis_link {
    const struct redis_owner *owner;
    void *of; /* the owner */
    struct duda_place place;
    struct mk_upstream *upstream;
    struct mk_upstream_wait *wait; /* for the connection */
    struct mk_stream *s;           /* NULL: none yet, or no more */
    enum redis_link_state state;
    bool was_ready;
    bool is_inside;              /* functions of its owner may be on the stack */
    bool is_finishing;           /* no more commands: it ends behind the last answer */
    bool is_closed;              /* free it when its owner has returned */
    bool is_broken;              /* its last event has come; redis_link_look() says it */
    struct redis_queue commands; /* without an answer, in their order */
    struct redis_queue held;     /* until it is ready */
    struct redis_command
        *unsent;         /* the first of `commands` of which not all was sent; NULL: none */
    size_t sent;         /* bytes of it that were */
    long long nchannels; /* that the server has confirmed */
    struct redis_reader *reader;
    enum redis_fault fault;
    char why[REDIS_WHY_MAX];
};

/** @param bytes  taken. @return owned by the caller; NULL: no memory, and bytes are freed */
struct redis_command *redis_command_new(char *bytes, size_t len);
/** NULL is allowed. */
void redis_command_free(struct redis_command *c);

/**
 * Begin to connect, without waiting.
 * @param name  of the server's certificate; NULL: its host
 * @param ms    to connect
 * @return NULL: no memory, or this thread is no worker of the service
 */
struct redis_link *redis_link_open(const struct remote_place *place, const char *name, unsigned ms,
                                   const struct redis_owner *owner, void *of);

/**
 * Send commands before all others, which wait until the server has accepted them. Before it is connected.
 * @param bytes  with n answers; borrowed for the call. @return 0; -1: no memory
 */
int redis_link_greet(struct redis_link *l, const char *bytes, size_t len, unsigned n);

/** Queue a command, which is taken, and send what the socket takes. @return -1: it has ended or will end, and nothing is taken */
int redis_link_send(struct redis_link *l, struct redis_command *c);

/** Send no more, and end behind the last answer. Calls its owner, unless the owner calls this. */
void redis_link_finish(struct redis_link *l);

/** End it now. Likewise. */
void redis_link_lose(struct redis_link *l, enum redis_fault fault, const char *why);

/** To be called each tick: its end is told if the last event did not. Likewise. */
void redis_link_look(struct redis_link *l);

/** @return the descriptor; -1: it is not connected, or encrypted */
int redis_link_fd(const struct redis_link *l);

/** Close and free it, later if its owner is on the stack. Commands are freed, and nothing is called any more. */
void redis_link_close(struct redis_link *l);

#endif
