/* SPDX-License-Identifier: Apache-2.0 */
#include "pool.h"

#include "kit/clock/clock.h"
#include "nodes.h"

#include "remote/address.h"

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
    const struct redis_call *call;
    struct redis_answer answer;
};

static void call_service(duda_request_t *dr, void *arg)
{
    const struct told *told = arg;

    if (told->call->fn)
        told->call->fn(dr, &told->answer, told->call->arg);
}

/* The call stays its owner's. */
static void answer(struct redis_pool *pool, struct redis_call *c, int result,
                   const redisReply *reply, const char *text)
{
    struct told told = {c, {.result = result, .reply = reply, .text = text}};

    remote_client_answer(pool->remote, &c->call, call_service, &told);
}

static void answer_reply(struct redis_pool *pool, struct redis_call *c, const redisReply *reply)
{
    if (reply->type == REDIS_REPLY_ERROR)
        answer(pool, c, REDIS_REFUSED, reply, reply->str);
    else
        answer(pool, c, REDIS_OK, reply, reply->str ? reply->str : "done");
}

/* ---- clusters ---- */

const char *redis_name_of(const struct redis_client *client, const struct remote_place *place)
{
    return address_is_numeric(place->host, strlen(place->host)) ? client->servers[0].place.host
                                                                : NULL;
}

/* @return its number; -1: there are too many, or no memory */
static int server_at(struct redis_pool *pool, const struct remote_place *place)
{
    const unsigned n = remote_client_servers(pool->remote);

    for (unsigned i = 0; i < n; i++) {
        if (remote_place_is_same(remote_client_place(pool->remote, i), place))
            return (int)i;
    }
    return remote_client_add(pool->remote, place, redis_name_of(pool->client, place));
}

/* Without memory each command is redirected. */
static void learn(struct redis_pool *pool, unsigned slot, int server)
{
    if (!pool->slots)
        pool->slots = calloc(REDIS_SLOTS, 1);
    if (pool->slots)
        pool->slots[slot] = (uint8_t)server;
}

/* Another server has its keys now, or will: the first one, which is 0, is asked where they are. */
static void forget(struct redis_pool *pool, unsigned server)
{
    for (unsigned i = 0; server > 0 && pool->slots && i < REDIS_SLOTS; i++) {
        if (pool->slots[i] == server)
            pool->slots[i] = 0;
    }
}

static int send_to(struct redis_pool *pool, struct redis_call *c, unsigned server)
{
    c->server = server;
    return remote_client_send(pool->remote, server, &c->call);
}

/* @return 0: the command is on its way to another server; -1: it stays the caller's, with this answer */
static int redirect(struct redis_pool *pool, struct redis_call *c, const redisReply *reply)
{
    struct redis_redirect r;
    int server;

    if (c->nredirects >= REDIS_REDIRECTS_MAX ||
        redis_redirect_read(&r, reply->str, (size_t)reply->len,
                            remote_client_place(pool->remote, c->server)) < 0)
        return -1;
    server = server_at(pool, &r.place);
    if (server < 0)
        return -1;
    if (r.kind == REDIS_MOVED)
        learn(pool, r.slot, server);
    c->nredirects++;
    redis_call_ask(c, r.kind == REDIS_ASK);
    return send_to(pool, c, (unsigned)server);
}

/* To the server of its key, or, if that cannot be reached, to one that knows who has it now. */
static int route(struct redis_pool *pool, struct redis_call *c)
{
    const unsigned first = pool->slots ? pool->slots[redis_slot_of(redis_call_command(c))] : 0;
    const unsigned n = remote_client_servers(pool->remote);

    if (send_to(pool, c, first) == 0)
        return 0;
    forget(pool, first);
    for (unsigned i = 0; i < n; i++) {
        if (i != first && send_to(pool, c, i) == 0)
            return 0;
    }
    return REDIS_DOWN;
}

/* ---- the protocol ---- */

