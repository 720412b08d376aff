/* SPDX-License-Identifier: Apache-2.0 */
#include "pool.h"

#include "kit/clock/clock.h"
#include "duda_host.h"
#include "nodes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What would change a connection that many requests share, or has another answer than one. */
static const char *const refused[] = {
    "ASKING",       "READONLY",  "READWRITE", "AUTH",         "CLIENT",  "DISCARD",
    "EXEC",         "HELLO",     "MONITOR",   "MULTI",        "PSYNC",   "PSUBSCRIBE",
    "PUNSUBSCRIBE", "QUIT",      "REPLCONF",  "RESET",        "SELECT",  "SYNC",
    "SSUBSCRIBE",   "SUBSCRIBE", "WATCH",     "SUNSUBSCRIBE", "UNWATCH", "UNSUBSCRIBE",
};

/* ---- answers ---- */

struct told {
    const struct redis_command *command;
    struct redis_answer answer;
};

static void call_service(duda_request_t *dr, void *arg)
{
    const struct told *told = arg;
    const redis_fn fn = (redis_fn)told->command->fn;

    if (fn)
        fn(dr, &told->answer, told->command->arg);
}

/* The command stays its owner's. */
static void answer(struct redis_pool *pool, struct redis_command *c, int result,
                   const redisReply *reply, const char *text)
{
    struct told told = {c, {.result = result, .reply = reply, .text = text}};

    pool->ncommands--;
    parking_leave(c->parking, call_service, &told);
}

static void answer_reply(struct redis_pool *pool, struct redis_command *c, const redisReply *reply)
{
    if (reply->type == REDIS_REPLY_ERROR)
        answer(pool, c, REDIS_REFUSED, reply, reply->str);
    else
        answer(pool, c, REDIS_OK, reply, reply->str ? reply->str : "done");
}

/* Those behind the command whose answer is none have lost theirs. */
static void answer_lost(struct redis_pool *pool, struct redis_link *l, struct redis_command *c)
{
    const bool is_malformed = l->fault == REDIS_FAULT_PROTOCOL && !c->is_unsent;

    if (c->deadline_ms <= clock_now_ms())
        answer(pool, c, REDIS_TIMEOUT, NULL, "no answer within the time limit");
    else
        answer(pool, c,
               c->is_unsent   ? REDIS_DOWN
               : is_malformed ? REDIS_MALFORMED
                              : REDIS_LOST,
               NULL, l->why);
    if (is_malformed)
        l->fault = REDIS_FAULT_IO;
}

static int redirect(struct redis_link *l, struct redis_command *c, const redisReply *reply);

static void on_answer(struct redis_link *l, struct redis_command *c, const redisReply *reply)
{
    struct redis_pool *pool = l->of;

    if (!c->is_over && !c->is_greeting) {
        if (reply && reply->type == REDIS_REPLY_ERROR && redirect(l, c, reply) == 0)
            return;
        if (reply)
            answer_reply(pool, c, reply);
        else
            answer_lost(pool, l, c);
    }
    redis_command_free(c);
}

/* ---- connections ---- */

/*
 * Workers have the server of the client in common, and others of its cluster for themselves. A worker without commands does
 * not notice that it is back, so the first one that does says it.
 * @return whether it is news
 */
static bool is_news(struct redis_pool *pool, const struct redis_node *node, bool is_out)
{
    return node != pool->nodes || atomic_exchange(&pool->client->is_out, is_out) != is_out;
}

void redis_node_is_back(struct redis_pool *pool, struct redis_node *node)
{
    if (backoff_is_on(&node->backoff) && is_news(pool, node, false))
        msg->info("redis: %s is back", node->place.text);
    backoff_end(&node->backoff);
}

static bool has_name(const struct redis_client *client)
{
    return client->host[0] && !address_is_numeric(client->host, strlen(client->host));
}

