/* SPDX-License-Identifier: Apache-2.0 */
#include "data/remote/backend.h"
#include "data/remote/client_int.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Calls, the servers of a worker, and time. */

/* ---- servers that are left out ---- */

/* @return how many workers leave it out now */
static unsigned count_out(struct remote_server *s, int more)
{
    unsigned n;

    (void)pthread_mutex_lock(&s->lock);
    s->nout += (unsigned)more;
    n = s->nout;
    (void)pthread_mutex_unlock(&s->lock);
    return n;
}

static void say(const struct remote_pool *pool, enum mk_log_level level, const char *what,
                const char *why)
{
    const struct remote_home *home = &pool->client->home;
    char line[REMOTE_TEXT_MAX + 256];

    (void)snprintf(line, sizeof(line), "%s: %s %s%s", pool->client->spec->protocol->name,
                   pool->server->place.text, what, why);
    home->log(home, level, line);
}

void remote_call_forget(const struct remote_pool *pool, struct remote_call *call)
{
    pool->client->ncalls--;
    free(call);
}

void remote_pool_lose(struct remote_pool *pool, struct remote_call *first,
                      const struct remote_call *unsent, enum remote_end end, const char *text)
{
    const struct remote_client *c = pool->client;
    const int64_t now_ms = clock_now_ms();
    bool is_unsent = false;

    for (struct remote_call *call = first, *next; call; call = next) {
        next = call->next;
        is_unsent |= call == unsent;
        if (call->is_over)
            remote_call_forget(pool, call);
        else if (call->deadline_ms <= now_ms)
            c->spec->protocol->lost(c->of, call, REMOTE_LATE, "no answer within the time limit");
        else
            c->spec->protocol->lost(c->of, call, is_unsent ? REMOTE_UNSENT : end, text);
        end = REMOTE_LOST;
    }
}

void remote_pool_failed(struct remote_pool *pool, const char *why, bool is_probe)
{
    const struct remote_protocol *protocol = pool->client->spec->protocol;
    struct remote_call *waiting = pool->waiting.first;

    if (pool->state != REMOTE_POOL_UP && !is_probe)
        return; /* another connection has failed before */
    if (pool->state == REMOTE_POOL_UP && count_out(pool->server, 1) == 1)
        say(pool, MK_LOG_WARN, "is left out: ", why);
    backoff_failed(&pool->backoff, protocol->retry_first_ms, protocol->retry_last_ms);
    pool->state = REMOTE_POOL_OUT;
    remote_queue_init(&pool->waiting);
    remote_pool_lose(pool, waiting, waiting, REMOTE_UNSENT, why);
}

void remote_pool_is_back(struct remote_pool *pool)
{
    pool->state = REMOTE_POOL_UP;
    backoff_end(&pool->backoff);
    if (count_out(pool->server, -1) > 0)
        return;
    say(pool, MK_LOG_INFO, "is back", "");
}

void remote_pool_try(struct remote_pool *pool, bool fresh)
{
    const struct remote_spec *spec = pool->client->spec;
    struct remote_call *call = spec->protocol->probe();

    pool->state = REMOTE_POOL_TRIED;
    if (call) {
        call->deadline_ms = clock_now_ms() + spec->timeout_ms;
        call->is_over = false;
        if (remote_link_new(pool, call, fresh) == 0)
            return;
    }
    free(call);
    remote_pool_failed(pool, "no memory", true);
}

/* ---- connections for calls ---- */

/* @return 0: there are as many as there may be, or one more is on its way; an error */
static int connect_another(struct remote_pool *pool)
{
    return pool->nlinks < pool->client->spec->connections ? remote_link_new(pool, NULL, false) : 0;
}

/* @return 0: one is on its way, or those that there are will be free; an error */
static int connect_one(struct remote_pool *pool)
{
    return remote_link_coming(pool) > 0 ? 0 : connect_another(pool);
}

void remote_pool_serve(struct remote_pool *pool)
{
    int err;

    if (!pool->waiting.first)
        return;
    err = connect_one(pool);
    if (err < 0 && pool->nlinks == 0)
        remote_pool_failed(pool, mk_error_text(err), false);
    else if (err < 0)
        remote_link_share(pool);
}

