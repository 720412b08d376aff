/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_BALANCERS_H
#define PROXY_BALANCERS_H

#include <monkey/types.h>

/* The balancers there are, by the names that the manual has for them. */

#define PROXY_BALANCERS(X)                                                                         \
    X(NAIVE, "Naive", "by the number of the client's connection; keeps no state")                  \
    X(FIRST_ALIVE, "First-Alive", "the first of the list")                                         \
    X(ROUND_ROBIN, "RoundRobin", "in turn, without a lock")                                        \
    X(LOCKING_ROUND_ROBIN, "LockingRoundRobin",                                                    \
      "in turn, exact over all workers also while backends go and come")                           \
    X(LEAST_CONNECTIONS, "LeastConnections", "the fewest requests a seat, exact over all workers") \
    X(SOURCE_HASH, "SourceHash", "by the client's address")                                        \
    X(RANDOM2, "Random2", "the better of two by chance")                                           \
    X(CONSISTENT_HASH, "ConsistentHash", "by a key; few keys move when the list changes")

enum proxy_balancer {
#define PROXY_BALANCER_ENUM(upper, name, text) PROXY_##upper,
    PROXY_BALANCERS(PROXY_BALANCER_ENUM)
#undef PROXY_BALANCER_ENUM
        PROXY_BALANCER_COUNT
};

enum {
    PROXY_SERVERS_MAX = 256, /* different ones of an entry */
    PROXY_SEATS_MAX = 4096,  /* all that are written, for their weight */
};

/** The names by their numbers, then one of old, then NULL. */
extern const char *const proxy_balancer_names[];
/** A balancer by its name, also of old, in any case and with or without what separates words. @return it; -1: none. */
int proxy_balancer_find(struct mk_str text);

#endif