void redis_node_failed(struct redis_pool *pool, struct redis_node *node, const char *why)
{
    const struct redis_client *client = pool->client;

    if (!backoff_is_on(&node->backoff) && is_news(pool, node, true))
        msg->warn("redis: %s: %s", node->place.text, why);
    backoff_failed(&node->backoff, REDIS_RETRY_FIRST_MS, REDIS_RETRY_LAST_MS);
    if (node == pool->nodes && pool->worker && has_name(client))
        lookup_begin(&pool->lookup, pool->worker, client->host, client->port, &node->place);
}

static void on_ready(struct redis_link *l)
{
    redis_node_is_back(l->of, l->node);
}

/* Another server has its keys now, or will: the first one is asked where they are. */
static void forget_slots(struct redis_pool *pool, const struct redis_node *node)
{
    for (unsigned i = 0; pool->slots && i < REDIS_SLOTS; i++) {
        if (&pool->nodes[pool->slots[i]] == node)
            pool->slots[i] = 0;
    }
}

static void on_lost(struct redis_link *l)
{
    struct redis_pool *pool = l->of;
    struct redis_link **at = &pool->links;

    if (!l->was_ready)
        redis_node_failed(pool, l->node, l->why);
    forget_slots(pool, l->node);
    while (*at != l)
        at = &(*at)->next;
    *at = l->next;
    l->node->nlinks--;
    redis_link_close(l);
}

static const struct redis_owner owner = {
    .on_ready = on_ready, .on_answer = on_answer, .on_lost = on_lost};

/* @return 0; -1: no memory */
static int greet(struct redis_link *l, int n, const char *const *words)
{
    char *bytes;
    const ssize_t len = redis_format_words(&bytes, n, words, NULL);
    struct redis_command *c = len > 0 ? redis_command_new(bytes, (size_t)len) : NULL;

    if (!c)
        return -1;
    redis_link_greet(l, c);
    return 0;
}

static int greet_all(struct redis_link *l, const struct redis_client *client)
{
    const char *auth[] = {"AUTH", client->user, client->password};
    const char *anonymous[] = {"AUTH", client->password}, *choice[] = {"SELECT", client->db};

    if (client->user[0] && greet(l, 3, auth) < 0)
        return -1;
    if (!client->user[0] && client->password[0] && greet(l, 2, anonymous) < 0)
        return -1;
    return client->db[0] ? greet(l, 2, choice) : 0;
}

struct redis_link *redis_pool_open(struct redis_pool *pool, struct redis_node *node,
                                   const struct redis_owner *of)
{
    const int64_t now_ms = clock_now_ms();
    struct redis_trust *trust = pool->client->trust;
    struct redis_secure *secure;
    struct redis_link *l;

    if (!backoff_is_over(&node->backoff, now_ms))
        return NULL;
    secure = trust ? redis_secure_new(trust, pool->client->host) : NULL;
    l = trust && !secure ? NULL : redis_link_open(&node->place, secure, of, pool);
    if (!l) {
        redis_node_failed(pool, node, strerror(errno));
        return NULL;
    }
    l->node = node;
    l->limit_ms = now_ms + pool->client->timeout_ms;
    if (greet_all(l, pool->client) == 0)
        return l;
    redis_link_close(l);
    return NULL;
}

static struct redis_link *open_one(struct redis_pool *pool, struct redis_node *node)
{
    struct redis_link *l = redis_pool_open(pool, node, &owner);

    if (!l)
        return NULL;
    l->next = pool->links;
    pool->links = l;
    node->nlinks++;
    return l;
}

