/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_BALANCE_H
#define PROXY_BALANCE_H

#include "entry/balancers.h"

#include <monkey/types.h>

#include <stdatomic.h>
#include <stdbool.h>

/*
 * Which backend a request goes to. A balancer knows seats: the words of ServerList in their order, so
 * that a backend that stands there three times has three of them. It does not know health: whoever asks
 * says which backends may be chosen.
 */

enum {
    BALANCE_MAX_BACKENDS = PROXY_SERVERS_MAX,
    BALANCE_NOBODY = -1,
};

/** Some of the backends, by index. */
struct balance_set {
    uint64_t bits[BALANCE_MAX_BACKENDS / 64];
};

static inline void balance_set_add(struct balance_set *set, unsigned i)
{
    set->bits[i / 64] |= UINT64_C(1) << i % 64;
}

static inline void balance_set_remove(struct balance_set *set, unsigned i)
{
    set->bits[i / 64] &= ~(UINT64_C(1) << i % 64);
}

static inline bool balance_set_has(const struct balance_set *set, unsigned i)
{
    return set->bits[i / 64] >> i % 64 & 1;
}

static inline bool balance_set_is_empty(const struct balance_set *set)
{
    return !(set->bits[0] | set->bits[1] | set->bits[2] | set->bits[3]);
}

/** A backend, as a balancer has to know it. */
struct balance_backend {
    struct mk_str name;       /* its address: two lists with it agree on its place in a ring */
    unsigned seats;           /* at least 1 */
    _Atomic unsigned *active; /* its requests now; lives as long as the balancer */
};

struct balance;

/**
 * @param order  index of the backend on each seat, as listed; copied, as are the backends but for their names
 * @return it, owned; NULL without memory.
 */
struct balance *proxy_balance_new(enum proxy_balancer kind, const struct balance_backend *backends,
                                  unsigned nbackends, const uint16_t *order,
                                  unsigned nseats) MK_MUST_USE;
/** NULL is allowed. */
void proxy_balance_free(struct balance *b);

struct balance_ask {
    uint64_t number; /* of the client's connection: Naive */
    uint64_t key;    /* proxy_balance_hash of what SourceHash and ConsistentHash go by */
    uint64_t chance; /* random: Random2 */
    const struct balance_set *may; /* who may be chosen */
};

/**
 * Choose a backend and count one more active request there, which proxy_balance_end takes back. Any thread.
 * @return its index, or BALANCE_NOBODY when nobody may be chosen.
 */
int proxy_balance_choose(struct balance *b, const struct balance_ask *ask);
void proxy_balance_end(struct balance *b, unsigned backend);

/** The same on every machine and in every version: caches behind several proxies rely on it. */
uint64_t proxy_balance_hash(const void *bytes, size_t len);

#endif
