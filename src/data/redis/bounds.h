/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DATA_REDIS_BOUNDS_H
#define MK_DATA_REDIS_BOUNDS_H

#include "data/redis/url.h"

/* Every fixed bound of clients of Redis. X(name, value, meaning) */
#define REDIS_SHARED_BOUNDS(X)                                                                     \
    X(ANSWER_MAX, 64 << 20, "bytes of an answer, as it arrives and in memory")                     \
    X(DEPTH_MAX, 32,                                                                               \
      "lists within lists of an answer; the library has such a bound before 1.0 only")             \
    X(COMMAND_MAX, 512 << 20, "bytes of a command: the server's bound of a text")                  \
    X(WORDS_MAX, 65536, "words of a command of a program")                                         \
    X(WHY_MAX, 128, "bytes of a reason: those of the published context")                           \
    X(NAME_MAX, REDIS_URL_NAME_MAX, "bytes of a user, and of a password")                          \
    X(CONNECTIONS_USUAL, 1, "connections of a worker unless the service says so")                  \
    X(CONNECTIONS_MAX, 16, "connections of a worker")                                              \
    X(COMMANDS_USUAL, 1024, "commands of a worker without an answer")                              \
    X(COMMANDS_MOST, 65536, "likewise, at most")                                                   \
    X(NODES_MAX, 16, "servers of a cluster that a worker knows at a time")                         \
    X(REDIRECTS_MAX, 5, "of one command from one server of a cluster to another")                  \
    X(TIMEOUT_USUAL_MS, 1000, "for a command")                                                     \
    X(TIMEOUT_MOST_MS, 3600000, "likewise, at most: deadlines are sums of it")                     \
    X(RETRY_FIRST_MS, 100, "until a connection that failed is tried again")                        \
    X(RETRY_LAST_MS, 2000, "likewise, after it failed again and again")

enum {
#define REDIS_BOUND(name, value, meaning) REDIS_##name = (value),
    REDIS_SHARED_BOUNDS(REDIS_BOUND)
#undef REDIS_BOUND
};

#endif