/* The server may have closed an idle one since the last turn of the loop. */
static bool is_closed(const struct redis_link *l)
{
    char byte;

    return l->state == REDIS_LINK_READY && l->ncommands == 0 &&
           (recv(l->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || errno != EAGAIN);
}

static void drop_closed(struct redis_pool *pool)
{
    for (struct redis_link *l = pool->links, *next; l; l = next) {
        next = l->next;
        if (!l->is_inside && is_closed(l))
            redis_link_lose(l, REDIS_FAULT_EOF, "the server closed the connection");
    }
}

static bool is_slow(const struct redis_link *l)
{
    return l->commands.first && l->commands.first->is_over;
}

static bool is_better(const struct redis_link *l, const struct redis_link *than)
{
    if (!than || is_slow(l) != is_slow(than))
        return !than || is_slow(than);
    return l->ncommands < than->ncommands;
}

/* @return NULL: none, and a new one failed a moment ago */
static struct redis_link *choose(struct redis_pool *pool, struct redis_node *node)
{
    struct redis_link *best = NULL, *fresh = NULL;

    drop_closed(pool);
    for (struct redis_link *l = pool->links; l; l = l->next) {
        if (l->node == node && l->state != REDIS_LINK_LOST && is_better(l, best))
            best = l;
    }
    if (best && best->ncommands == 0)
        return best;
    if (node->nlinks < pool->client->connections)
        fresh = open_one(pool, node);
    return fresh ? fresh : best;
}

/* ---- clusters ---- */

/* @return NULL: there are too many */
static struct redis_node *node_at(struct redis_pool *pool, const struct address *place)
{
    struct redis_node *node;

    for (unsigned i = 0; i < pool->nnodes; i++) {
        if (strcmp(pool->nodes[i].place.text, place->text) == 0)
            return &pool->nodes[i];
    }
    if (pool->nnodes == REDIS_NODES_MAX)
        return NULL;
    node = &pool->nodes[pool->nnodes++];
    *node = (struct redis_node){.place = *place};
    return node;
}

/* Without memory each command is redirected. */
static void learn(struct redis_pool *pool, unsigned slot, const struct redis_node *node)
{
    if (!pool->slots)
        pool->slots = calloc(REDIS_SLOTS, 1);
    if (pool->slots)
        pool->slots[slot] = (uint8_t)(node - pool->nodes);
}

/* The next command of this connection is about a key that is on its way there. */
static int send_asking(struct redis_pool *pool, struct redis_link *l, int64_t deadline_ms)
{
    static const char *const words[] = {"ASKING"};
    char *bytes;
    const ssize_t len = redis_format_words(&bytes, 1, words, NULL);
    struct redis_command *c = len > 0 ? redis_command_new(bytes, (size_t)len) : NULL;

    if (!c)
        return -1;
    c->deadline_ms = deadline_ms;
    if (redis_link_send(l, c) < 0) {
        redis_command_free(c);
        return -1;
    }
    pool->ncommands++;
    return 0;
}

/* @return 0: the command is on its way to another server; -1: it stays the caller's, with this answer */
static int redirect(struct redis_link *l, struct redis_command *c, const redisReply *reply)
{
    struct redis_pool *pool = l->of;
    struct redis_redirect r;
    struct redis_node *node;
    struct redis_link *to;

    if (c->nredirects >= REDIS_REDIRECTS_MAX ||
        redis_redirect_read(&r, reply->str, (size_t)reply->len, &l->node->place) < 0)
        return -1;
    node = node_at(pool, &r.place);
    if (!node)
        return -1;
    if (r.kind == REDIS_MOVED)
        learn(pool, r.slot, node);
    to = choose(pool, node);
    if (!to || (r.kind == REDIS_ASK && send_asking(pool, to, c->deadline_ms) < 0))
        return -1;
    c->nredirects++;
    return redis_link_send(to, c);
}

/* Where the key of a command is, or, if that server cannot be reached, one that knows who has it now. */
static struct redis_link *choose_for(struct redis_pool *pool, const struct redis_command *c)
{
    const unsigned n = pool->slots ? pool->slots[redis_slot_of(c->bytes)] : 0;
    struct redis_link *l = choose(pool, &pool->nodes[n]);

    for (unsigned i = 0; i < pool->nnodes && !l; i++)
        l = choose(pool, &pool->nodes[i]);
    return l;
}

/* ---- time ---- */

static struct redis_command *find_late(struct redis_command *c, int64_t now_ms)
{
    while (c && (c->is_over || c->is_greeting || now_ms < c->deadline_ms))
        c = c->next;
    return c;
}

/* @return a command whose time is over; NULL: none */
static struct redis_command *late_one(const struct redis_pool *pool, int64_t now_ms)
{
    struct redis_command *c = NULL;

    for (const struct redis_link *l = pool->links; l && !c; l = l->next) {
        c = find_late(l->commands.first, now_ms);
        if (!c)
            c = find_late(l->held.first, now_ms);
    }
    return c;
}

/* Its answer may still come; the function that is called may do all sorts of things to links. */
static void expire(struct redis_pool *pool, int64_t now_ms)
{
    struct redis_command *c;

    while ((c = late_one(pool, now_ms))) {
        c->is_over = true;
        answer(pool, c, REDIS_TIMEOUT, NULL, "no answer within the time limit");
    }
}

/* A server that is silent for as long again after a time-out is not merely slow. */
static bool is_dead(const struct redis_link *l, int64_t now_ms)
{
    const struct redis_pool *pool = l->of;

    if (l->state != REDIS_LINK_READY)
        return l->limit_ms <= now_ms;
    return is_slow(l) && l->commands.first->deadline_ms + pool->client->timeout_ms <= now_ms;
}

/* @return whether one was, and links are others now */
static bool drop_dead(struct redis_pool *pool, int64_t now_ms)
{
    struct redis_link *l = pool->links;

    while (l && (l->state == REDIS_LINK_LOST || !is_dead(l, now_ms)))
        l = l->next;
    if (!l)
        return false;
    redis_link_lose(l, REDIS_FAULT_IO, "the server does not answer");
    return true;
}

static bool has_to_wait(const struct redis_pool *pool)
{
    if (pool->ncommands > 0 || pool->nsubs > 0 || pool->ear)
        return true;
    for (const struct redis_link *l = pool->links; l; l = l->next) {
        if (l->ncommands > 0 || l->state != REDIS_LINK_READY)
            return true;
    }
    return false;
}

static void on_tick(void *arg)
{
    struct redis_pool *pool = arg;
    const int64_t now_ms = clock_now_ms();

    expire(pool, now_ms);
    while (drop_dead(pool, now_ms))
        ;
    redis_ear_look(pool, now_ms);
    if (has_to_wait(pool))
        return;
    (void)timer->cancel(pool->tick);
    pool->tick = NULL;
}

bool redis_pool_tick(struct redis_pool *pool)
{
    if (!pool->tick)
        pool->tick = timer->every(REDIS_TICK_MS, on_tick, pool);
    return pool->tick != NULL;
}

/* ---- commands ---- */

static bool is_refused(const char *bytes)
{
    struct redis_words words = redis_words_of(bytes);
    struct redis_word first;

    if (!redis_words_next(&words, &first))
        return true;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        if (redis_word_is(&first, refused[i]))
            return true;
    }
    return false;
}

