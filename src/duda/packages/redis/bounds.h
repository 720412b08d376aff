/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_REDIS_BOUNDS_H
#define MK_DUDA_REDIS_BOUNDS_H

#include "remote/redis_url.h"

/* Every fixed bound of the package. X(name, value, meaning) */
#define REDIS_BOUNDS(X)                                                                            \
    X(ANSWER_MAX, 64 << 20, "bytes of an answer, as it arrives and in memory")                     \
    X(DEPTH_MAX, 32,                                                                               \
      "lists within lists of an answer; the library has such a bound before 1.0 only")             \
    X(COMMAND_MAX, 512 << 20, "bytes of a command: the server's bound of a text")                  \
    X(READ_ROOM, 16384, "bytes of one read")                                                       \
    X(READS_MAX, 16, "reads of one event, so that others have their turn")                         \
    X(PIECES_MAX, 16, "commands that one system call sends")                                       \
    X(WHY_MAX, 128, "bytes of a reason: those of the published context")                           \
    X(TICK_MS, 100, "between looks at the clock, while there is something to wait for")            \
    X(LIMIT_MS, 10000, "of a context: to connect, and to end after disconnect()")                  \
    X(CLIENTS_MAX, 8, "clients of a service")                                                      \
    X(NAME_MAX, REDIS_URL_NAME_MAX, "bytes of a user, and of a password")                          \
    X(CONNECTIONS_USUAL, 1, "connections of a worker unless the service says so")                  \
    X(CONNECTIONS_MAX, 16, "connections of a worker")                                              \
    X(COMMANDS_MAX, 1024, "commands of a worker without an answer")                                \
    X(NODES_MAX, 16, "servers of a cluster that a worker knows")                                   \
    X(REDIRECTS_MAX, 5, "of one command from one server of a cluster to another")                  \
    X(CHANNELS_MAX, 256, "channels that a worker hears by one client")                             \
    X(TIMEOUT_USUAL_MS, 1000, "for a command")                                                     \
    X(RETRY_FIRST_MS, 100, "until a connection that failed is tried again")                        \
    X(RETRY_LAST_MS, 2000, "likewise, after it failed again and again")

enum {
#define REDIS_BOUND(name, value, meaning) REDIS_##name = (value),
    REDIS_BOUNDS(REDIS_BOUND)
#undef REDIS_BOUND
};

#endif
