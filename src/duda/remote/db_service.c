/* SPDX-License-Identifier: Apache-2.0 */
#include "remote/db_service.h"

#include "duda_host.h"
#include "duda_package.h"

#include <stdlib.h>
#include <unistd.h>

/* ---- the host ---- */

static void *after(struct db_home *home, unsigned ms, void (*fn)(void *arg), void *arg)
{
    (void)home;
    return timer->after(ms, fn, arg);
}

static void *every(struct db_home *home, unsigned ms, void (*fn)(void *arg), void *arg)
{
    (void)home;
    return timer->every(ms, fn, arg);
}

static void cancel(struct db_home *home, void *t)
{
    (void)home;
    (void)timer->cancel(t);
}

static int on_ready(int fd, void *arg)
{
    (void)fd;
    db_conn_input(arg);
    return DUDA_EVENT_OWNED;
}

/* It is watched no more. */
static int on_broken(int fd, void *arg)
{
    (void)fd;
    db_conn_watch_ended(arg);
    return DUDA_EVENT_OWNED;
}

static int mode_of(bool wants_write)
{
    return wants_write ? DUDA_EVENT_RW : DUDA_EVENT_READ;
}

static int watch(struct db_conn *c, bool wants_write)
{
    return event->add(c->fd, mode_of(wants_write), DUDA_EVENT_LEVEL_TRIGGERED, on_ready, on_ready,
                      on_broken, on_broken, NULL, c);
}

static void want(struct db_conn *c, bool wants_write)
{
    const int mode = mode_of(wants_write);

    if (event->lookup(c->fd) && event->lookup(c->fd)->mode != mode)
        (void)event->mode(c->fd, mode, DUDA_EVENT_LEVEL_TRIGGERED);
}

static void unwatch(struct db_conn *c)
{
    if (event->delete (c->fd) == 0)
        (void)close(c->fd);
}

static int on_end(void *dr, void (*fn)(void *arg), void *arg)
{
    return gc->call(dr, fn, arg);
}

static int park(void *dr)
{
    return duda_objects_given->host->park(dr, DUDA_PARK_ASKS);
}

static void unpark(void *dr)
{
    duda_objects_given->host->unpark(dr, DUDA_PARK_ASKS);
}

/* When a service is unloaded the framework ends its timers, and closes what it watches. */
static const struct db_host host = {.after = after,
                                    .every = every,
                                    .cancel = cancel,
                                    .watch = watch,
                                    .want = want,
                                    .unwatch = unwatch,
                                    .on_end = on_end,
                                    .park = park,
                                    .unpark = unpark};

/* ---- workers ---- */

static void end_home(void *home)
{
    db_home_fini(home);
    free(home);
}

void db_package_begin(struct db_package *package)
{
    global->init_with_end(&package->homes, NULL, NULL, end_home);
}

struct db_home *db_home(const struct db_package *package)
{
    return global->get(package->homes);
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

struct db_home *db_home_made(const struct db_package *package)
{
    struct db_home *home = db_home(package);

    if (home || !is_worker())
        return home;
    home = calloc(1, sizeof(*home));
    if (!home)
        return NULL;
    db_home_init(home, &host);
    if (global->set(package->homes, home) == 0)
        return home;
    free(home);
    return NULL;
}

/* ---- connections ---- */

bool db_conn_is_alive(const struct db_package *package, const void *conn)
{
    return conn && db_conn_is_in(db_home(package), conn);
}

bool db_conn_is_usable(const struct db_package *package, const void *conn)
{
    const struct db_conn *c = conn;

    return db_conn_is_alive(package, conn) && c->is_lent && !c->is_leaving && c->state != DB_LOST;
}

int db_conn_time_limit(const struct db_package *package, struct db_conn *c, unsigned ms)
{
    return db_conn_is_usable(package, c) ? db_conn_set_limit(c, ms) : -1;
}

/* ---- pools ---- */

static void *same(void *target)
{
    return target;
}

int db_pool_create(struct db_package *package, duda_global_t *pool, int min, int max,
                   struct db_target *t)
{
    if (!t || !pool || db_target_init(t, min, max) < 0)
        return -1;
    t->next = package->targets;
    package->targets = t;
    global->init(pool, same, t);
    return 0;
}

/* The value of a global is there only later, so it is found by its key's data. */
struct db_target *db_pool_target(const struct db_package *package, const duda_global_t *pool)
{
    struct db_target *t = package->targets;

    while (t && (!pool || pool->data != t))
        t = t->next;
    return t;
}

int db_pool_time_limit(const struct db_package *package, const duda_global_t *pool, unsigned ms)
{
    struct db_target *t = db_pool_target(package, pool);

    if (!t || ms < DB_LIMIT_LEAST_MS)
        return -1;
    t->limit_ms = ms;
    return 0;
}

int db_pool_queue(const struct db_package *package, const duda_global_t *pool, unsigned most)
{
    struct db_target *t = db_pool_target(package, pool);

    if (!t || most > DB_WAITING_MOST)
        return -1;
    t->waiting_max = most;
    return 0;
}

struct db_pool *db_pool_of(const struct db_package *package, duda_global_t *pool)
{
    struct db_target *t = pool ? global->get(*pool) : NULL;
    struct db_home *home = t ? db_home_made(package) : NULL;

    return home ? db_pool_in(home, package->driver, t) : NULL;
}