int redis_pool_run(struct redis_pool *pool, struct parking_lot *lot, struct redis_command *c,
                   unsigned ms, duda_request_t *dr)
{
    struct redis_link *l;

    if (is_refused(c->bytes))
        return REDIS_REFUSED;
    if (pool->ncommands >= REDIS_COMMANDS_MAX || !redis_pool_tick(pool))
        return REDIS_FULL;
    c->parking = dr ? parking_enter(lot, dr) : NULL;
    if (dr && !c->parking)
        return REDIS_FULL;
    c->deadline_ms = clock_now_ms() + (ms ? ms : pool->client->timeout_ms);
    l = choose_for(pool, c);
    if (l && redis_link_send(l, c) == 0) {
        pool->ncommands++;
        return 0;
    }
    parking_cancel(c->parking);
    return REDIS_DOWN;
}

/* ---- life ---- */

struct redis_pool *redis_pool_new(struct redis_client *client)
{
    struct redis_pool *pool = calloc(1, sizeof(*pool));
    struct duda_place here;

    if (!pool)
        return NULL;
    pool->client = client;
    (void)duda_objects_given->host->place(&here);
    pool->worker = here.worker;
    pool->nodes[0].place = client->place;
    pool->nnodes = 1;
    return pool;
}

void redis_pool_free(struct redis_pool *pool)
{
    for (struct redis_link *l = pool->links, *next; l; l = next) {
        next = l->next;
        redis_link_abandon(l);
    }
    redis_ear_free(pool);
    lookup_abandon(&pool->lookup);
    free(pool->slots);
    free(pool);
}
