/* SPDX-License-Identifier: Apache-2.0 */
#include "data/redis/pool.h"

#include "data/redis/nodes.h"

#include "kit/clock/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What would change a connection that many requests share, or has another answer than one. */
static const char *const refused[] = {
    "ASKING",       "READONLY",  "READWRITE", "AUTH",         "CLIENT",  "DISCARD",
    "EXEC",         "HELLO",     "MONITOR",   "MULTI",        "PSYNC",   "PSUBSCRIBE",
    "PUNSUBSCRIBE", "QUIT",      "REPLCONF",  "RESET",        "SELECT",  "SYNC",
    "SSUBSCRIBE",   "SUBSCRIBE", "WATCH",     "SUNSUBSCRIBE", "UNWATCH", "UNSUBSCRIBE",
};

const char redis_no_memory[] = "no memory";

/* ---- answers ---- */

static void answer(struct redis_pool *pool, struct redis_call *c, int result,
                   const struct mk_redis_reply *reply, const char *text)
{
    const struct mk_redis_answer told = {
        .size = sizeof(told), .result = result, .reply = reply, .text = text};

    remote_client_end(pool->remote, &c->call);
    pool->of->told(pool, c, &told);
}

static void answer_reply(struct redis_pool *pool, struct redis_call *c,
                         const struct mk_redis_reply *reply)
{
    if (reply->type == MK_REDIS_ERROR)
        answer(pool, c, MK_E_INVALID, reply, reply->str);
    else
        answer(pool, c, 0, reply, reply->str ? reply->str : "done");
}

/* ---- clusters ---- */

const char *redis_name_of(const struct redis_servers *of, const struct remote_place *place)
{
    return remote_place_is_numeric(place) ? of->server.place.host : NULL;
}

/* Another server has its keys now, or will: the first one, which is 0, is asked where they are. */
static void forget(struct redis_pool *pool, unsigned server)
{
    for (unsigned i = 0; server > 0 && pool->slots && i < REDIS_SLOTS; i++) {
        if (pool->slots[i] == server)
            pool->slots[i] = 0;
    }
}

/* A new one may have the number of another, which has made room. */
static int add_server(struct redis_pool *pool, const struct remote_place *place)
{
    const int server = remote_client_add(pool->remote, place, redis_name_of(pool->of, place));

    if (server > 0)
        forget(pool, (unsigned)server);
    return server;
}

/* @return its number; -1: there are too many, or no memory */
static int server_at(struct redis_pool *pool, const struct remote_place *place)
{
    const unsigned n = remote_client_servers(pool->remote);

    for (unsigned i = 0; i < n; i++) {
        if (remote_place_is_same(remote_client_place(pool->remote, i), place))
            return (int)i;
    }
    return add_server(pool, place);
}

/* Without memory each command is redirected. */
static void learn(struct redis_pool *pool, unsigned slot, int server)
{
    if (!pool->slots)
        pool->slots = calloc(REDIS_SLOTS, 1);
    if (pool->slots)
        pool->slots[slot] = (uint8_t)server;
}

static int send_to(struct redis_pool *pool, struct redis_call *c, unsigned server)
{
    c->server = server;
    return remote_client_send(pool->remote, server, &c->call);
}

/* @return 0: the command is on its way to another server; -1: it stays the caller's, with this answer */
static int redirect(struct redis_pool *pool, struct redis_call *c,
                    const struct mk_redis_reply *reply)
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
    return MK_E_PEER;
}

/* ---- the protocol ---- */

static struct remote_call *new_probe(void)
{
    static const char ping[] = "*1\r\n$4\r\nPING\r\n";
    struct redis_call *c = redis_call_new(sizeof(*c), ping, sizeof(ping) - 1, 1);

    return c ? &c->call : NULL;
}

static int greet(void *of, struct remote_call **call)
{
    const struct redis_servers *s = ((const struct redis_pool *)of)->of;
    struct redis_call *c;

    if (s->ngreetings == 0)
        return 0;
    c = redis_call_new(sizeof(*c), s->greeting, s->greeting_len, s->ngreetings);
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
    const struct mk_redis_reply *reply = ((const struct redis_intake *)reader)->reply;
    struct redis_call *c = redis_call_of(call);

    if (reply->type == MK_REDIS_ERROR && redirect(of, c, reply) == 0)
        return;
    answer_reply(of, c, reply);
    free(c);
}

static void on_late(void *of, struct remote_call *call)
{
    answer(of, redis_call_of(call), MK_E_TIMEOUT, NULL, "no answer within the time limit");
}

