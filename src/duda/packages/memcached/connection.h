/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_MEMCACHED_CONNECTION_H
#define MK_DUDA_MEMCACHED_CONNECTION_H

#include "pool.h"

/* A connection to a server: commands go out one behind the other, and their answers come in the same order. */

#define MEMC_CONNECTION_STATES(X)                                                                  \
    X(CONNECTING, "commands wait for the connection")                                              \
    X(READY, "commands are sent as they come")

enum memc_connection_state {
#define MEMC_STATE(name, meaning) MEMC_CONNECTION_##name,
    MEMC_CONNECTION_STATES(MEMC_STATE)
#undef MEMC_STATE
};

struct memc_connection {
    struct memc_connection *next; /* of the server */
    struct memc_server *server;
    int fd;
    enum memc_connection_state state;
    bool is_probe;     /* of a server that is left out */
    bool is_answering; /* the reader has begun with the answer to the first command */
    bool is_writing;   /* watched for room to send */
    unsigned ncommands;
    struct memc_command *first, *last; /* without an answer, in their order */
    struct memc_command *unsent;       /* the first of them of which not all was sent; NULL: none */
    size_t sent;                       /* bytes of it that were */
    struct memc_reader reader;
};

/** Begin to connect, without waiting. @return NULL: it failed at once, or no memory or descriptor */
struct memc_connection *memc_connection_open(struct memc_server *s);

/** @return whether an idle connection is still one: the server may have closed it since the last turn of the loop */
bool memc_connection_is_usable(const struct memc_connection *c);

/** Append a command, and send what the socket takes. It calls no function of a command, and keeps the connection. */
void memc_connection_send(struct memc_connection *c, struct memc_command *command);

/** Close it if a command has waited too long. */
void memc_connection_expire(struct memc_connection *c, int64_t now_ms);

/** Free it with its commands; nothing is called, and the descriptor stays open. */
void memc_connection_free(struct memc_connection *c);

#endif
