/* SPDX-License-Identifier: Apache-2.0 */
#include "data/sql/database.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A connection: new -> connecting -> ready -> lost. Everything that makes call-backs happens in db_conn_drive(), which
 * calls of the service do not enter: what fails in one of them is told by a timer.
 */

static void on_time(void *arg);

/* ---- time and events ---- */

static const struct db_host *host_of(const struct db_conn *c)
{
    return c->home->host;
}

static void set_timer(struct db_conn *c, unsigned ms)
{
    if (c->timer)
        host_of(c)->cancel(c->home, c->timer);
    c->timer = host_of(c)->after(c->home, ms, on_time, c);
}

static void stop_timer(struct db_conn *c)
{
    if (c->timer)
        host_of(c)->cancel(c->home, c->timer);
    c->timer = NULL;
}

void db_conn_unwatch(struct db_conn *c)
{
    if (c->fd < 0)
        return;
    host_of(c)->unwatch(c);
    c->fd = -1;
}

void db_conn_lose(struct db_conn *c, const char *why)
{
    if (c->state == DB_LOST)
        return;
    db_conn_unwatch(c);
    free(c->why);
    c->why = strdup(why && why[0] ? why : "the connection was lost");
    c->state = DB_LOST;
    set_timer(c, 0); /* unless it is driven anyway */
}

void db_conn_watch(struct db_conn *c, int fd, bool wants_write)
{
    if (c->fd >= 0) {
        host_of(c)->want(c, wants_write);
        return;
    }
    c->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (c->fd < 0 || host_of(c)->watch(c, wants_write) < 0) {
        if (c->fd >= 0)
            (void)close(c->fd);
        c->fd = -1;
        db_conn_lose(c, "no descriptor or memory to watch the connection");
    }
}

/* ---- queries ---- */

/* Send the first query, or what of it did not fit. */
static void transmit(struct db_conn *c)
{
    if (!c->is_sent && !c->timer) /* else its PREPARE has begun it */
        set_timer(c, c->first->limit_ms);
    c->driver->send(c);
    c->is_sent = c->state == DB_READY;
}

static struct db_query *unlink_first(struct db_conn *c)
{
    struct db_query *q = c->first;

    c->first = q->next;
    if (!c->first)
        c->last = &c->first;
    c->is_sent = false;
    return q;
}

/* @return whether there may be more to do */
static bool receive(struct db_conn *c)
{
    switch (c->driver->receive(c)) {
    case DB_ENDED:
        stop_timer(c);
        db_query_finish(unlink_first(c));
        return true;
    case DB_AGAIN:
        c->is_sent = false;
        return true;
    default:
        return false;
    }
}

/* With an error, in their order. @param with_first  also that which is under way */
static void fail_all(struct db_conn *c, const char *why, bool with_first)
{
    for (;;) {
        const bool is_kept = c->is_sent && !with_first;
        struct db_query **at = is_kept ? &c->first->next : &c->first, *q = *at;

        if (!q)
            return;
        *at = q->next;
        if (!q->next)
            c->last = at;
        c->is_sent = is_kept;
        if (!q->error)
            q->fault = c->fault ? c->fault : MK_E_EOF;
        db_query_fail(q, why, NULL);
        db_query_finish(q);
    }
}

static void add_first(struct db_conn *c, struct db_query *q)
{
    q->conn = c;
    q->limit_ms = c->limit_ms;
    q->next = c->first;
    c->first = q;
    if (!q->next)
        c->last = &q->next;
}

/* @return a query that sets the time limit of the server; NULL: no memory */
static struct db_query *limit_query(const struct db_driver *driver, unsigned limit_ms)
{
    char sql[80];

    driver->limit_text(sql, sizeof(sql), limit_ms);
    return db_query_new(driver, 0, sql, NULL, NULL);
}

/* ---- connecting ---- */

void db_conn_connected(struct db_conn *c)
{
    struct db_query *limit;

    stop_timer(c);
    limit = limit_query(c->driver, c->limit_ms);
    if (!limit) {
        db_conn_lose(c, db_no_memory);
        return;
    }
    add_first(c, limit);
    c->state = DB_READY;
    c->was_ready = true;
    c->idle_since = clock_now_ms();
    if (c->pool)
        db_pool_connected(c->pool);
    if (c->driver->set_up)
        c->driver->set_up(c);
    c->driver->connected(c, 0, db_guest_request(c->guest));
}

/* ---- the end ---- */

void db_conn_free(struct db_conn *c)
{
    if (c->fd >= 0 && host_of(c)->forget)
        host_of(c)->forget(c);
    c->driver->free_conn(c);
    while (c->first)
        db_query_free(unlink_first(c));
    for (struct db_kept *k = c->kept; k < c->kept + DB_KEPT_MAX; k++)
        free(k->sql);
    db_guest_put(c->guest);
    free(c->why);
    free(c);
}

static void forget_in_pool(const struct db_conn *c)
{
    struct db_pool *p = c->pool;

    if (c->is_apart) {
        c->driver->apart_is_gone(p);
        return;
    }
    db_pool_forget(p);
}

void db_conn_close(struct db_conn *c)
{
    struct db_conn **at = &c->home->conns;

    db_conn_unwatch(c);
    stop_timer(c);
    if (c->turn)
        host_of(c)->cancel(c->home, c->turn);
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    if (c->pool)
        forget_in_pool(c);
    db_conn_free(c);
}

static void tell_disconnected(struct db_conn *c)
{
    void *request = db_guest_request(c->guest);

    c->driver->connected(c, -1, request);
    c->driver->disconnected(c, c->state == DB_LOST ? -1 : 0, request);
}

static void give_back(struct db_conn *c)
{
    db_guest_put(c->guest);
    c->guest = NULL;
    c->is_lent = c->is_leaving = c->is_left = false;
    c->idle_since = clock_now_ms();
}

