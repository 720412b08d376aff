/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_REDIS_BOUNDS_H
#define MK_DUDA_REDIS_BOUNDS_H

#include "data/redis/bounds.h"

/* Bounds of the package, beside those of its library. X(name, value, meaning) */
#define REDIS_BOUNDS(X)                                                                            \
    X(READ_ROOM, 16384, "bytes of one read")                                                       \
    X(READS_MAX, 16, "reads of one event, so that others have their turn")                         \
    X(PIECES_MAX, 16, "commands that one system call sends")                                       \
    X(TICK_MS, 100, "between looks at the clock, while there is something to wait for")            \
    X(LIMIT_MS, 10000, "of a context: to connect, and to end after disconnect()")                  \
    X(CLIENTS_MAX, 8, "clients of a service")                                                      \
    X(COMMANDS_MAX, 1024, "commands of a worker without an answer")                                \
    X(CHANNELS_MAX, 256, "channels that a worker hears by one client")

enum {
#define REDIS_BOUND(name, value, meaning) REDIS_##name = (value),
    REDIS_BOUNDS(REDIS_BOUND)
#undef REDIS_BOUND
};

#endif
