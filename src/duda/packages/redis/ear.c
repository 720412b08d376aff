/* SPDX-License-Identifier: Apache-2.0 */
#include "ear.h"

#include "desk.h"

#include "kit/clock/clock.h"

#include <stdlib.h>
#include <string.h>

/* Channels: a connection of the pool hears all of them, and is made anew when it is lost. */

static struct redis_sub **find(struct redis_ear *ear, const char *name)
{
    struct redis_sub **at = &ear->subs;

    while (*at && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    return at;
}

static struct redis_client *client_of(const struct redis_ear *ear)
{
    return redis_client_of(ear->desk);
}

/* ---- the connection ---- */

/* @param confirmations  1: it is of a channel */
static void ask(struct redis_ear *ear, int n, const char *const *words, unsigned confirmations)
{
    char *bytes;
    const ssize_t len = redis_format_words(&bytes, n, words, NULL);
    struct redis_command *c = len > 0 ? redis_command_new(bytes, (size_t)len) : NULL;

    if (!c)
        return;
    c->confirmations = confirmations;
    c->deadline_ms = clock_now_ms() + client_of(ear)->base.remote.timeout_ms;
    if (redis_link_send(ear->link, c) < 0)
        redis_command_free(c);
}

static void ask_for(struct redis_ear *ear, const char *verb, const char *channel)
{
    const char *words[] = {verb, channel};

    ask(ear, 2, words, 1);
}

/* Workers have the server in common. @return whether it is news to the log */
static bool is_news(struct redis_ear *ear, bool is_deaf)
{
    return atomic_exchange(&client_of(ear)->is_deaf, is_deaf) != is_deaf;
}

static void on_ready(struct redis_link *l)
{
    struct redis_ear *ear = l->of;

    if (is_news(ear, false))
        msg->info("redis: %s: channels are heard again", client_of(ear)->base.server.place.text);
    backoff_end(&ear->backoff);
    ear->heard_ms = clock_now_ms();
    for (const struct redis_sub *sub = ear->subs; sub; sub = sub->next)
        ask_for(ear, "SUBSCRIBE", sub->name);
}

/* Of a ping, or a refusal. */
static void on_answer(struct redis_link *l, struct redis_command *c,
                      const struct mk_redis_reply *reply)
{
    struct redis_ear *ear = l->of;

    ear->heard_ms = clock_now_ms();
    if (reply && reply->type == REDIS_REPLY_ERROR)
        msg->err("redis: %s refuses a channel: %s", client_of(ear)->base.server.place.text,
                 reply->str);
    redis_command_free(c);
}

/* The function may change what is heard. */
static void on_message(struct redis_link *l, const struct mk_redis_reply *reply)
{
    struct redis_ear *ear = l->of;
    const struct mk_redis_reply *name = reply->element[1], *what = reply->element[2];
    const bool is_confirmed = strcmp(reply->element[0]->str, "subscribe") == 0;
    const struct redis_sub *sub;

    ear->heard_ms = clock_now_ms();
    sub = name->type == REDIS_REPLY_STRING ? *find(ear, name->str) : NULL;
    if (sub && is_confirmed)
        sub->fn(name->str, NULL, 0, sub->arg);
    else if (sub && what->type == REDIS_REPLY_STRING)
        sub->fn(name->str, what->str, (size_t)what->len, sub->arg);
}

static void failed(struct redis_ear *ear, const char *why)
{
    if (is_news(ear, true))
        msg->warn("redis: %s: channels are not heard: %s", client_of(ear)->base.server.place.text,
                  why);
    backoff_failed(&ear->backoff, REDIS_RETRY_FIRST_MS, REDIS_RETRY_LAST_MS);
    ear->server = (ear->server + 1) % remote_client_servers(ear->desk->base.remote);
}

static void on_lost(struct redis_link *l)
{
    struct redis_ear *ear = l->of;

    if (!l->was_ready && l->fault != REDIS_NO_FAULT)
        failed(ear, l->why);
    ear->link = NULL;
    redis_link_close(l);
}

static const struct redis_owner owner = {
    .on_ready = on_ready, .on_answer = on_answer, .on_message = on_message, .on_lost = on_lost};

/* All servers of a cluster have all messages. */
static void open_link(struct redis_ear *ear)
{
    const struct redis_servers *of = &client_of(ear)->base;
    const struct remote_place *place = remote_client_place(ear->desk->base.remote, ear->server);

    if (!backoff_is_over(&ear->backoff, clock_now_ms()))
        return;
    ear->limit_ms = clock_now_ms() + of->remote.timeout_ms;
    ear->link =
        redis_link_open(place, redis_name_of(of, place), of->remote.timeout_ms, &owner, ear);
    if (ear->link && of->ngreetings > 0 &&
        redis_link_greet(ear->link, of->greeting, of->greeting_len, of->ngreetings) < 0) {
        redis_link_close(ear->link);
        ear->link = NULL;
    }
    if (!ear->link)
        failed(ear, "no memory");
}

/* ---- time ---- */

static bool is_dead(const struct redis_ear *ear, int64_t now_ms)
{
    const struct redis_link *l = ear->link;

    if (l->state != REDIS_LINK_READY)
        return ear->limit_ms <= now_ms;
    return l->commands.first && l->commands.first->deadline_ms <= now_ms;
}

/* A server that sends nothing is asked whether it is there. */
static void look(struct redis_ear *ear, int64_t now_ms)
{
    static const char *const ping[] = {"PING"};

    if (!ear->link && ear->nsubs > 0)
        open_link(ear);
    else if (ear->link && ear->link->is_broken)
        redis_link_look(ear->link);
    else if (ear->link && is_dead(ear, now_ms))
        redis_link_lose(ear->link, REDIS_FAULT_IO, "the server does not answer");
    else if (ear->link && ear->link->state == REDIS_LINK_READY && !ear->link->commands.first &&
             ear->heard_ms + client_of(ear)->base.remote.timeout_ms <= now_ms)
        ask(ear, 1, ping, 0);
}

static void on_tick(void *arg)
{
    struct redis_ear *ear = arg;

    look(ear, clock_now_ms());
    if (ear->link || ear->nsubs > 0)
        return;
    (void)timer->cancel(ear->tick);
    ear->tick = NULL;
}

void redis_ear_end(struct redis_ear *ear)
{
    struct redis_sub *sub;

    if (ear->link)
        redis_link_close(ear->link);
    while ((sub = ear->subs)) {
        ear->subs = sub->next;
        free(sub);
    }
}

/* ---- calls ---- */

static struct redis_sub *new_sub(const char *channel, redis_message_fn fn, void *arg)
{
    const size_t size = strlen(channel) + 1;
    struct redis_sub *sub = calloc(1, sizeof(*sub) + size);

