/* SPDX-License-Identifier: Apache-2.0 */
#include "data/sql/database.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

/* Pools of a worker: connections that nobody has, queries that wait for one, and when to try again after a failure. */

enum {
    BACKOFF_MS = 100,
    BACKOFF_MOST_MS = 10000,
    IDLE_MS = 30000,
    TICK_MS = 100,
};

/* ---- workers ---- */

static void free_pool(struct db_pool *p)
{
    for (struct db_query *q = p->waiting, *next; q; q = next) {
        next = q->next;
        db_query_free(q);
    }
    if (p->driver->free_pool)
        p->driver->free_pool(p);
    free(p);
}

void db_home_init(struct db_home *home, const struct db_host *host)
{
    home->host = host;
}

void db_home_fini(struct db_home *home)
{
    db_guests_leave(home);
    while (home->conns) {
        struct db_conn *next = home->conns->next;

        db_conn_free(home->conns);
        home->conns = next;
    }
    while (home->pools) {
        struct db_pool *next = home->pools->next;

        free_pool(home->pools);
        home->pools = next;
    }
}

/* ---- the pools of this worker ---- */

int db_target_init(struct db_target *t, int min, int max)
{
    if (min == 0 && max == 0) {
        min = DB_POOL_MIN;
        max = DB_POOL_MAX;
    }
    if (min < 0 || max < 1 || min > max)
        return -1;
    t->min = min;
    t->max = max;
    t->limit_ms = DB_LIMIT_MS;
    t->waiting_max = DB_WAITING_MAX;
    return 0;
}

struct db_pool *db_pool_in(struct db_home *home, const struct db_driver *driver,
                           struct db_target *t)
{
    struct db_pool *p = home->pools;

    while (p && p->target != t)
        p = p->next;
    if (p)
        return p;
    p = calloc(1, driver->pool_size);
    if (!p)
        return NULL;
    p->driver = driver;
    p->home = home;
    p->target = t;
    p->last = &p->waiting;
    p->next = home->pools;
    home->pools = p;
    return p;
}

/* ---- time ---- */

static bool is_free(const struct db_conn *c, const struct db_pool *p)
{
    return c->pool == p && !c->is_apart && c->state == DB_READY && !c->is_lent && !c->is_inside &&
           !c->first;
}

/* @return those that have waited in vain, taken out of the queue */
static struct db_query *take_expired(struct db_pool *p, int64_t now)
{
    struct db_query *expired = NULL, **end = &expired, **at = &p->waiting, *q;

    while ((q = *at)) {
        if (!db_guest_is_gone(q->guest) && now < q->deadline) {
            at = &q->next;
            continue;
        }
        *at = q->next;
        p->nwaiting--;
        q->next = NULL;
        *end = q;
        end = &q->next;
    }
    p->last = at;
    return expired;
}

/* The call-backs of a query may end others, and add some. */
static void expire(struct db_pool *p)
{
    const int64_t now = clock_now_ms();

    for (struct db_query *q = take_expired(p, now), *next; q; q = next) {
        next = q->next;
        q->next = NULL;
        if (now >= q->deadline)
            q->fault = p->why[0] ? MK_E_PEER : MK_E_BUSY;
        if (now >= q->deadline && p->why[0])
            db_query_fail(q, p->why, NULL);
        db_query_fail(q, now < q->deadline ? "the client has left" : "no connection is free", NULL);
        db_query_finish(q);
    }
}

/* @return whether there are more idle connections than stay open */
static bool shrink(struct db_pool *p)
{
    const int64_t before = clock_now_ms() - IDLE_MS;
    struct db_conn *c = p->home->conns;

    while (c && p->open > p->target->min) {
        struct db_conn *next = c->next;

        if (is_free(c, p) && c->idle_since < before)
            db_conn_close(c);
        c = next;
    }
    return p->open > p->target->min;
}

static void tick(void *arg)
{
    struct db_pool *p = arg;
    bool is_busy;

    expire(p);
    is_busy = p->driver->tick && p->driver->tick(p);
    db_pool_serve(p);
    if (!shrink(p) && !p->waiting && !is_busy) {
        p->home->host->cancel(p->home, p->tick);
        p->tick = NULL;
    }
}

void db_pool_tick(struct db_pool *p)
{
    if (!p->tick)
        p->tick = p->home->host->every(p->home, TICK_MS, tick, p);
}

void db_pool_connected(struct db_pool *p)
{
    backoff_end(&p->backoff);
    p->why[0] = '\0';
}

static unsigned ready(const struct db_pool *p)
{
    unsigned n = 0;

    for (const struct db_conn *c = p->home->conns; c; c = c->next)
        n += c->pool == p && !c->is_apart && c->state == DB_READY;
    return n;
}

void db_pool_failed(struct db_pool *p, const char *why)
{
    if (p->waiting && ready(p) == 0)
        p->target->is_wanted = true;
    backoff_failed(&p->backoff, BACKOFF_MS, BACKOFF_MOST_MS);
    (void)snprintf(p->why, sizeof(p->why), "%s", why);
}

bool db_pool_is_away(const struct db_pool *p)
{
    return p->why[0] && ready(p) == 0 && !backoff_is_over(&p->backoff, clock_now_ms());
}

void db_pool_give_up(struct db_pool *p)
{
    struct db_query *all = ready(p) == 0 ? p->waiting : NULL, *next;

    if (!all)
        return;
    p->waiting = NULL;
    p->last = &p->waiting;
    p->nwaiting = 0;
    for (struct db_query *q = all; q; q = next) {
        next = q->next;
        q->next = NULL;
        q->fault = MK_E_PEER;
        db_query_fail(q, p->why, NULL);
        db_query_finish(q);
    }
}

