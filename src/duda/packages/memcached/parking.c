/* SPDX-License-Identifier: Apache-2.0 */
#include "parking.h"

struct memc_parking {
    struct memc_parking *next; /* of its bucket */
    struct memc_pool *pool;    /* NULL: it has ended */
    duda_request_t *dr;        /* NULL: it has ended */
    struct memc_parking **bucket;
    unsigned ncommands; /* of it, without an answer */
    bool is_parked;     /* by us */
};

static struct memc_parking **bucket_of(struct memc_pool *pool, const duda_request_t *dr)
{
    const uintptr_t n = (uintptr_t)dr / 64;

    return &pool->parkings[(n ^ n >> 6) % MEMC_PARKINGS];
}

static void drop_if_over(struct memc_parking *p)
{
    struct memc_parking **at = p->bucket;

    if (p->dr || p->ncommands > 0)
        return;
    if (p->pool) {
        while (*at != p)
            at = &(*at)->next;
        *at = p->next;
    }
    free(p);
}

static void on_request_end(void *arg)
{
    struct memc_parking *p = arg;

    p->dr = NULL;
    drop_if_over(p);
}

static struct memc_parking *add(struct memc_pool *pool, duda_request_t *dr)
{
    struct memc_parking *p = calloc(1, sizeof(*p));

    if (!p || gc->call(dr, on_request_end, p) < 0) {
        free(p);
        return NULL;
    }
    p->pool = pool;
    p->dr = dr;
    p->bucket = bucket_of(pool, dr);
    p->next = *p->bucket;
    *p->bucket = p;
    return p;
}

int memc_park(struct memc_pool *pool, struct memc_command *c, duda_request_t *dr)
{
    struct memc_parking *p = *bucket_of(pool, dr);

    while (p && p->dr != dr)
        p = p->next;
    if (!p)
        p = add(pool, dr);
    if (!p || (!p->is_parked && response->wait(dr) < 0))
        return -1;
    p->is_parked = true;
    p->ncommands++;
    c->parking = p;
    return 0;
}

static void go_on(struct memc_parking *p)
{
    if (p->is_parked && p->dr)
        (void)response->cont(p->dr);
    p->is_parked = false;
}

void memc_unpark(struct memc_command *c)
{
    struct memc_parking *p = c->parking;

    if (!p)
        return;
    c->parking = NULL;
    if (--p->ncommands == 0)
        go_on(p);
    drop_if_over(p);
}

/* The function may end the request, so the command is counted until it returns. */
void memc_unpark_and_call(struct memc_command *c, const struct memcached_answer *answer)
{
    struct memc_parking *p = c->parking;

    if (p)
        go_on(p);
    if (c->fn)
        c->fn(p ? p->dr : NULL, answer, c->arg);
    if (!p)
        return;
    p->ncommands--;
    if (p->ncommands > 0 && p->dr && !p->is_parked)
        p->is_parked = response->wait(p->dr) == 0;
    drop_if_over(p);
}

void memc_forget_parkings(struct memc_pool *pool)
{
    for (unsigned i = 0; i < MEMC_PARKINGS; i++) {
        for (struct memc_parking *p = pool->parkings[i], *next; p; p = next) {
            next = p->next;
            p->pool = NULL;
            p->ncommands = 0;
            drop_if_over(p);
        }
    }
}