static void on_lost(void *of, struct remote_call *call, enum remote_end end, const char *text)
{
    static const int results[] = {
        [REMOTE_LATE] = MK_E_TIMEOUT,
        [REMOTE_LOST] = MK_E_EOF,
        [REMOTE_MALFORMED] = MK_E_BAD,
        [REMOTE_UNSENT] = MK_E_PEER,
    };

    answer(of, redis_call_of(call), results[end], NULL, text);
    free(call);
}

static const struct remote_protocol protocol = {
    .name = "redis",
    .reader_size = sizeof(struct redis_intake),
    .retry_first_ms = REDIS_RETRY_FIRST_MS,
    .retry_last_ms = REDIS_RETRY_LAST_MS,
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

bool redis_pool_refuses(const struct redis_call *c)
{
    struct redis_words words = redis_words_of(redis_call_command(c));
    struct redis_word first;

    if (!redis_words_next(&words, &first))
        return true;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        if (redis_word_is(&first, refused[i]))
            return true;
    }
    return false;
}

int redis_pool_run(struct redis_pool *pool, struct redis_call *c, unsigned ms)
{
    if (redis_pool_refuses(c))
        return MK_E_INVALID;
    if (remote_client_begin(pool->remote, &c->call) < 0)
        return MK_E_BUSY;
    if (ms > 0)
        c->call.deadline_ms = clock_now_ms() + ms;
    if (route(pool, c) == 0)
        return 0;
    remote_client_cancel(pool->remote);
    return MK_E_PEER;
}

/* ---- what connections begin with ---- */

/* Append a command, as n words. @return 0; -1: no memory */
static int greet_with(struct redis_servers *s, int n, const char *const *words)
{
    char *bytes, *all;
    const ssize_t len = redis_format_words(&bytes, n, words, NULL);

    if (len < 0)
        return -1;
    all = realloc(s->greeting, s->greeting_len + (size_t)len);
    if (all) {
        memcpy(all + s->greeting_len, bytes, (size_t)len);
        s->greeting = all;
        s->greeting_len += (size_t)len;
        s->ngreetings++;
    }
    redis_bytes_free(bytes);
    return all ? 0 : -1;
}

/* @return 0; -1: no memory */
static int greet_all(struct redis_servers *s, const struct redis_url *url)
{
    char db[16];
    const char *auth[] = {"AUTH", url->user, url->password};
    const char *anonymous[] = {"AUTH", url->password}, *choice[] = {"SELECT", db};

    (void)snprintf(db, sizeof(db), "%u", url->db);
    if (url->user[0] && greet_with(s, 3, auth) < 0)
        return -1;
    if (!url->user[0] && url->password[0] && greet_with(s, 2, anonymous) < 0)
        return -1;
    return url->db > 0 ? greet_with(s, 2, choice) : 0;
}

/* ---- life ---- */

const char *redis_servers_init(struct redis_servers *s, const struct redis_url *url,
                               unsigned connections, unsigned timeout_ms, unsigned commands)
{
    (void)pthread_mutex_init(&s->server.lock, NULL); /* cannot fail on Linux */
    s->server.place = url->place;
    s->remote = (struct remote_spec){
        .protocol = &protocol,
        .servers = &s->server,
        .nservers = 1,
        .nmore = REDIS_NODES_MAX - 1,
        .connections = connections ? connections : REDIS_CONNECTIONS_USUAL,
        .timeout_ms = timeout_ms ? timeout_ms : REDIS_TIMEOUT_USUAL_MS,
        .calls_max = commands ? commands : REDIS_COMMANDS_USUAL,
    };
    if (connections > REDIS_CONNECTIONS_MAX)
        return "at most 16 connections";
    if (commands > REDIS_COMMANDS_MOST)
        return "at most 65536 commands";
    if (timeout_ms > REDIS_TIMEOUT_MOST_MS)
        return "a timeout of at most 3600000 ms";
    return greet_all(s, url) < 0 ? redis_no_memory : NULL;
}

void redis_servers_fini(struct redis_servers *s)
{
    (void)pthread_mutex_destroy(&s->server.lock);
    free(s->greeting);
}

int redis_pool_init(struct redis_pool *pool, struct redis_servers *of,
                    const struct remote_home *home)
{
    pool->of = of;
    pool->remote = remote_client_new(&of->remote, home, pool);
    return pool->remote ? 0 : -1;
}

void redis_pool_fini(struct redis_pool *pool)
{
    remote_client_free(pool->remote);
    free(pool->slots);
}
