/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_REDIS_BOUNDS_H
#define MK_DUDA_REDIS_BOUNDS_H

/* Every fixed bound of the package. X(name, value, meaning) */
#define REDIS_BOUNDS(X)                                                                            \
    X(ANSWER_MAX, 64 << 20, "bytes of an answer, as it arrives and in memory")                     \
    X(COMMAND_MAX, 512 << 20, "bytes of a command: the server's bound of a text")                  \
    X(READ_ROOM, 16384, "bytes of one read")                                                       \
    X(READS_MAX, 16, "reads of one event, so that others have their turn")                         \
    X(PIECES_MAX, 16, "commands that one system call sends")                                       \
    X(WHY_MAX, 128, "bytes of a reason: those of the published context")                           \
    X(TICK_MS, 100, "between looks at the clock, while there is something to wait for")            \
    X(LIMIT_MS, 10000, "to connect, and to end after disconnect()")

enum {
#define REDIS_BOUND(name, value, meaning) REDIS_##name = (value),
    REDIS_BOUNDS(REDIS_BOUND)
#undef REDIS_BOUND
};

#endif