/* Where connections are scarce one is enough for a worker. */
static bool may_grow(const struct remote_pool *pool)
{
    return !pool->is_tight && backoff_is_over(&pool->growth, clock_now_ms());
}

/* @return how many more connections come than calls wait; < 0: fewer come */
static int count_spare(const struct remote_pool *pool)
{
    int n = (int)remote_link_coming(pool);

    for (const struct remote_call *call = pool->waiting.first; call && n >= 0; call = call->next)
        n--;
    return n;
}

/* May a call have a connection of its own, where others keep theirs busy for long? */
static bool is_worth_waiting(const struct remote_pool *pool)
{
    const struct remote_spec *spec = pool->client->spec;

    return spec->protocol->late && may_grow(pool) &&
           (pool->nlinks < spec->connections || count_spare(pool) > 0);
}

/* Calls that wait already would end within the call of a user, so they are served when that has returned. */
static int wait_for_one(struct remote_pool *pool, struct remote_call *call)
{
    const int err = connect_one(pool);

    if (err < 0 && pool->nlinks == 0 && !pool->waiting.first) {
        remote_pool_failed(pool, mk_error_text(err), false);
        return -1;
    }
    remote_queue_add(&pool->waiting, call);
    if (err < 0)
        remote_link_share(pool);
    else if (count_spare(pool) < 0 && may_grow(pool))
        (void)!connect_another(pool);
    return 0;
}

/* ---- time ---- */

static struct remote_call *take_late(struct remote_queue *q, int64_t now_ms)
{
    struct remote_call **at = &q->first, *call;

    while (*at && now_ms < (*at)->deadline_ms)
        at = &(*at)->next;
    call = *at;
    if (!call)
        return NULL;
    *at = call->next;
    if (!*at)
        q->end = at;
    call->next = NULL;
    return call;
}

static struct remote_call *find_late(const struct remote_pool *pool, int64_t now_ms)
{
    struct remote_call *call = NULL;

    for (const struct remote_link *l = pool->links; l && !call; l = l->next)
        call = remote_link_late(l, now_ms);
    return call;
}

static struct remote_link *find_due(const struct remote_pool *pool, int64_t now_ms)
{
    struct remote_link *l = pool->links;

    while (l && !remote_link_is_due(l, now_ms))
        l = l->next;
    return l;
}

/* The functions of calls may change all lists, so each look begins anew. */
static void look_after(struct remote_pool *pool, int64_t now_ms)
{
    struct remote_call *call;
    struct remote_link *l, *next;
    const struct remote_client *c = pool->client;

    while ((call = take_late(&pool->waiting, now_ms)))
        remote_pool_lose(pool, call, NULL, REMOTE_LATE, "");
    while ((call = find_late(pool, now_ms))) {
        call->is_over = true;
        c->spec->protocol->late(c->of, call);
    }
    while ((l = find_due(pool, now_ms)))
        remote_link_expire(l);
    if (pool->nlinks == 0)
        remote_pool_serve(pool);
    if (!pool->is_tight)
        remote_link_share(pool); /* a new one takes its time */
    for (l = pool->links; l; l = next) {
        next = l->next;
        (void)remote_link_rest(l);
    }
    if (pool->state == REMOTE_POOL_OUT && backoff_is_over(&pool->backoff, now_ms))
        remote_pool_try(pool, false);
}

static bool has_to_look(const struct remote_client *c)
{
    if (c->ncalls > 0)
        return true;
    for (unsigned i = 0; i < c->nservers; i++) {
        if (c->pools[i].links || c->pools[i].state != REMOTE_POOL_UP)
            return true;
    }
    return false;
}

static void look_after_all(void *arg)
{
    struct remote_client *c = arg;
    const int64_t now_ms = clock_now_ms();

    for (unsigned i = 0; i < c->nservers; i++)
        look_after(&c->pools[i], now_ms);
    if (has_to_look(c)) {
        mk_alarm_set(c->tick, REMOTE_TICK_MS);
        return;
    }
    mk_alarm_free(c->tick);
    c->tick = NULL;
}

void remote_client_run(const struct remote_client *c, void (*fn)(void *arg), void *arg)
{
    if (c->home.run)
        c->home.run(&c->home, fn, arg);
    else
        fn(arg);
}