    if (!sub)
        return NULL;
    memcpy(sub->name, channel, size);
    sub->fn = fn;
    sub->arg = arg;
    return sub;
}

int redis_ear_subscribe(struct redis_ear *ear, const char *channel, redis_message_fn fn, void *arg)
{
    struct redis_sub *sub;

    if (!ear->tick)
        ear->tick = timer->every(REDIS_TICK_MS, on_tick, ear);
    if (*find(ear, channel) || ear->nsubs >= REDIS_CHANNELS_MAX || !ear->tick)
        return -1;
    sub = new_sub(channel, fn, arg);
    if (!sub)
        return -1;
    sub->next = ear->subs;
    ear->subs = sub;
    ear->nsubs++;
    if (!ear->link)
        open_link(ear);
    else if (ear->link->state == REDIS_LINK_READY)
        ask_for(ear, "SUBSCRIBE", channel);
    return 0;
}

int redis_ear_unsubscribe(struct redis_ear *ear, const char *channel)
{
    struct redis_sub **at = find(ear, channel), *sub = *at;

    if (!sub)
        return -1;
    if (ear->link && ear->link->state == REDIS_LINK_READY)
        ask_for(ear, "UNSUBSCRIBE", channel);
    *at = sub->next;
    free(sub);
    if (--ear->nsubs == 0 && ear->link)
        redis_link_finish(ear->link);
    return 0;
}
