/* SPDX-License-Identifier: Apache-2.0 */
#include "pg.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A connection: connecting -> ready -> lost. Everything that makes call-backs happens in pg_conn_drive(), which calls of
 * the service do not enter: what fails in one of them is told by a timer.
 */

static void on_time(void *arg);
static int on_ready(int fd, void *arg);
static int on_end(int fd, void *arg);

/* ---- time and events ---- */

static void set_timer(struct postgresql_conn *c, unsigned ms)
{
    if (c->timer)
        (void)timer->cancel(c->timer);
    c->timer = timer->after(ms, on_time, c);
}

static void stop_timer(struct postgresql_conn *c)
{
    if (c->timer)
        (void)timer->cancel(c->timer);
    c->timer = NULL;
}

static void unwatch(struct postgresql_conn *c)
{
    if (c->fd < 0)
        return;
    if (event->delete (c->fd) == 0)
        (void)close(c->fd);
    c->fd = -1;
}

static void lose(struct postgresql_conn *c, const char *why)
{
    if (c->state == PG_LOST)
        return;
    unwatch(c);
    free(c->why);
    c->why = strdup(why && why[0] ? why : "the connection was lost");
    if (c->pool && c->state == PG_CONNECTING)
        c->pool->connecting -= !c->is_ear;
    c->state = PG_LOST;
    set_timer(c, 0); /* unless it is driven anyway */
}

static void watch(struct postgresql_conn *c, bool wants_write)
{
    const int mode = wants_write ? DUDA_EVENT_RW : DUDA_EVENT_READ;

    if (c->fd >= 0) {
        if (event->lookup(c->fd) && event->lookup(c->fd)->mode != mode)
            (void)event->mode(c->fd, mode, DUDA_EVENT_LEVEL_TRIGGERED);
        return;
    }
    c->fd = fcntl(PQsocket(c->pg), F_DUPFD_CLOEXEC, 0);
    if (c->fd < 0 || event->add(c->fd, mode, DUDA_EVENT_LEVEL_TRIGGERED, on_ready, on_ready, on_end,
                                on_end, NULL, c) < 0) {
        if (c->fd >= 0)
            (void)close(c->fd);
        c->fd = -1;
        lose(c, "no descriptor or memory to watch the connection");
    }
}

/* ---- kept statements ---- */

static struct pg_kept *find_kept(struct postgresql_conn *c, const char *sql)
{
    for (struct pg_kept *k = c->kept; k < c->kept + PG_KEPT_MAX && k->sql; k++) {
        if (strcmp(k->sql, sql) == 0)
            return k;
    }
    return NULL;
}

/* The last takes its place. */
static void forget(struct postgresql_conn *c, const char *sql)
{
    struct pg_kept *k = find_kept(c, sql), *end = c->kept;

    while (end < c->kept + PG_KEPT_MAX && end->sql)
        end++;
    if (!k)
        return;
    free(k->sql);
    *k = end[-1];
    end[-1].sql = NULL;
}

/* Names are used once: a statement that is out of date lies there under its own. @return NULL: no room or no memory */
static struct pg_kept *keep(struct postgresql_conn *c, const char *sql)
{
    struct pg_kept *k = c->kept;

    while (k < c->kept + PG_KEPT_MAX && k->sql)
        k++;
    if (k == c->kept + PG_KEPT_MAX)
        return NULL;
    k->sql = strdup(sql);
    k->serial = ++c->serial;
    return k->sql ? k : NULL;
}

/* ---- queries ---- */

static int send_params(struct postgresql_conn *c, struct postgresql_query *q, const char *prepared)
{
    const struct pg_values *v = q->params;

    if (prepared)
        return PQsendQueryPrepared(c->pg, prepared, v->n, v->values, v->lengths, v->formats,
                                   q->result_format);
    return PQsendQueryParams(c->pg, q->sql, v->n, NULL, v->values, v->lengths, v->formats,
                             q->result_format);
}

