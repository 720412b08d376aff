/* SPDX-License-Identifier: Apache-2.0 */
#include "pg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Pools of a worker: connections that nobody has, queries that wait for one, and when to try again after a failure. */

/* ---- the pools of this worker ---- */

struct pg_pool *pg_pool_of(duda_global_t *pool)
{
    const struct pg_target *t = pool ? global->get(*pool) : NULL;
    struct pg_home *home = t ? pg_home_made() : NULL;
    struct pg_pool *p = home ? home->pools : NULL;

    while (p && p->target != t)
        p = p->next;
    if (p || !home)
        return p;
    p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    p->home = home;
    p->target = t;
    p->last = &p->waiting;
    p->next = home->pools;
    home->pools = p;
    return p;
}

void pg_pool_free(struct pg_pool *p)
{
    for (struct postgresql_query *q = p->waiting, *next; q; q = next) {
        next = q->next;
        pg_query_free(q);
    }
    pg_channels_free(p);
    free(p);
}

/* ---- time ---- */

static bool is_free(const struct postgresql_conn *c, const struct pg_pool *p)
{
    return c->pool == p && !c->is_ear && c->state == PG_READY && !c->is_lent && !c->is_inside &&
           !c->first;
}

/* The call-backs of a query may end others. */
static void expire(struct pg_pool *p)
{
    const int64_t now = clock_now_ms();
    struct postgresql_query **at = &p->waiting, *q;

    while ((q = *at)) {
        if (!pg_guest_is_gone(q->guest) && now < q->deadline) {
            at = &q->next;
            continue;
        }
        *at = q->next;
        if (!q->next)
            p->last = at;
        p->nwaiting--;
        if (now >= q->deadline && p->why[0])
            pg_query_fail(q, p->why, NULL);
        pg_query_fail(q, now < q->deadline ? "the client has left" : "no connection is free", NULL);
        pg_query_finish(q);
        at = &p->waiting;
    }
}

/* @return whether there are more idle connections than stay open */
static bool shrink(struct pg_pool *p)
{
    const int64_t before = clock_now_ms() - PG_IDLE_MS;
    struct postgresql_conn *c = p->home->conns;

    while (c && p->open > p->target->min) {
        struct postgresql_conn *next = c->next;

        if (is_free(c, p) && c->idle_since < before)
            pg_conn_close(c);
        c = next;
    }
    return p->open > p->target->min;
}

static void tick(void *arg)
{
    struct pg_pool *p = arg;

    expire(p);
    pg_ear_open(p);
    pg_pool_serve(p);
    if (!shrink(p) && !p->waiting && (!p->channels || p->ear)) {
        (void)timer->cancel(p->tick);
        p->tick = NULL;
    }
}

void pg_pool_tick(struct pg_pool *p)
{
    if (!p->tick)
        p->tick = timer->every(PG_TICK_MS, tick, p);
}

void pg_pool_connected(struct pg_pool *p)
{
    backoff_end(&p->backoff);
    p->why[0] = '\0';
}

void pg_pool_failed(struct pg_pool *p, const char *why)
{
    backoff_failed(&p->backoff, PG_BACKOFF_MS, PG_BACKOFF_MOST_MS);
    (void)snprintf(p->why, sizeof(p->why), "%s", why);
}

/* ---- connections ---- */

static struct postgresql_conn *find_free(const struct pg_pool *p)
{
    struct postgresql_conn *c = p->home->conns;

    while (c && !is_free(c, p))
        c = c->next;
    return c;
}

static struct postgresql_conn *open_one(struct pg_pool *p)
{
    struct postgresql_conn *c;

    if (p->open >= p->target->max || !backoff_is_over(&p->backoff, clock_now_ms()))
        return NULL;
    c = pg_conn_new(p->home, p->target, p, false);
    if (c && p->open > p->target->min)
        pg_pool_tick(p);
    return c;
}

struct postgresql_conn *pg_pool_take(struct pg_pool *p)
{
    struct postgresql_conn *c = find_free(p);

    if (!c)
        c = open_one(p);
    if (c)
        c->is_lent = true;
    return c;
}

/* Those of run() give their connection back when they end; those of begin() keep it. */
static void lend(struct postgresql_conn *c, struct postgresql_query *q)
{
    q->next = NULL;
    c->is_lent = true;
    c->is_leaving = !q->on_begin;
    c->guest = pg_guest_get(q->guest);
    pg_conn_add(c, q);
}

void pg_pool_serve(struct pg_pool *p)
{
    struct postgresql_conn *c = p->waiting ? find_free(p) : NULL;

    while (c && p->waiting) {
        struct postgresql_query *q = p->waiting;

        p->waiting = q->next;
        if (!q->next)
            p->last = &p->waiting;
        p->nwaiting--;
        lend(c, q);
        c = find_free(p);
    }
    while ((int)p->nwaiting > p->connecting && open_one(p))
        ;
    if (p->waiting)
        pg_pool_tick(p);
}

int pg_pool_add(struct pg_pool *p, struct postgresql_query *q)
{
    if (p->nwaiting >= PG_WAITING_MAX)
        return -1;
    q->deadline = clock_now_ms() + (p->target->limit_ms ? p->target->limit_ms : PG_LIMIT_MS);
    *p->last = q;
    p->last = &q->next;
    p->nwaiting++;
    pg_pool_serve(p);
    return 0;
}
