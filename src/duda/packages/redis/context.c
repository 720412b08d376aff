/* SPDX-License-Identifier: Apache-2.0 */
#include "context.h"

#include "channels.h"
#include "desk.h"
#include "kit/clock/clock.h"
#include "data/remote/address.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a request keeps: it may end before the context, or after it. */
struct guest {
    struct redis_context *context; /* NULL: it has ended */
};

struct redis_context {
    redisAsyncContext rc; /* first: what the service has */
    struct redis_context *next;
    struct redis_contexts *all;
    struct redis_link *link; /* NULL: there was no connection to begin with */
    duda_request_t *dr;      /* NULL: it has none, or it has ended */
    struct guest *guest;     /* NULL: it has no request */
    void (*on_connect)(const redisAsyncContext *, int status);
    void (*on_disconnect)(const redisAsyncContext *, int status);
    struct redis_channel *channels;
    int64_t end_at_ms; /* 0: no limit */
};

/* ---- the end ---- */

static void drop(struct redis_context *c)
{
    struct redis_context **at = &c->all->first;

    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    if (c->guest)
        c->guest->context = NULL;
    free(c);
}

/* Its channels get no more messages: each function is told so, as of a command without an answer. */
static void tell_channels(struct redis_context *c)
{
    struct redis_channel *ch;

    while ((ch = c->channels)) {
        c->channels = ch->next;
        if (ch->fn)
            ch->fn(&c->rc, NULL, ch->priv);
        free(ch);
    }
}

static void show_fault(struct redis_context *c, int fault, const char *why)
{
    c->rc.err = c->rc.c.err = fault;
    (void)snprintf(c->rc.c.errstr, sizeof(c->rc.c.errstr), "%s", why);
}

static void on_lost(struct redis_link *l)
{
    struct redis_context *c = l->of;
    const int status = l->fault == REDIS_NO_FAULT ? REDIS_OK : REDIS_ERR;

    show_fault(c, (int)l->fault, l->why);
    tell_channels(c);
    if (l->was_ready && c->on_disconnect)
        c->on_disconnect(&c->rc, status);
    if (!l->was_ready && c->on_connect)
        c->on_connect(&c->rc, REDIS_ERR);
    redis_link_close(l);
    drop(c);
}

/* ---- what the server sends ---- */

static void on_ready(struct redis_link *l)
{
    struct redis_context *c = l->of;

    c->rc.c.fd = redis_link_fd(l);
    if (!l->is_finishing)
        c->end_at_ms = 0;
    if (c->on_connect)
        c->on_connect(&c->rc, REDIS_OK);
}

static void call(struct redis_context *c, redis_channel_fn fn, const struct mk_redis_reply *reply,
                 void *priv)
{
    if (fn)
        fn(&c->rc, (void *)(uintptr_t)redis_published(reply), priv);
}

static void on_answer(struct redis_link *l, struct redis_command *command,
                      const struct mk_redis_reply *reply)
{
    struct redis_context *c = l->of;

    if (!reply)
        show_fault(c, (int)l->fault, l->why);
    if (reply && command->confirmations > 0)
        redis_channels_refuse(&c->channels, command);
    if (reply || command->confirmations == 0) /* else its channels are told */
        call(c, (redis_channel_fn)command->fn, reply, command->arg);
    redis_command_free(command);
}

static void on_message(struct redis_link *l, const struct mk_redis_reply *reply)
{
    struct redis_context *c = l->of;
    struct redis_channel **at = redis_channels_find(&c->channels, reply), *ch = at ? *at : NULL;
    const char *kind = reply->element[0]->str;
    const bool is_last = strstr(kind, "unsubscribe") != NULL;

    if (!ch)
        return;
    ch->command = NULL;
    if (is_last)
        *at = ch->next;
    call(c, ch->fn, reply, ch->priv);
    if (is_last)
        free(ch);
}

static const struct redis_owner owner = {
    .on_ready = on_ready, .on_answer = on_answer, .on_message = on_message, .on_lost = on_lost};

/* ---- time ---- */

/* @return one whose time is over */
static struct redis_context *late_one(const struct redis_contexts *all)
{
    const int64_t now = clock_now_ms();
    struct redis_context *c = all->first;

    while (c && (c->end_at_ms == 0 || now < c->end_at_ms))
        c = c->next;
    return c;
}

/* @return one whose connection has ended */
static struct redis_context *broken_one(const struct redis_contexts *all)
{
    struct redis_context *c = all->first;

    while (c && (!c->link || !c->link->is_broken))
        c = c->next;
    return c;
}

static void on_tick(void *arg)
{
    struct redis_contexts *all = arg;
    struct redis_context *c;

    while ((c = broken_one(all)))
        redis_link_look(c->link);
    while ((c = late_one(all))) {
        c->end_at_ms = 0;
        redis_link_lose(c->link, REDIS_FAULT_IO, "the server does not answer");
    }
    if (all->first)
        return;
    (void)timer->cancel(all->tick);
    all->tick = NULL;
}

/* ---- the beginning ---- */

/* A service may have the answers of commands that it has sent still to come, and nobody who would wait for others. */
static void on_request_end(void *arg)
{
    struct guest *g = arg;

    if (g->context) {
        g->context->dr = NULL;
        g->context->guest = NULL;
        redis_context_disconnect(g->context);
    }
    free(g);
}