static int send_kept(struct postgresql_conn *c, struct postgresql_query *q)
{
    struct pg_kept *k = find_kept(c, q->sql);
    char name[32];

    q->is_preparing = !k;
    if (!k)
        k = keep(c, q->sql);
    if (!k) {
        q->is_preparing = false;
        return send_params(c, q, NULL);
    }
    (void)snprintf(name, sizeof(name), "duda_%u", k->serial);
    return q->is_preparing ? PQsendPrepare(c->pg, name, q->sql, 0, NULL) : send_params(c, q, name);
}

static int send_one(struct postgresql_conn *c, struct postgresql_query *q)
{
    switch (q->kind) {
    case PG_PARAMS:
        return send_params(c, q, NULL);
    case PG_PREPARED:
        return send_params(c, q, q->sql);
    case PG_KEPT:
        return send_kept(c, q);
    default:
        return PQsendQuery(c->pg, q->sql);
    }
}

/* Send the first query, or what of it did not fit. */
static void transmit(struct postgresql_conn *c)
{
    int left;

    if (!c->is_sent) {
        if (!send_one(c, c->first)) {
            lose(c, PQerrorMessage(c->pg));
            return;
        }
        (void)PQsetSingleRowMode(c->pg);
        if (!c->timer) /* else its PREPARE has begun it */
            set_timer(c, c->first->limit_ms);
        c->is_sent = true;
    }
    left = PQflush(c->pg);
    if (left < 0)
        lose(c, PQerrorMessage(c->pg));
    else
        watch(c, left > 0);
}

static struct postgresql_query *unlink_first(struct postgresql_conn *c)
{
    struct postgresql_query *q = c->first;

    c->first = q->next;
    if (!c->first)
        c->last = &c->first;
    c->is_sent = false;
    return q;
}

/* Its statement is prepared now, or once more: the query itself follows. @return whether it goes on */
static bool goes_on(struct postgresql_conn *c, struct postgresql_query *q)
{
    if (q->is_preparing && q->error)
        forget(c, q->sql);
    if (q->is_preparing)
        return !q->error;
    if (q->is_out_of_date)
        forget(c, q->sql);
    return false;
}

/* All results of the first query are there. */
static void end_first(struct postgresql_conn *c)
{
    if (goes_on(c, c->first)) {
        c->is_sent = false;
        return;
    }
    stop_timer(c);
    pg_query_finish(unlink_first(c));
}

static bool is_copy(const PGresult *result)
{
    const ExecStatusType status = PQresultStatus(result);

    return status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH;
}

/* @return whether the first query has ended */
static bool receive(struct postgresql_conn *c)
{
    while (c->state == PG_READY && !PQisBusy(c->pg)) {
        PGresult *result = PQgetResult(c->pg);

        if (!result) {
            end_first(c);
            return true;
        }
        if (is_copy(result))
            lose(c, "COPY is not possible here");
        else
            pg_query_take(c->first, result);
        PQclear(result);
    }
    return false;
}

/* With an error, in their order. @param with_first  also that which is under way */
static void fail_all(struct postgresql_conn *c, const char *why, bool with_first)
{
    for (;;) {
        const bool is_kept = c->is_sent && !with_first;
        struct postgresql_query **at = is_kept ? &c->first->next : &c->first, *q = *at;

        if (!q)
            return;
        *at = q->next;
        if (!q->next)
            c->last = at;
        c->is_sent = is_kept;
        pg_query_fail(q, why, NULL);
        pg_query_finish(q);
    }
}

/* ---- connecting ---- */

static void tell_connected(struct postgresql_conn *c, int status)
{
    postgresql_connect_cb *cb = c->on_connect;

    c->on_connect = NULL;
    if (cb)
        cb(c, status, c->guest ? c->guest->dr : NULL);
}

static void ignore_notice(void *arg, const char *text)
{
    (void)arg;
    (void)text;
}

static void add_first(struct postgresql_conn *c, struct postgresql_query *q)
{
    q->conn = c;
    q->limit_ms = c->limit_ms;
    q->next = c->first;
    c->first = q;
    if (!q->next)
        c->last = &q->next;
}