static void on_tick(struct mk_alarm *alarm, void *arg)
{
    (void)alarm;
    remote_client_run(arg, look_after_all, arg);
}

/* @return 0; -1: no memory */
static int start_tick(struct remote_client *c)
{
    if (c->tick)
        return 0;
    c->tick = mk_alarm_new(c->home.worker, on_tick, c);
    if (!c->tick)
        return -1;
    mk_alarm_set(c->tick, REMOTE_TICK_MS);
    return 0;
}

/* ---- calls ---- */

int remote_client_begin(struct remote_client *c, struct remote_call *call)
{
    if (c->ncalls >= c->spec->calls_max || start_tick(c) < 0)
        return -1;
    call->deadline_ms = clock_now_ms() + c->spec->timeout_ms;
    call->is_over = false;
    c->ncalls++;
    return 0;
}

void remote_client_cancel(struct remote_client *c)
{
    c->ncalls--;
}

int remote_client_send(struct remote_client *c, unsigned server, struct remote_call *call)
{
    struct remote_pool *pool = &c->pools[server];
    struct remote_link *l;

    if (pool->state != REMOTE_POOL_UP)
        return -1;
    pool->used = ++c->nsent;
    l = remote_link_choose(pool);
    if (!l || (l->ncalls > 0 && is_worth_waiting(pool)))
        return wait_for_one(pool, call);
    if (l->ncalls > 0 && may_grow(pool))
        (void)!connect_one(pool);
    remote_link_send(l, call);
    return 0;
}

void remote_client_end(struct remote_client *c, const struct remote_call *call)
{
    if (!call->is_over)
        c->ncalls--;
}

uint64_t remote_client_alive(const struct remote_client *c)
{
    uint64_t alive = 0;

    for (unsigned i = 0; i < c->nservers; i++)
        alive |= (uint64_t)(c->pools[i].state == REMOTE_POOL_UP) << i;
    return alive;
}

/* ---- life ---- */

static unsigned count_workers(const struct remote_home *home)
{
    unsigned n = 0;

    while (mk_server_worker(mk_worker_server(home->worker), n))
        n++;
    return n;
}

/* @return how many connections all workers together may have to it */
static unsigned bound_of(const struct remote_server *s, unsigned usual)
{
    return s->place.connections ? s->place.connections : usual;
}

static struct mk_upstream *open_upstream(const struct remote_spec *spec,
                                         const struct remote_server *s,
                                         const struct remote_home *home, unsigned usual)
{
    struct mk_upstream_options options = remote_backend(&s->place, s->name, home->tls);

    options.max_connections = bound_of(s, usual);
    options.max_idle = spec->connections;
    options.max_waiting = UINT16_MAX; /* bound by the calls */
    options.connect_ms = spec->timeout_ms;
    options.idle_ms = REMOTE_IDLE_MS;
    return mk_upstream_new(mk_worker_server(home->worker), &options);
}

static unsigned usual_bound(const struct remote_client *c)
{
    return c->spec->connections * count_workers(&c->home);
}

/* @return its upstream, until leave(); NULL: no memory */
static struct mk_upstream *hold(const struct remote_client *c, struct remote_server *s)
{
    struct mk_upstream *upstream;

    (void)pthread_mutex_lock(&s->lock);
    if (!s->upstream)
        s->upstream = open_upstream(c->spec, s, &c->home, usual_bound(c));
    upstream = s->upstream;
    s->users += upstream != NULL;
    (void)pthread_mutex_unlock(&s->lock);
    return upstream;
}

static void begin(struct remote_client *c, struct remote_pool *pool, struct remote_server *s,
                  struct mk_upstream *upstream)
{
    const unsigned usual = usual_bound(c);

    *pool = (struct remote_pool){
        .client = c, .server = s, .upstream = upstream, .is_tight = bound_of(s, usual) < usual};
    remote_queue_init(&pool->waiting);
}

/* ---- servers that workers have added ---- */

static struct remote_server *new_added(const struct remote_place *place, const char *name)
{
    struct remote_server *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->place = *place;
    s->name = name;
    (void)pthread_mutex_init(&s->lock, NULL); /* cannot fail on Linux */
    return s;
}

