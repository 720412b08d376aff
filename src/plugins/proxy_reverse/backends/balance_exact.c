/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/balance_int.h"

#include <pthread.h>
#include <stdlib.h>

/*
 * What all workers decide together, behind one mutex. Turns go by credit: each choice gives every backend
 * that may be chosen its seats, takes the one with the most credit, and charges it what was given. Over
 * any time in which the same backends may be chosen each gets its share to within one request, and the
 * turns of one that has several seats lie apart.
 */

struct seat {
    unsigned seats;
    int64_t credit;
    _Atomic unsigned *active;
};

struct balance_exact {
    pthread_mutex_t lock;
    unsigned n;
    struct seat seats[];
};

struct balance_exact *proxy_balance_exact_new(const struct balance_backend *backends,
                                              unsigned nbackends)
{
    struct balance_exact *e = calloc(1, sizeof(*e) + nbackends * sizeof(e->seats[0]));

    if (!e)
        return NULL;
    if (pthread_mutex_init(&e->lock, NULL) != 0) {
        free(e);
        return NULL;
    }
    e->n = nbackends;
    for (unsigned i = 0; i < nbackends; i++)
        e->seats[i] = (struct seat){.seats = backends[i].seats, .active = backends[i].active};
    return e;
}

void proxy_balance_exact_free(struct balance_exact *e)
{
    if (!e)
        return;
    pthread_mutex_destroy(&e->lock);
    free(e);
}

/* Those of a set with the fewest active requests a seat. */
static struct balance_set least_of(const struct balance_exact *e, const struct balance_set *may)
{
    struct balance_set least = {{0}};
    uint64_t best_active = 0, best_seats = 0; /* a fraction; 0/0: none yet */

    for (unsigned i = 0; i < e->n; i++) {
        const struct seat *s = &e->seats[i];
        uint64_t active, a, b;

        if (!balance_set_has(may, i))
            continue;
        active = atomic_load_explicit(s->active, memory_order_relaxed);
        a = active * best_seats;
        b = best_active * s->seats;
        if (best_seats == 0 || a < b) {
            least = (struct balance_set){{0}};
            best_active = active;
            best_seats = s->seats;
            a = b;
        }
        if (a == b)
            balance_set_add(&least, i);
    }
    return least;
}

static int turn(struct balance_exact *e, const struct balance_set *may)
{
    int best = BALANCE_NOBODY;
    int64_t given = 0;

    for (unsigned i = 0; i < e->n; i++) {
        struct seat *s = &e->seats[i];

        if (!balance_set_has(may, i))
            continue;
        s->credit += s->seats;
        given += s->seats;
        if (best == BALANCE_NOBODY || s->credit > e->seats[best].credit)
            best = (int)i;
    }
    if (best != BALANCE_NOBODY)
        e->seats[best].credit -= given;
    return best;
}

int proxy_balance_exact_choose(struct balance_exact *e, const struct balance_set *may, bool least)
{
    struct balance_set best;
    int chosen;

    pthread_mutex_lock(&e->lock);
    if (least) {
        best = least_of(e, may);
        may = &best;
    }
    chosen = turn(e, may);
    if (chosen != BALANCE_NOBODY)
        atomic_fetch_add_explicit(e->seats[chosen].active, 1, memory_order_relaxed);
    pthread_mutex_unlock(&e->lock);
    return chosen;
}
