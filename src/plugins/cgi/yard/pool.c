/* SPDX-License-Identifier: Apache-2.0 */
#include "yard/pool.h"

#include <pthread.h>
#include <stdlib.h>

struct whole_pool {
    struct pool pool;
    pthread_mutex_t lock;
};

struct pool *cgi_pool_new(void)
{
    struct whole_pool *whole = calloc(1, sizeof(*whole));

    if (!whole)
        return NULL;
    (void)pthread_mutex_init(&whole->lock, NULL);
    whole->pool.lock = &whole->lock;
    whole->pool.last = &whole->pool.first;
    return &whole->pool;
}

void cgi_pool_free(struct pool *pool)
{
    if (!pool)
        return;
    (void)pthread_mutex_destroy(pool->lock);
    free(pool); /* its first member */
}

static void append(struct pool *pool, struct place *place)
{
    place->next = NULL;
    place->link = pool->last;
    *pool->last = place;
    pool->last = &place->next;
    pool->nwaiting++;
}

static void take_out(struct pool *pool, struct place *place)
{
    *place->link = place->next;
    if (place->next)
        place->next->link = place->link;
    else
        pool->last = place->link;
    pool->nwaiting--;
}

/* On the place's worker. */
static void on_granted(struct mk_worker *w, void *arg)
{
    struct place *place = arg;

    (void)w;
    if (!place->unwanted)
        place->state = PLACE_HELD;
    place->granted(place);
}

/* The next one in the queue, if there is a place for it. */
static struct place *pop(struct pool *pool)
{
    struct place *place = pool->used < pool->max ? pool->first : NULL;

    if (!place)
        return NULL;
    take_out(pool, place);
    place->state = PLACE_GRANTED;
    pool->used++;
    pool->granted++;
    return place;
}

/* Without memory for the message it waits on, first as before, until the next place is given back. */
static void put_back(struct pool *pool, struct place *place)
{
    pool->used--;
    pool->granted--;
    place->state = PLACE_WAITS;
    place->next = pool->first;
    place->link = &pool->first;
    pool->first = place;
    if (place->next)
        place->next->link = &place->next;
    else
        pool->last = &place->next;
    pool->nwaiting++;
}

/* The message is made under the mutex: only so a place that could not be told is still the first. */
static void grant(struct pool *pool)
{
    struct place *place;

    while ((place = pop(pool))) {
        if (mk_worker_post(place->worker, on_granted, place) < 0) {
            put_back(pool, place);
            return;
        }
    }
}

void cgi_pool_facts(struct pool *pool, struct pool_facts *facts)
{
    pthread_mutex_lock(pool->lock);
    *facts = (struct pool_facts){pool->used, pool->nwaiting, pool->granted, pool->refused};
    pthread_mutex_unlock(pool->lock);
}

unsigned cgi_pool_waiting(struct pool *pool)
{
    unsigned n;

    pthread_mutex_lock(pool->lock);
    n = pool->nwaiting;
    pthread_mutex_unlock(pool->lock);
    return n;
}

void cgi_pool_bound(struct pool *pool, unsigned max, unsigned max_waiting)
{
    pthread_mutex_lock(pool->lock);
    pool->max = max;
    pool->max_waiting = max_waiting;
    grant(pool);
    pthread_mutex_unlock(pool->lock);
}

int cgi_pool_take(struct pool *pool, struct place *place)
{
    int err = MK_E_AGAIN;

    place->pool = pool;
    pthread_mutex_lock(pool->lock);
    if (pool->used < pool->max && !pool->first) {
        pool->used++;
        pool->granted++;
        place->state = PLACE_HELD;
        err = 0;
    } else if (pool->nwaiting >= pool->max_waiting) {
        pool->refused++;
        err = MK_E_BUSY;
    } else {
        place->state = PLACE_WAITS;
        append(pool, place);
        grant(pool);
    }
    pthread_mutex_unlock(pool->lock);
    return err;
}

bool cgi_pool_leave(struct place *place)
{
    struct pool *pool = place->pool;
    bool is_told = false;

    if (!pool)
        return true;
    pthread_mutex_lock(pool->lock);
    if (place->state == PLACE_WAITS) {
        take_out(pool, place);
    } else if (place->state != PLACE_NONE) {
        is_told = place->state == PLACE_GRANTED;
        pool->used--;
        grant(pool);
    }
    place->state = PLACE_NONE;
    place->unwanted = is_told;
    pthread_mutex_unlock(pool->lock);
    return !is_told;
}
