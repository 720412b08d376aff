/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_REDIS_LINK_H
#define MK_DUDA_REDIS_LINK_H

#include "bounds.h"
#include "protocol.h"

#include "remote/address.h"
#include "secure.h"

#include <stdint.h>

/*
 * A connection to a server: commands go out one behind the other, and their answers come in the same order; between them
 * may be messages of channels. Everything here belongs to the thread of one worker.
 */

#define REDIS_LINK_STATES(X)                                                                       \
    X(CONNECTING, "the socket is not connected yet, and commands wait")                            \
    X(SECURING, "the handshake of TLS is not over yet, and commands wait")                         \
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
    bool is_greeting;
    bool is_unsent; /* of one without an answer: the server has not got all of it */
    bool is_over;   /* its owner has given it up: it is not sent any more if it waits for that */
    /* its owner's */
    void (*fn)(void); /* of the service; NULL: it does not want to know */
    void *arg;
    int64_t deadline_ms; /* of CLOCK_MONOTONIC */
    struct parking *parking;
    unsigned nredirects; /* of a cluster */
};

struct redis_link;
struct redis_node;
struct parking;

/* Who has a link, which lives while these functions run. No call of this header makes them, but where it says so. */
struct redis_owner {
    /* Commands are sent from now on. NULL: nothing */
    void (*on_ready)(struct redis_link *l);
    /* The answer to a command, which is the owner's now; reply is borrowed. NULL: none will come, l->why */
    void (*on_answer)(struct redis_link *l, struct redis_command *c, const redisReply *reply);
    /* A message of a channel, or the confirmation of one */
    void (*on_message)(struct redis_link *l, const redisReply *reply);
    /* After all answers: it has ended, l->why. redis_link_close() is for the owner to call */
    void (*on_lost)(struct redis_link *l);
};

struct redis_queue {
    struct redis_command *first, **end;
};

struct redis_link {
    const struct redis_owner *owner;
    void *of;                /* the owner */
    struct redis_link *next; /* its owner's */
    int64_t limit_ms;        /* likewise: until it must be ready */
    struct redis_node *node; /* likewise */
    int fd;                  /* -1: none */
    enum redis_link_state state;
    bool was_ready;
    bool is_inside;    /* functions of its owner may be on the stack */
    bool is_finishing; /* no more commands: it ends behind the last answer */
    bool is_closed;    /* free it when its owner has returned */
    bool is_writing;   /* watched for room to send */
    unsigned ngreetings;
    unsigned ncommands;          /* in both queues */
    struct redis_queue commands; /* without an answer, in their order */
    struct redis_queue held;     /* until it is ready */
    struct redis_command
        *unsent;         /* the first of `commands` of which not all was sent; NULL: none */
    size_t sent;         /* bytes of it that were */
    long long nchannels; /* that the server has confirmed */
    struct redis_reader *reader;
    struct redis_secure *secure; /* NULL: plain */
    enum redis_fault fault;
    char why[REDIS_WHY_MAX];
};

/** @param bytes  taken. @return owned by the caller; NULL: no memory, and bytes are freed */
struct redis_command *redis_command_new(char *bytes, size_t len);
/** NULL is allowed. */
void redis_command_free(struct redis_command *c);

/**
 * Begin to connect, without waiting.
 * @param secure  what encrypts it, taken in any case; NULL: nothing does
 * @return NULL: errno says why
 */
struct redis_link *redis_link_open(const struct address *a, struct redis_secure *secure,
                                   const struct redis_owner *owner, void *of);

/** Send a command before all others, which wait until the server has accepted it. Before it is connected. */
void redis_link_greet(struct redis_link *l, struct redis_command *c);

/** Queue a command, which is taken, and send what the socket takes. @return -1: it has ended or will end, and nothing is taken */
int redis_link_send(struct redis_link *l, struct redis_command *c);

/** Send no more, and end behind the last answer. Calls its owner, unless the owner calls this. */
void redis_link_finish(struct redis_link *l);

/** End it now. Likewise. */
void redis_link_lose(struct redis_link *l, enum redis_fault fault, const char *why);

/** Close and free it, later if its owner is on the stack. Commands are freed, and nothing is called any more. */
void redis_link_close(struct redis_link *l);

/** Free it with its commands; its watch ends elsewhere, and closes the descriptor. */
void redis_link_abandon(struct redis_link *l);

#endif
