/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/parking.h"

#include "duda_host.h"
#include "duda_package.h"

#include <stdbool.h>
#include <stdlib.h>

struct parking {
    struct parking *next;   /* of its chain */
    struct parking **chain; /* NULL: the lot has ended */
    duda_request_t *dr;     /* NULL: it has ended */
    unsigned nanswers;      /* to come */
    unsigned ntelling;      /* functions of answers that run */
    bool is_parked;         /* by us */
};

static struct parking **chain_of(struct parking_lot *lot, const duda_request_t *dr)
{
    const uintptr_t n = (uintptr_t)dr / 64;

    return &lot->chains[(n ^ n >> 6) % PARKING_CHAINS];
}

static void drop_if_over(struct parking *p)
{
    struct parking **at = p->chain;

    if (p->dr || p->nanswers > 0 || p->ntelling > 0)
        return;
    if (at) {
        while (*at != p)
            at = &(*at)->next;
        *at = p->next;
    }
    free(p);
}

static void on_request_end(void *arg)
{
    struct parking *p = arg;

    p->dr = NULL;
    drop_if_over(p);
}

static struct parking *add(struct parking_lot *lot, duda_request_t *dr)
{
    struct parking *p = calloc(1, sizeof(*p));

    if (!p || gc->call(dr, on_request_end, p) < 0) {
        free(p);
        return NULL;
    }
    p->dr = dr;
    p->chain = chain_of(lot, dr);
    p->next = *p->chain;
    *p->chain = p;
    return p;
}

struct parking *parking_enter(struct parking_lot *lot, duda_request_t *dr)
{
    struct parking *p = *chain_of(lot, dr);

    while (p && p->dr != dr)
        p = p->next;
    if (!p)
        p = add(lot, dr);
    if (!p || (!p->is_parked && duda_objects_given->host->park(dr, DUDA_PARK_STOPS) < 0))
        return NULL;
    p->is_parked = true;
    p->nanswers++;
    return p;
}

static void go_on(struct parking *p)
{
    if (p->is_parked && p->dr)
        duda_objects_given->host->unpark(p->dr, DUDA_PARK_STOPS);
    p->is_parked = false;
}

void parking_cancel(struct parking *p)
{
    if (!p)
        return;
    if (--p->nanswers == 0)
        go_on(p);
    drop_if_over(p);
}

/* The function may end the request, or ask for more. */
void parking_leave(struct parking *p, void (*fn)(duda_request_t *dr, void *arg), void *arg)
{
    if (!p) {
        fn(NULL, arg);
        return;
    }
    go_on(p);
    p->nanswers--;
    p->ntelling++;
    fn(p->dr, arg);
    p->ntelling--;
    if (p->nanswers > 0 && p->dr && !p->is_parked)
        p->is_parked = duda_objects_given->host->park(p->dr, DUDA_PARK_STOPS) == 0;
    drop_if_over(p);
}

void parking_lot_end(struct parking_lot *lot)
{
    for (unsigned i = 0; i < PARKING_CHAINS; i++) {
        for (struct parking *p = lot->chains[i], *next; p; p = next) {
            next = p->next;
            p->chain = NULL;
            p->nanswers = 0;
            drop_if_over(p);
        }
    }
}