static void set_up(struct postgresql_conn *c)
{
    struct postgresql_query *limit;

    stop_timer(c);
    (void)PQsetnonblocking(c->pg, 1);
    limit = pg_limit_query(c->limit_ms);
    if (!limit) {
        lose(c, "no memory");
        return;
    }
    add_first(c, limit);
    if (c->pool && !c->is_ear)
        c->pool->connecting--;
    c->state = PG_READY;
    c->was_ready = true;
    c->idle_since = clock_now_ms();
    watch(c, false);
    if (c->is_ear)
        pg_ear_listen(c->pool);
    else if (c->pool)
        pg_pool_connected(c->pool);
    tell_connected(c, POSTGRESQL_OK);
}

/* libpq may go on with another socket of the same number. */
static void connect_on(struct postgresql_conn *c)
{
    unwatch(c);
    switch (PQconnectPoll(c->pg)) {
    case PGRES_POLLING_OK:
        set_up(c);
        break;
    case PGRES_POLLING_READING:
        watch(c, false);
        break;
    case PGRES_POLLING_WRITING:
        watch(c, true);
        break;
    default:
        lose(c, PQerrorMessage(c->pg));
    }
}

/* ---- the end ---- */

void pg_conn_free(struct postgresql_conn *c)
{
    while (c->first)
        pg_query_free(unlink_first(c));
    for (struct pg_kept *k = c->kept; k < c->kept + PG_KEPT_MAX; k++)
        free(k->sql);
    PQfinish(c->pg);
    pg_guest_put(c->guest);
    free(c->why);
    free(c);
}

static void forget_in_pool(const struct postgresql_conn *c)
{
    struct pg_pool *p = c->pool;

    if (c->is_ear) {
        p->ear = NULL;
        pg_pool_tick(p);
        return;
    }
    p->open--;
    p->connecting -= c->state == PG_CONNECTING;
}

void pg_conn_close(struct postgresql_conn *c)
{
    struct postgresql_conn **at = &c->home->conns;

    unwatch(c);
    stop_timer(c);
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    if (c->pool)
        forget_in_pool(c);
    pg_conn_free(c);
}

static void tell_disconnected(struct postgresql_conn *c)
{
    postgresql_disconnect_cb *cb = c->on_disconnect;

    tell_connected(c, POSTGRESQL_ERR);
    c->on_disconnect = NULL;
    if (cb)
        cb(c, c->state == PG_LOST ? POSTGRESQL_ERR : POSTGRESQL_OK, c->guest ? c->guest->dr : NULL);
}

static void give_back(struct postgresql_conn *c)
{
    pg_guest_put(c->guest);
    c->guest = NULL;
    c->is_lent = c->is_leaving = c->is_left = false;
    c->idle_since = clock_now_ms();
}

/* @return whether it has to roll back before it is another's */
static bool rolls_back(struct postgresql_conn *c)
{
    struct postgresql_query *q;

    if (!c->pool || c->state != PG_READY || PQtransactionStatus(c->pg) == PQTRANS_IDLE)
        return false;
    q = pg_query_new(PG_TEXT, "ROLLBACK", NULL, NULL);
    if (!q) {
        lose(c, "no memory");
        return true;
    }
    pg_conn_add(c, q);
    return true;
}

/* Nothing is queued: is it anybody's? */
static void settle(struct postgresql_conn *c)
{
    struct pg_pool *p = c->pool;

    if (c->is_leaving && rolls_back(c))
        return;
    c->is_inside = true;
    if (c->is_leaving)
        tell_disconnected(c);
    c->is_inside = false;
    if (c->state == PG_LOST ? !c->is_lent || c->is_leaving || !c->was_ready : c->is_leaving && !p)
        pg_conn_close(c);
    else if (c->is_leaving)
        give_back(c);
    if (p)
        pg_pool_serve(p);
}

/* Its queries, and those that come meanwhile. */
static void end_lost(struct postgresql_conn *c)
{
    stop_timer(c);
    if (c->pool && !c->was_ready)
        pg_pool_failed(c->pool, c->why ? c->why : "no memory");
    fail_all(c, c->why, true);
    tell_connected(c, POSTGRESQL_ERR);
    fail_all(c, c->why, true);
}