/* @return one that another worker has added, or a new one, until share_less(); NULL: no memory */
static struct remote_server *share(const struct remote_spec *spec, const struct remote_place *place,
                                   const char *name)
{
    struct remote_server *first = spec->servers, *s;

    (void)pthread_mutex_lock(&first->lock);
    s = first->next;
    while (s && !remote_place_is_same(&s->place, place))
        s = s->next;
    if (!s && (s = new_added(place, name))) {
        s->next = first->next;
        first->next = s;
    }
    if (s)
        s->nadded++;
    (void)pthread_mutex_unlock(&first->lock);
    return s;
}

static void share_less(const struct remote_spec *spec, struct remote_server *s)
{
    struct remote_server *first = spec->servers, **at = &first->next;
    bool is_last;

    (void)pthread_mutex_lock(&first->lock);
    is_last = --s->nadded == 0;
    while (is_last && *at != s)
        at = &(*at)->next;
    if (is_last)
        *at = s->next;
    (void)pthread_mutex_unlock(&first->lock);
    if (!is_last)
        return;
    (void)pthread_mutex_destroy(&s->lock);
    free(s);
}

static bool is_added(const struct remote_pool *pool)
{
    return pool >= pool->client->pools + pool->client->spec->nservers;
}

/* ---- life ---- */

/* Nothing is called. */
static void leave(struct remote_pool *pool)
{
    struct remote_server *s = pool->server;
    struct remote_call *call;

    while (pool->links)
        remote_link_free(pool->links);
    while ((call = remote_queue_pop(&pool->waiting)))
        free(call);
    (void)pthread_mutex_lock(&s->lock);
    s->nout -= pool->state != REMOTE_POOL_UP;
    if (--s->users == 0) {
        mk_upstream_free(s->upstream);
        s->upstream = NULL;
    }
    (void)pthread_mutex_unlock(&s->lock);
    if (is_added(pool))
        share_less(pool->client->spec, s);
}

struct remote_client *remote_client_new(const struct remote_spec *spec,
                                        const struct remote_home *home, void *of)
{
    struct remote_client *c =
        calloc(1, sizeof(*c) + (spec->nservers + spec->nmore) * sizeof(struct remote_pool));

    if (!c)
        return NULL;
    c->home = *home;
    c->spec = spec;
    c->of = of;
    for (; c->nservers < spec->nservers; c->nservers++) {
        struct remote_server *s = &spec->servers[c->nservers];
        struct mk_upstream *upstream = hold(c, s);

        if (!upstream) {
            remote_client_free(c);
            return NULL;
        }
        begin(c, &c->pools[c->nservers], s, upstream);
    }
    return c;
}

static bool is_idle(const struct remote_pool *pool)
{
    const struct remote_link *l = pool->links;

    while (l && remote_link_is_idle(l))
        l = l->next;
    return !l && !pool->waiting.first;
}

/* @return the place for one more, which may have another server; NULL: all of those have calls under way */
static struct remote_pool *find_place(struct remote_client *c)
{
    struct remote_pool *oldest = NULL;

    if (c->nservers < c->spec->nservers + c->spec->nmore)
        return &c->pools[c->nservers];
    for (unsigned i = c->spec->nservers; i < c->nservers; i++) {
        if (is_idle(&c->pools[i]) && (!oldest || c->pools[i].used < oldest->used))
            oldest = &c->pools[i];
    }
    return oldest;
}

int remote_client_add(struct remote_client *c, const struct remote_place *place, const char *name)
{
    struct remote_pool *at = find_place(c);
    struct remote_server *s = at ? share(c->spec, place, name) : NULL;
    struct mk_upstream *upstream = s ? hold(c, s) : NULL;

    if (s && !upstream)
        share_less(c->spec, s);
    if (!upstream)
        return -1;
    if (at == &c->pools[c->nservers])
        c->nservers++;
    else
        leave(at);
    begin(c, at, s, upstream);
    return (int)(at - c->pools);
}

unsigned remote_client_servers(const struct remote_client *c)
{
    return c->nservers;
}

const struct remote_place *remote_client_place(const struct remote_client *c, unsigned server)
{
    return &c->pools[server].server->place;
}

void remote_client_free(struct remote_client *c)
{
    for (unsigned i = 0; i < c->nservers; i++)
        leave(&c->pools[i]);
    mk_alarm_free(c->tick);
    free(c);
}