static int take_request(struct redis_context *c, duda_request_t *dr)
{
    if (!dr)
        return 0;
    c->guest = calloc(1, sizeof(*c->guest));
    if (!c->guest || gc->call(dr, on_request_end, c->guest) < 0) {
        free(c->guest);
        return -1;
    }
    c->guest->context = c;
    c->dr = dr;
    return 0;
}

/* A name would be looked up, which the published call does not do. @return 0; -1: it is none */
static int read_place(struct remote_place *p, const char *ip, int port)
{
    *p = (struct remote_place){.port = (unsigned)port};
    if (!ip || port < 1 || port > UINT16_MAX || strlen(ip) >= sizeof(p->host))
        return -1;
    (void)snprintf(p->host, sizeof(p->host), "%s", strcmp(ip, "localhost") == 0 ? "127.0.0.1" : ip);
    return address_is_numeric(p->host, strlen(p->host)) ? 0 : -1;
}

static void begin(struct redis_context *c, const char *ip, int port)
{
    struct remote_place p;

    if (read_place(&p, ip, port) < 0) {
        show_fault(c, REDIS_FAULT_OTHER, "the address is not numeric");
        return;
    }
    c->link = redis_link_open(&p, NULL, REDIS_LIMIT_MS, &owner, c);
    if (!c->link)
        show_fault(c, REDIS_FAULT_OTHER, "no memory");
}

redisAsyncContext *redis_context_new(struct redis_contexts *all, const char *ip, int port,
                                     duda_request_t *dr)
{
    struct redis_context *c = calloc(1, sizeof(*c));

    if (!all->tick)
        all->tick = timer->every(REDIS_TICK_MS, on_tick, all);
    if (!c || !all->tick || take_request(c, dr) < 0) {
        free(c);
        return NULL;
    }
    c->rc.errstr = c->rc.c.errstr;
    c->rc.c.fd = -1;
    c->all = all;
    c->next = all->first;
    all->first = c;
    c->end_at_ms = clock_now_ms() + REDIS_LIMIT_MS;
    begin(c, ip, port);
    if (!c->link)
        c->end_at_ms = 0;
    return &c->rc;
}

struct redis_context *redis_context_find(const struct redis_contexts *all,
                                         const redisAsyncContext *rc)
{
    struct redis_context *c = all && rc ? all->first : NULL;

    while (c && &c->rc != rc)
        c = c->next;
    return c;
}

/* ---- calls ---- */

int redis_context_attach(struct redis_context *c)
{
    return c->link ? REDIS_OK : REDIS_ERR;
}

duda_request_t *redis_context_request(const struct redis_context *c)
{
    return c->dr;
}

int redis_context_on_connect(struct redis_context *c, void (*fn)(const redisAsyncContext *, int))
{
    if (!c->link || c->on_connect || c->link->was_ready)
        return REDIS_ERR;
    c->on_connect = fn;
    return REDIS_OK;
}

int redis_context_on_disconnect(struct redis_context *c, void (*fn)(const redisAsyncContext *, int))
{
    if (!c->link || c->on_disconnect)
        return REDIS_ERR;
    c->on_disconnect = fn;
    return REDIS_OK;
}

/* @return 0; -1: it names no channel, or no memory */
static int take_channels(struct redis_context *c, struct redis_command *command)
{
    const struct redis_channel_verb *verb = redis_channel_verb(command->bytes);

    if (!verb)
        return 0;
    command->confirmations = redis_channels_named(command->bytes);
    if (command->confirmations == 0)
        return -1;
    if (verb->subscribes && redis_channels_add(&c->channels, verb, command, command->bytes,
                                               (redis_channel_fn)command->fn, command->arg) == 0)
        return -1;
    return 0;
}

int redis_context_command(struct redis_context *c, char *bytes, size_t len,
                          void (*fn)(redisAsyncContext *, void *reply, void *priv), void *priv)
{
    struct redis_command *command = redis_command_new(bytes, len);

    if (!command)
        return REDIS_ERR;
    command->fn = (void (*)(void))fn;
    command->arg = priv;
    if (c->link && c->link->state != REDIS_LINK_LOST && !c->link->is_finishing &&
        take_channels(c, command) == 0 && redis_link_send(c->link, command) == 0)
        return REDIS_OK;
    redis_command_free(command);
    return REDIS_ERR;
}

void redis_context_disconnect(struct redis_context *c)
{
    if (!c->link) {
        drop(c);
    } else if (!c->link->is_finishing) {
        c->end_at_ms = clock_now_ms() + REDIS_LIMIT_MS;
        redis_link_finish(c->link);
    }
}

void redis_context_free(struct redis_context *c)
{
    if (c->link)
        redis_link_lose(c->link, REDIS_NO_FAULT, "it was freed");
    else
        drop(c);
}

void redis_contexts_end(struct redis_contexts *all)
{
    for (struct redis_context *c = all->first, *next; c; c = next) {
        next = c->next;
        if (c->link)
            redis_link_close(c->link);
        for (struct redis_channel *ch; (ch = c->channels);) {
            c->channels = ch->next;
            free(ch);
        }
        if (c->guest)
            c->guest->context = NULL;
        free(c);
    }
    all->first = NULL;
}