/* @return whether it has to roll back before it is another's */
static bool rolls_back(struct db_conn *c)
{
    struct db_query *q;

    if (!c->pool || c->state != DB_READY || !c->driver->is_in_transaction(c))
        return false;
    q = db_query_new(c->driver, 0, "ROLLBACK", NULL, NULL);
    if (!q) {
        db_conn_lose(c, db_no_memory);
        return true;
    }
    db_conn_add(c, q);
    return true;
}

/* Nothing is queued: is it anybody's? */
static void settle(struct db_conn *c)
{
    struct db_pool *p = c->pool;

    if (c->is_leaving && rolls_back(c))
        return;
    c->is_inside = true;
    if (c->is_leaving)
        tell_disconnected(c);
    c->is_inside = false;
    if (c->state == DB_LOST ? !c->is_lent || c->is_leaving || !c->was_ready : c->is_leaving && !p)
        db_conn_close(c);
    else if (c->is_leaving)
        give_back(c);
    if (p)
        db_pool_serve(p);
}

/* Its queries, and those that come meanwhile. */
static void end_lost(struct db_conn *c)
{
    const char *why = c->why ? c->why : db_no_memory;

    stop_timer(c);
    if (c->driver->lost)
        c->driver->lost(c);
    if (c->pool && !c->was_ready)
        db_pool_failed(c->pool, why);
    fail_all(c, why, true);
    c->driver->connected(c, -1, db_guest_request(c->guest));
    fail_all(c, why, true);
}

static void connect_on(struct db_conn *c)
{
    c->has_event = false;
    c->driver->connect_on(c);
}

static void work(struct db_conn *c)
{
    if (c->state == DB_CONNECTING && c->has_event)
        connect_on(c);
    do {
        if (c->is_left)
            fail_all(c, "the client has left", false);
        if (c->state == DB_READY && c->first)
            transmit(c);
    } while (c->state == DB_READY && c->first && receive(c));
    if (c->state == DB_LOST)
        end_lost(c);
}

void db_conn_drive(struct db_conn *c)
{
    if (c->is_inside)
        return;
    c->is_inside = true;
    work(c);
    c->is_inside = false;
    if (!c->first)
        settle(c);
}

void db_conn_input(struct db_conn *c)
{
    c->has_event = true;
    if (c->state == DB_READY && c->driver->input)
        c->driver->input(c);
    db_conn_drive(c);
}

/* The client library has to find the end itself. */
void db_conn_watch_ended(struct db_conn *c)
{
    if (c->state == DB_READY) {
        const int copy = fcntl(c->fd, F_DUPFD_CLOEXEC, 0);

        db_conn_unwatch(c);
        db_conn_watch(c, copy, false);
        if (copy >= 0)
            (void)close(copy);
    }
    db_conn_input(c);
}

static void on_time(void *arg)
{
    struct db_conn *c = arg;

    c->timer = NULL;
    c->fault = c->state == DB_CONNECTING ? MK_E_PEER : MK_E_TIMEOUT;
    if (c->state == DB_CONNECTING)
        db_conn_lose(c, "the time limit for connecting is over");
    else
        db_conn_lose(c, "the time limit of the query is over");
    db_conn_drive(c);
}

static void on_turn(void *arg)
{
    struct db_conn *c = arg;

    c->turn = NULL;
    db_conn_drive(c);
}

void db_conn_turn(struct db_conn *c)
{
    if (!c->turn)
        c->turn = host_of(c)->after(c->home, 0, on_turn, c);
    if (!c->turn)
        db_conn_lose(c, db_no_memory);
}

/* ---- calls ---- */

bool db_conn_is_in(const struct db_home *home, const void *conn)
{
    const struct db_conn *c = home && conn ? home->conns : NULL;

    while (c && (const void *)c != conn)
        c = c->next;
    return c != NULL;
}

void db_conn_add(struct db_conn *c, struct db_query *q)
{
    q->conn = c;
    q->limit_ms = c->limit_ms;
    *c->last = q;
    c->last = &q->next;
    if (!c->is_inside && c->state == DB_READY && !c->is_sent)
        transmit(c);
}

void db_conn_leave(struct db_conn *c)
{
    c->is_leaving = true;
    if (!c->is_inside && !c->first)
        settle(c);
    else if (c->state == DB_NEW)
        db_conn_lose(c, "it was not connected");
}

int db_conn_set_limit(struct db_conn *c, unsigned ms)
{
    struct db_query *q;

    if (c->pool || ms < DB_LIMIT_LEAST_MS)
        return -1;
    q = c->state == DB_READY ? limit_query(c->driver, ms) : NULL;
    if (c->state == DB_READY && !q)
        return -1;
    c->limit_ms = ms;
    if (q)
        db_conn_add(c, q);
    return 0;
}

void db_conn_open(struct db_conn *c, const struct db_target *t)
{
    unsigned ms;

    c->limit_ms = t->limit_ms ? t->limit_ms : c->limit_ms;
    c->state = DB_CONNECTING;
    ms = c->driver->connect(c, t);
    if (c->state != DB_LOST)
        set_timer(c, ms ? ms : DB_LIMIT_MS);
}

struct db_conn *db_conn_new(const struct db_driver *driver, struct db_home *home,
                            struct db_pool *pool, bool is_apart)
{
    struct db_conn *c = calloc(1, driver->conn_size);

    if (!c)
        return NULL;
    c->driver = driver;
    c->home = home;
    c->pool = pool;
    c->is_apart = is_apart;
    c->fd = -1;
    c->limit_ms = DB_LIMIT_MS;
    c->last = &c->first;
    c->next = home->conns;
    home->conns = c;
    return c;
}