static void work(struct postgresql_conn *c)
{
    if (c->state == PG_CONNECTING && c->fd >= 0)
        connect_on(c);
    do {
        if (c->is_left)
            fail_all(c, "the client has left", false);
        if (c->state == PG_READY && c->first)
            transmit(c);
    } while (c->state == PG_READY && c->first && receive(c));
    if (c->state == PG_LOST)
        end_lost(c);
}

void pg_conn_drive(struct postgresql_conn *c)
{
    if (c->is_inside)
        return;
    c->is_inside = true;
    work(c);
    c->is_inside = false;
    if (!c->first)
        settle(c);
}

static void on_input(struct postgresql_conn *c)
{
    if (c->state == PG_READY && !PQconsumeInput(c->pg))
        lose(c, PQerrorMessage(c->pg));
    if (c->state == PG_READY)
        pg_ear_hear(c);
    pg_conn_drive(c);
}

static int on_ready(int fd, void *arg)
{
    (void)fd;
    on_input(arg);
    return DUDA_EVENT_OWNED;
}

/* It is watched no more; libpq has to find the end itself. */
static int on_end(int fd, void *arg)
{
    struct postgresql_conn *c = arg;

    (void)fd;
    if (c->state == PG_READY) {
        unwatch(c);
        watch(c, false);
    }
    on_input(c);
    return DUDA_EVENT_OWNED;
}

static void on_time(void *arg)
{
    struct postgresql_conn *c = arg;

    c->timer = NULL;
    if (c->state == PG_CONNECTING)
        lose(c, "the time limit for connecting is over");
    else
        lose(c, "the time limit of the query is over");
    pg_conn_drive(c);
}

/* ---- calls ---- */

bool pg_conn_is_alive(const struct postgresql_conn *conn)
{
    const struct pg_home *home = conn ? pg_home() : NULL;
    const struct postgresql_conn *c = home ? home->conns : NULL;

    while (c && c != conn)
        c = c->next;
    return c != NULL;
}

void pg_conn_add(struct postgresql_conn *c, struct postgresql_query *q)
{
    q->conn = c;
    q->limit_ms = c->limit_ms;
    *c->last = q;
    c->last = &q->next;
    if (!c->is_inside && c->state == PG_READY && !c->is_sent)
        transmit(c);
}

void pg_conn_leave(struct postgresql_conn *c)
{
    c->is_leaving = true;
    if (!c->is_inside && !c->first)
        settle(c);
}

/* connect_timeout of libpq counts in its blocking calls only. */
static unsigned connect_ms(PGconn *pg)
{
    PQconninfoOption *options = PQconninfo(pg);
    unsigned long seconds = 0;

    for (const PQconninfoOption *o = options; o && o->keyword; o++) {
        if (strcmp(o->keyword, "connect_timeout") == 0 && o->val)
            seconds = strtoul(o->val, NULL, 10);
    }
    PQconninfoFree(options);
    return seconds > 0 && seconds < 3600 ? (unsigned)seconds * 1000 : PG_LIMIT_MS;
}

static void begin(struct postgresql_conn *c)
{
    (void)PQsetNoticeProcessor(c->pg, ignore_notice, NULL);
    if (PQstatus(c->pg) == CONNECTION_BAD) {
        lose(c, PQerrorMessage(c->pg));
        return;
    }
    set_timer(c, connect_ms(c->pg));
    watch(c, true);
}

struct postgresql_conn *pg_conn_new(struct pg_home *home, const struct pg_target *t,
                                    struct pg_pool *pool, bool is_ear)
{
    struct postgresql_conn *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    c->pg = PQconnectStartParams((const char *const *)t->keys, (const char *const *)t->values, 0);
    if (!c->pg) {
        free(c);
        return NULL;
    }
    c->home = home;
    c->pool = pool;
    c->is_ear = is_ear;
    c->fd = -1;
    c->limit_ms = t->limit_ms ? t->limit_ms : PG_LIMIT_MS;
    c->last = &c->first;
    c->next = home->conns;
    home->conns = c;
    if (pool && !is_ear) {
        pool->open++;
        pool->connecting++;
    }
    begin(c);
    return c;
}
