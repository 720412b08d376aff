/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/database.h"

#include "duda_host.h"
#include "duda_package.h"

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

void db_home_end(struct db_home *home)
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
    free(home);
}

struct db_home *db_home(const struct db_driver *driver)
{
    return global->get(*driver->homes);
}

static void nothing(void *arg)
{
    (void)arg;
}

/* Other threads have neither timers nor events. */
static bool is_worker(void)
{
    return timer->cancel(timer->after(DB_LIMIT_MS, nothing, NULL)) == 0;
}

struct db_home *db_home_made(const struct db_driver *driver)
{
    struct db_home *home = db_home(driver);

    if (home || !is_worker())
        return home;
    home = calloc(1, sizeof(*home));
    if (home && global->set(*driver->homes, home) < 0) {
        free(home);
        return NULL;
    }
    return home;
}

/* ---- the pools of this worker ---- */

static void *same(void *target)
{
    return target;
}

int db_pool_create(const struct db_driver *driver, duda_global_t *pool, int min, int max,
                   struct db_target *t)
{
    if (min == 0 && max == 0) {
        min = DB_POOL_MIN;
        max = DB_POOL_MAX;
    }
    if (!t || !pool || min < 0 || max < 1 || min > max)
        return -1;
    t->min = min;
    t->max = max;
    t->limit_ms = DB_LIMIT_MS;
    t->waiting_max = DB_WAITING_MAX;
    t->next = *driver->targets;
    *driver->targets = t;
    global->init(pool, same, t);
    return 0;
}

/* The value of a global is there only later, so it is found by its key's data. */
struct db_target *db_pool_target(const struct db_driver *driver, const duda_global_t *pool)
{
    struct db_target *t = *driver->targets;

    while (t && (!pool || pool->data != t))
        t = t->next;
    return t;
}

int db_pool_time_limit(const struct db_driver *driver, const duda_global_t *pool, unsigned ms)
{
    struct db_target *t = db_pool_target(driver, pool);

    if (!t || ms < DB_LIMIT_LEAST_MS)
        return -1;
    t->limit_ms = ms;
    return 0;
}

int db_pool_queue(const struct db_driver *driver, const duda_global_t *pool, unsigned most)
{
    struct db_target *t = db_pool_target(driver, pool);

    if (!t || most > DB_WAITING_MOST)
        return -1;
    t->waiting_max = most;
    return 0;
}

struct db_pool *db_pool_of(const struct db_driver *driver, duda_global_t *pool)
{
    struct db_target *t = pool ? global->get(*pool) : NULL;
    struct db_home *home = t ? db_home_made(driver) : NULL;
    struct db_pool *p = home ? home->pools : NULL;

    while (p && p->target != t)
        p = p->next;
    if (p || !home)
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
        (void)timer->cancel(p->tick);
        p->tick = NULL;
    }
}

void db_pool_tick(struct db_pool *p)
{
    if (!p->tick)
        p->tick = timer->every(TICK_MS, tick, p);
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

/* ---- connections ---- */

static struct db_conn *find_free(const struct db_pool *p)
{
    struct db_conn *c = p->home->conns;

    while (c && !is_free(c, p))
        c = c->next;
    return c;
}

static struct db_conn *open_one(struct db_pool *p)
{
    struct db_conn *c;

    if (p->open >= p->target->max || !backoff_is_over(&p->backoff, clock_now_ms()))
        return NULL;
    c = db_conn_new(p->driver, p->home, p, false);
    if (!c)
        return NULL;
    db_conn_open(c, p->target);
    if (p->open > p->target->min)
        db_pool_tick(p);
    return c;
}

struct db_conn *db_pool_lend(struct db_pool *p, duda_request_t *dr)
{
    struct db_guest *guest;
    struct db_conn *c;

    if (!p || db_guest_new(p->driver, &guest, dr) < 0)
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

/* A server that takes fewer connections than the workers want may have given all to one of them: that one lets one go. */
static void give_way(struct db_pool *p)
{
    struct db_conn *c = p->target->is_wanted && ready(p) > 1 ? find_free(p) : NULL;

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

struct db_query *db_pool_query(struct db_pool *p, duda_request_t *dr, int kind, const char *sql,
                               void *priv)
{
    struct db_guest *guest;
    struct db_query *q;

    if (!p || db_guest_new(p->driver, &guest, dr) < 0)
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
    duda_request_t *dr = db_guest_request(q->guest);
    const bool is_awaited = dr && duda_objects_given->host->park(dr, DUDA_PARK_ASKS) == 0;

    q->is_awaited = is_awaited;
    if (db_pool_add(p, q) == 0)
        return 0;
    if (is_awaited)
        duda_objects_given->host->unpark(dr, DUDA_PARK_ASKS);
    return -1;
}