/* ---- connections ---- */

static struct db_conn *find_free(const struct db_pool *p)
{
    struct db_conn *c = p->home->conns;

    while (c && !is_free(c, p))
        c = c->next;
    return c;
}

/* @return whether all workers together may have one more */
static bool take_permit(const struct db_pool *p)
{
    struct db_target *t = p->target;

    if (t->total_max == 0 || atomic_fetch_add(&t->total, 1) < t->total_max)
        return true;
    (void)atomic_fetch_sub(&t->total, 1);
    if (ready(p) == 0)
        t->is_wanted = true;
    return false;
}

void db_pool_forget(struct db_pool *p)
{
    p->open--;
    if (p->target->total_max > 0)
        (void)atomic_fetch_sub(&p->target->total, 1);
}

static struct db_conn *open_one(struct db_pool *p)
{
    struct db_conn *c;

    if (p->open >= p->target->max || !backoff_is_over(&p->backoff, clock_now_ms()) ||
        !take_permit(p))
        return NULL;
    p->open++;
    c = db_conn_new(p->driver, p->home, p, false);
    if (!c) {
        db_pool_forget(p);
        return NULL;
    }
    db_conn_open(c, p->target);
    if (p->open > p->target->min)
        db_pool_tick(p);
    return c;
}

struct db_conn *db_pool_lend(struct db_pool *p, void *request)
{
    struct db_guest *guest;
    struct db_conn *c;

    if (!p || db_guest_new(p->home, &guest, request) < 0)
        return NULL;
    c = find_free(p);
    if (!c)
        c = open_one(p);
    if (!c) {
        db_guest_put(guest);
        return NULL;
    }
    c->is_lent = true;
    c->guest = guest;
    return c;
}

/* A query for which a connection is not lent by a call gives it back when it ends, unless it begins a transaction. */
static void lend(struct db_conn *c, struct db_query *q)
{
    q->next = NULL;
    c->is_lent = true;
    c->is_leaving = !q->is_begin;
    c->guest = db_guest_get(q->guest);
    db_conn_add(c, q);
}

/* A server that takes fewer connections than the workers want may have given all to one of them: that one lets one go. Where
   all of them have one bound, it may be the last. */
static void give_way(struct db_pool *p)
{
    const unsigned least = p->target->total_max > 0 ? 0 : 1;
    struct db_conn *c = p->target->is_wanted && ready(p) > least ? find_free(p) : NULL;

    if (c && atomic_exchange(&p->target->is_wanted, false))
        db_conn_close(c);
}

/* Connections that will soon be free for those that wait. */
static unsigned coming(const struct db_pool *p)
{
    unsigned n = 0;

    for (const struct db_conn *c = p->home->conns; c; c = c->next)
        n += c->pool == p && !c->is_apart && !c->is_lent &&
             (c->state == DB_CONNECTING || (c->state == DB_READY && c->first));
    return n;
}

void db_pool_serve(struct db_pool *p)
{
    struct db_conn *c;

    give_way(p);
    c = p->waiting ? find_free(p) : NULL;
    while (c && p->waiting) {
        struct db_query *q = p->waiting;

        p->waiting = q->next;
        if (!q->next)
            p->last = &p->waiting;
        p->nwaiting--;
        lend(c, q);
        c = find_free(p);
    }
    while (p->nwaiting > coming(p) && open_one(p))
        ;
    if (p->waiting)
        db_pool_tick(p);
}

struct db_query *db_pool_query(struct db_pool *p, void *request, int kind, const char *sql,
                               void *priv)
{
    struct db_guest *guest;
    struct db_query *q;

    if (!p || db_guest_new(p->home, &guest, request) < 0)
        return NULL;
    q = db_query_new(p->driver, kind, sql, guest, priv);
    db_guest_put(guest);
    return q;
}

/* Queries that get a connection as soon as it is there wait for none. */
static unsigned spare(const struct db_pool *p)
{
    const bool may_open = backoff_is_over(&p->backoff, clock_now_ms());
    unsigned n = may_open && p->open < p->target->max ? (unsigned)(p->target->max - p->open) : 0;

    for (const struct db_conn *c = p->home->conns; c; c = c->next)
        n += c->pool == p && !c->is_apart && !c->is_lent && c->state != DB_LOST;
    return n;
}

int db_pool_add(struct db_pool *p, struct db_query *q)
{
    if (p->nwaiting >= p->target->waiting_max && p->nwaiting >= p->target->waiting_max + spare(p)) {
        db_query_free(q);
        return -1;
    }
    q->deadline = clock_now_ms() + (p->target->limit_ms ? p->target->limit_ms : DB_LIMIT_MS);
    *p->last = q;
    p->last = &q->next;
    p->nwaiting++;
    db_pool_serve(p);
    return 0;
}

/* A request that has its answer already is not parked, and may ask all the same. */
int db_pool_run(struct db_pool *p, struct db_query *q)
{
    const struct db_host *host = p->home->host;
    void *request = db_guest_request(q->guest);
    const bool is_awaited = request && host->park && host->park(request) == 0;

    q->is_awaited = is_awaited;
    if (db_pool_add(p, q) == 0)
        return 0;
    if (is_awaited)
        host->unpark(request);
    return -1;
}
