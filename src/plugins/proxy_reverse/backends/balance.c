/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/balance_int.h"

#include "kit/pure/hash.h"

#include <stdlib.h>

struct balance {
    enum proxy_balancer kind;
    unsigned nbackends, nseats;
    _Atomic unsigned next; /* RoundRobin: how many were chosen */
    struct balance_exact *exact;
    struct ring *ring;
    struct balance_backend *backends;
    uint16_t *order;
};

uint64_t proxy_balance_hash(const void *bytes, size_t len)
{
    return hash_mix_64(hash_64(HASH_START_64, bytes, len));
}

/* ---- life ---- */

static bool make_parts(struct balance *b)
{
    switch (b->kind) {
    case PROXY_LOCKING_ROUND_ROBIN:
    case PROXY_LEAST_CONNECTIONS:
        b->exact = proxy_balance_exact_new(b->backends, b->nbackends);
        return b->exact != NULL;
    case PROXY_CONSISTENT_HASH:
        b->ring = proxy_balance_ring_new(b->backends, b->nbackends);
        return b->ring != NULL;
    default:
        return true;
    }
}

struct balance *proxy_balance_new(enum proxy_balancer kind, const struct balance_backend *backends,
                                  unsigned nbackends, const uint16_t *order, unsigned nseats)
{
    size_t list = nbackends * sizeof(backends[0]), seats = nseats * sizeof(order[0]);
    struct balance *b = calloc(1, sizeof(*b) + list + seats);

    if (!b)
        return NULL;
    b->kind = kind;
    b->nbackends = nbackends;
    b->nseats = nseats;
    b->backends = (struct balance_backend *)(b + 1);
    b->order = (uint16_t *)(b->backends + nbackends);
    memcpy(b->backends, backends, list);
    memcpy(b->order, order, seats);
    if (make_parts(b))
        return b;
    proxy_balance_free(b);
    return NULL;
}

void proxy_balance_free(struct balance *b)
{
    if (!b)
        return;
    proxy_balance_exact_free(b->exact);
    ring_free(b->ring);
    free(b);
}

/* ---- seats ---- */

static bool may_sit(const struct balance *b, const struct balance_set *may, unsigned seat)
{
    return balance_set_has(may, b->order[seat]);
}

static unsigned count_seats(const struct balance *b, const struct balance_set *may)
{
    unsigned n = 0;

    for (unsigned i = 0; i < b->nseats; i++)
        n += may_sit(b, may, i);
    return n;
}

/* The backend on the k-th seat of those that may be chosen. */
static int seat_at(const struct balance *b, const struct balance_set *may, unsigned k)
{
    for (unsigned i = 0; i < b->nseats; i++) {
        if (may_sit(b, may, i) && k-- == 0)
            return b->order[i];
    }
    return BALANCE_NOBODY;
}

/* By a number: its seat, or, when nobody may sit there, one of the others by what is left of the number. So the
 * load of one that is away falls on all others, and who had another seat keeps it. */
static int seat_of(const struct balance *b, const struct balance_set *may, uint64_t number)
{
    unsigned seat = (unsigned)(number % b->nseats), n;

    if (may_sit(b, may, seat))
        return b->order[seat];
    n = count_seats(b, may);
    return n > 0 ? seat_at(b, may, (unsigned)(number / b->nseats % n)) : BALANCE_NOBODY;
}

/* ---- the balancers ---- */

static int first_alive(const struct balance *b, const struct balance_set *may)
{
    return seat_at(b, may, 0);
}

static int round_robin(struct balance *b, const struct balance_set *may)
{
    return seat_of(b, may, atomic_fetch_add_explicit(&b->next, 1, memory_order_relaxed));
}

static bool is_busier(const struct balance *b, int x, int y)
{
    const struct balance_backend *a = &b->backends[x], *c = &b->backends[y];

    return (uint64_t)atomic_load_explicit(a->active, memory_order_relaxed) * c->seats >
           (uint64_t)atomic_load_explicit(c->active, memory_order_relaxed) * a->seats;
}

static int random2(const struct balance *b, const struct balance_set *may, uint64_t chance)
{
    unsigned n = count_seats(b, may);
    struct balance_set others = *may;
    int one, two;

    if (n == 0)
        return BALANCE_NOBODY;
    one = seat_at(b, may, (unsigned)((uint32_t)chance % n));
    balance_set_remove(&others, (unsigned)one);
    n = count_seats(b, &others);
    if (n == 0)
        return one;
    two = seat_at(b, &others, (unsigned)(chance >> 32) % n);
    return is_busier(b, one, two) ? two : one;
}

static int choose_without_lock(struct balance *b, const struct balance_ask *ask)
{
    switch (b->kind) {
    case PROXY_FIRST_ALIVE:
        return first_alive(b, ask->may);
    case PROXY_ROUND_ROBIN:
        return round_robin(b, ask->may);
    case PROXY_SOURCE_HASH:
        return seat_of(b, ask->may, ask->key);
    case PROXY_RANDOM2:
        return random2(b, ask->may, ask->chance);
    case PROXY_CONSISTENT_HASH:
        return ring_find(b->ring, (uint32_t)(ask->key >> 32), ask->may->bits);
    default:
        return seat_of(b, ask->may, ask->number);
    }
}

int proxy_balance_choose(struct balance *b, const struct balance_ask *ask)
{
    int chosen;

    if (b->exact)
        return proxy_balance_exact_choose(b->exact, ask->may, b->kind == PROXY_LEAST_CONNECTIONS);
    chosen = choose_without_lock(b, ask);
    if (chosen != BALANCE_NOBODY)
        atomic_fetch_add_explicit(b->backends[chosen].active, 1, memory_order_relaxed);
    return chosen;
}

void proxy_balance_end(struct balance *b, unsigned backend)
{
    atomic_fetch_sub_explicit(b->backends[backend].active, 1, memory_order_relaxed);
}
