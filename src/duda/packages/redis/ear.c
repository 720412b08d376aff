/* SPDX-License-Identifier: Apache-2.0 */
#include "pool.h"

#include "kit/clock/clock.h"

#include <stdlib.h>
#include <string.h>

/* Channels: a connection of the pool hears all of them, and is made anew when it is lost. */

static struct redis_sub **find(struct redis_pool *pool, const char *name)
{
    struct redis_sub **at = &pool->subs;

    while (*at && strcmp((*at)->name, name) != 0)
        at = &(*at)->next;
    return at;
}

/* ---- the connection ---- */

/* @param confirmations  1: it is of a channel */
static void ask(struct redis_pool *pool, int n, const char *const *words, unsigned confirmations)
{
    char *bytes;
    const ssize_t len = redis_format_words(&bytes, n, words, NULL);
    struct redis_command *c = len > 0 ? redis_command_new(bytes, (size_t)len) : NULL;

    if (!c)
        return;
    c->confirmations = confirmations;
    c->deadline_ms = clock_now_ms() + pool->client->timeout_ms;
    if (redis_link_send(pool->ear, c) < 0)
        redis_command_free(c);
}

static void ask_for(struct redis_pool *pool, const char *verb, const char *channel)
{
    const char *words[] = {verb, channel};

    ask(pool, 2, words, 1);
}

static void on_ready(struct redis_link *l)
{
    struct redis_pool *pool = l->of;

    redis_node_is_back(pool, l->node);
    pool->heard_ms = clock_now_ms();
    for (const struct redis_sub *sub = pool->subs; sub; sub = sub->next)
        ask_for(pool, "SUBSCRIBE", sub->name);
}

/* Of a ping, or a refusal. */
static void on_answer(struct redis_link *l, struct redis_command *c, const redisReply *reply)
{
    struct redis_pool *pool = l->of;

    pool->heard_ms = clock_now_ms();
    if (reply && reply->type == REDIS_REPLY_ERROR)
        msg->err("redis: %s refuses a channel: %s", pool->client->place.text, reply->str);
    redis_command_free(c);
}

/* The function may change what is heard. */
static void on_message(struct redis_link *l, const redisReply *reply)
{
    struct redis_pool *pool = l->of;
    const redisReply *name = reply->element[1], *what = reply->element[2];
    const bool is_confirmed = strcmp(reply->element[0]->str, "subscribe") == 0;
    const struct redis_sub *sub;

    pool->heard_ms = clock_now_ms();
    sub = name->type == REDIS_REPLY_STRING ? *find(pool, name->str) : NULL;
    if (sub && is_confirmed)
        sub->fn(name->str, NULL, 0, sub->arg);
    else if (sub && what->type == REDIS_REPLY_STRING)
        sub->fn(name->str, what->str, (size_t)what->len, sub->arg);
}

static void on_lost(struct redis_link *l)
{
    struct redis_pool *pool = l->of;

    if (!l->was_ready && l->fault != REDIS_NO_FAULT)
        redis_node_failed(pool, l->node, l->why);
    pool->ear = NULL;
    redis_link_close(l);
}

static const struct redis_owner owner = {
    .on_ready = on_ready, .on_answer = on_answer, .on_message = on_message, .on_lost = on_lost};

/* All servers of a cluster have all messages. */
static struct redis_link *open_ear(struct redis_pool *pool)
{
    struct redis_link *l = NULL;

    for (unsigned i = 0; i < pool->nnodes && !l; i++)
        l = redis_pool_open(pool, &pool->nodes[i], &owner);
    return l;
}

/* ---- time ---- */

static bool is_dead(const struct redis_pool *pool, int64_t now_ms)
{
    const struct redis_link *l = pool->ear;

    if (l->state != REDIS_LINK_READY)
        return l->limit_ms <= now_ms;
    return l->commands.first && l->commands.first->deadline_ms <= now_ms;
}

/* A server that sends nothing is asked whether it is there. */
void redis_ear_look(struct redis_pool *pool, int64_t now_ms)
{
    static const char *const ping[] = {"PING"};

    if (!pool->ear && pool->nsubs > 0)
        pool->ear = open_ear(pool);
    else if (pool->ear && is_dead(pool, now_ms))
        redis_link_lose(pool->ear, REDIS_FAULT_IO, "the server does not answer");
    else if (pool->ear && pool->ear->state == REDIS_LINK_READY && !pool->ear->commands.first &&
             pool->heard_ms + pool->client->timeout_ms <= now_ms)
        ask(pool, 1, ping, 0);
}

void redis_ear_free(struct redis_pool *pool)
{
    struct redis_sub *sub;

    if (pool->ear)
        redis_link_abandon(pool->ear);
    while ((sub = pool->subs)) {
        pool->subs = sub->next;
        free(sub);
    }
}

/* ---- calls ---- */

int redis_pool_subscribe(struct redis_pool *pool, const char *channel, redis_message_fn fn,
                         void *arg)
{
    const size_t size = strlen(channel) + 1;
    struct redis_sub *sub;

    if (*find(pool, channel) || pool->nsubs >= REDIS_CHANNELS_MAX || !redis_pool_tick(pool))
        return -1;
    sub = calloc(1, sizeof(*sub) + size);
    if (!sub)
        return -1;
    memcpy(sub->name, channel, size);
    sub->fn = fn;
    sub->arg = arg;
    sub->next = pool->subs;
    pool->subs = sub;
    pool->nsubs++;
    if (!pool->ear)
        pool->ear = open_ear(pool);
    else if (pool->ear->state == REDIS_LINK_READY)
        ask_for(pool, "SUBSCRIBE", channel);
    return 0;
}

int redis_pool_unsubscribe(struct redis_pool *pool, const char *channel)
{
    struct redis_sub **at = find(pool, channel), *sub = *at;

    if (!sub)
        return -1;
    if (pool->ear && pool->ear->state == REDIS_LINK_READY)
        ask_for(pool, "UNSUBSCRIBE", channel);
    *at = sub->next;
    free(sub);
    if (--pool->nsubs == 0 && pool->ear)
        redis_link_finish(pool->ear);
    return 0;
}