static struct remote_call *new_probe(void)
{
    static const char ping[] = "*1\r\n$4\r\nPING\r\n";
    struct redis_call *c = redis_call_new(ping, sizeof(ping) - 1, 1);

    return c ? &c->call : NULL;
}

static int greet(void *of, struct remote_call **call)
{
    const struct redis_client *client = ((const struct redis_pool *)of)->client;
    struct redis_call *c;

    if (client->ngreetings == 0)
        return 0;
    c = redis_call_new(client->greeting, client->greeting_len, client->ngreetings);
    if (!c)
        return -1;
    c->is_greeting = true;
    *call = &c->call;
    return 0;
}

static void begin(void *of, void *reader, const struct remote_call *call, bool is_first)
{
    (void)of;
    redis_intake_begin(reader, (const struct redis_call *)(const void *)call, is_first);
}

static enum remote_progress read_answer(void *reader, const char *bytes, size_t len, size_t *used)
{
    return redis_intake_read(reader, bytes, len, used);
}

static const char *why(const void *reader)
{
    return ((const struct redis_intake *)reader)->why;
}

static void reset(void *reader)
{
    redis_intake_reset(reader);
}

static void fini(void *reader)
{
    redis_intake_fini(reader);
}

static void on_answer(void *of, struct remote_call *call, const void *reader)
{
    const redisReply *reply = ((const struct redis_intake *)reader)->reply;
    struct redis_call *c = redis_call_of(call);

    if (reply->type == REDIS_REPLY_ERROR && redirect(of, c, reply) == 0)
        return;
    answer_reply(of, c, reply);
    free(c);
}

static void on_late(void *of, struct remote_call *call)
{
    answer(of, redis_call_of(call), REDIS_TIMEOUT, NULL, "no answer within the time limit");
}

static void on_lost(void *of, struct remote_call *call, enum remote_end end, const char *text)
{
    static const int results[] = {
        [REMOTE_LATE] = REDIS_TIMEOUT,
        [REMOTE_LOST] = REDIS_LOST,
        [REMOTE_MALFORMED] = REDIS_MALFORMED,
        [REMOTE_UNSENT] = REDIS_DOWN,
    };

    answer(of, redis_call_of(call), results[end], NULL, text);
    free(call);
}

const struct remote_protocol redis_protocol = {
    .name = "redis",
    .reader_size = sizeof(struct redis_intake),
    .retry_first_ms = REDIS_RETRY_FIRST_MS,
    .retry_last_ms = REDIS_RETRY_LAST_MS,
    .calls_max = REDIS_COMMANDS_MAX,
    .probe = new_probe,
    .greet = greet,
    .begin = begin,
    .read = read_answer,
    .why = why,
    .answer = on_answer,
    .lost = on_lost,
    .late = on_late,
    .reset = reset,
    .fini = fini,
};

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

int redis_pool_run(struct redis_pool *pool, struct redis_call *c, unsigned ms, duda_request_t *dr)
{
    if (is_refused(redis_call_command(c)))
        return REDIS_REFUSED;
    if (remote_client_begin(pool->remote, &c->call, dr) < 0)
        return REDIS_FULL;
    if (ms > 0)
        c->call.deadline_ms = clock_now_ms() + ms;
    if (route(pool, c) == 0)
        return 0;
    remote_client_cancel(pool->remote, &c->call);
    return REDIS_DOWN;
}

/* ---- life ---- */

struct redis_pool *redis_pool_new(struct redis_client *client)
{
    struct redis_pool *pool = calloc(1, sizeof(*pool));

    if (!pool)
        return NULL;
    pool->client = client;
    pool->ear.pool = pool;
    pool->remote = remote_client_new(&client->remote, pool);
    if (pool->remote)
        return pool;
    free(pool);
    return NULL;
}

void redis_pool_free(struct redis_pool *pool)
{
    redis_ear_end(&pool->ear);
    remote_client_free(pool->remote);
    free(pool->slots);
    free(pool);
}
