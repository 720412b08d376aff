/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_MEMCACHED_BOUNDS_H
#define MK_DUDA_MEMCACHED_BOUNDS_H

/* Every fixed bound of the package; those of connections are the remote client's too. X(name, value, meaning) */
#define MEMC_BOUNDS(X)                                                                             \
    X(KEY_MAX, 250, "bytes of a key: the protocol's")                                              \
    X(LINE_MAX, 512, "bytes of a line of an answer, with its end")                                 \
    X(VALUE_USUAL, 1 << 20, "bytes of a value unless the service says otherwise")                  \
    X(VALUE_MAX, 128 << 20, "bytes of a value that a service may ask for")                         \
    X(VALUE_STEP, 64 << 10, "bytes by which room for a value grows at least as they arrive")       \
    X(CLIENTS_MAX, 8, "clients of a service")                                                      \
    X(SERVERS_MAX, 64, "servers of a client")                                                      \
    X(WHY_MAX, 384, "bytes of the reason for which a client is refused")                           \
    X(POINTS, 160, "points of a server on the ring")                                               \
    X(PORT_USUAL, 11211, "of a URL without one")                                                   \
    X(CONNECTIONS_USUAL, 2, "connections of a worker to a server unless the service says so")      \
    X(CONNECTIONS_MAX, 16, "connections of a worker to a server")                                  \
    X(COMMANDS_MAX, 1024, "commands of a worker without an answer")                                \
    X(TIMEOUT_USUAL_MS, 1000, "for a command")                                                     \
    X(RETRY_FIRST_MS, 500, "until a server that failed is tried again")                            \
    X(RETRY_LAST_MS, 30000, "likewise, after it failed again and again")

enum {
#define MEMC_BOUND(name, value, meaning) MEMC_##name = (value),
    MEMC_BOUNDS(MEMC_BOUND)
#undef MEMC_BOUND
};

#endif
