/* SPDX-License-Identifier: Apache-2.0 */
#include "pool.h"

#include "remote/home.h"

#include <stdlib.h>
#include <string.h>

static struct memc_command *command_of(struct remote_call *call)
{
    return (struct memc_command *)(void *)call;
}

/* ---- answers ---- */

struct answered {
    const struct memc_command *command;
    const struct memcached_answer *answer;
};

static void call_service(duda_request_t *dr, void *arg)
{
    const struct answered *a = arg;

    if (a->command->fn)
        a->command->fn(dr, a->answer, a->command->arg);
}

static void answer(struct memc_pool *pool, struct memc_command *c,
                   const struct memcached_answer *answer)
{
    struct answered a = {c, answer};

    remote_client_end(pool->remote, &c->call);
    parking_leave(c->parking, call_service, &a);
    free(c);
}

static const char *text_of(const struct memc_reader *r)
{
    switch (r->result) {
    case MEMCACHED_OK:
        return "done";
    case MEMCACHED_MISS:
        return "no such key";
    case MEMCACHED_NOT_STORED:
        return "not stored";
    default:
        return r->line;
    }
}

static void on_answer(void *of, struct remote_call *call, const void *reader)
{
    const struct memc_reader *r = reader;

    answer(of, command_of(call),
           &(struct memcached_answer){.result = r->result,
                                      .value = r->value,
                                      .len = r->value_got,
                                      .number = r->number,
                                      .text = text_of(r)});
}

/* ---- routes ---- */

static int route(struct memc_pool *pool, struct memc_command *c)
{
    int i;

    do {
        const uint64_t alive = remote_client_alive(pool->remote);

        i = ring_find(pool->client->ring, c->hash, &alive);
    } while (i >= 0 && remote_client_send(pool->remote, (unsigned)i, &c->call) < 0);
    return i >= 0 ? 0 : MEMCACHED_DOWN;
}

static void on_lost(void *of, struct remote_call *call, enum remote_end end, const char *text)
{
    static const int results[] = {
        [REMOTE_LATE] = MEMCACHED_TIMEOUT,
        [REMOTE_LOST] = MEMCACHED_LOST,
        [REMOTE_MALFORMED] = MEMCACHED_MALFORMED,
        [REMOTE_UNSENT] = MEMCACHED_DOWN,
    };
    struct memcached_answer none = {.result = results[end], .text = text};

    if (end == REMOTE_UNSENT) {
        if (route(of, command_of(call)) == 0)
            return;
        none.text = "no server can be reached";
    }
    answer(of, command_of(call), &none);
}

int memc_pool_submit(struct memc_pool *pool, struct memc_command *c, duda_request_t *dr)
{
    int result = MEMCACHED_FULL;

    if (remote_client_begin(pool->remote, &c->call) < 0)
        return result;
    c->parking = dr ? parking_enter(&pool->lot, dr) : NULL;
    if (!dr || c->parking)
        result = route(pool, c);
    if (result == 0)
        return 0;
    remote_client_cancel(pool->remote);
    parking_cancel(c->parking);
    return result;
}

/* ---- the protocol ---- */

static struct remote_call *new_probe(void)
{
    const struct memc_order order = {.verb = MEMC_VERB_VERSION};
    bool is_refused;
    struct memc_command *c = memc_command_new(&order, 0, &is_refused);

    return c ? &c->call : NULL;
}

static void begin(void *of, void *reader, const struct remote_call *call, bool is_first)
{
    const struct memc_pool *pool = of;
    const struct memc_command *c = (const struct memc_command *)(const void *)call;

    (void)is_first; /* no answer to a command reads like the refusal of a connection */
    memc_reader_begin(reader, c->kind, c->bytes + c->key_at, c->key_len, pool->client->value_max);
}

/* What a server sends at its limit of connections, before it closes this one. */
static const char is_full[] = "ERROR Too many open connections";

/* Is the line whole, and so terminated? One that is too long is not. */
static bool is_terminated(const struct memc_reader *r)
{
    return r->line_len == 0;
}

/* A server that has not understood the line of a value reads the value as commands. */
static enum remote_progress read_answer(void *reader, const char *bytes, size_t len, size_t *used)
{
    struct memc_reader *r = reader;
    const ssize_t n = memc_reader_feed(r, bytes, len);

    if (n < 0)
        return is_terminated(r) && strcmp(r->line, is_full) == 0 ? REMOTE_FULL : REMOTE_BAD;
    *used = (size_t)n;
    if (r->state != MEMC_READER_DONE)
        return REMOTE_MORE;
    return r->is_unknown && r->kind == MEMC_STORE ? REMOTE_CONFUSED : REMOTE_DONE;
}

static const char *why(const void *reader)
{
    return ((const struct memc_reader *)reader)->why;
}

static void reset(void *reader)
{
    memc_reader_fini(reader);
}

const struct remote_protocol memc_protocol = {
    .name = "memcached",
    .reader_size = sizeof(struct memc_reader),
    .retry_first_ms = MEMC_RETRY_FIRST_MS,
    .retry_last_ms = MEMC_RETRY_LAST_MS,
    .probe = new_probe,
    .begin = begin,
    .read = read_answer,
    .why = why,
    .answer = on_answer,
    .lost = on_lost,
    .reset = reset,
};

/* ---- life ---- */

struct memc_pool *memc_pool_new(const struct memcached_client *client)
{
    struct memc_pool *pool = calloc(1, sizeof(*pool));
    struct remote_home home;

    if (!pool)
        return NULL;
    pool->client = client;
    if (remote_home_here(&home) == 0)
        pool->remote = remote_client_new(&client->remote, &home, pool);
    if (pool->remote)
        return pool;
    free(pool);
    return NULL;
}

void memc_pool_free(struct memc_pool *pool)
{
    remote_client_free(pool->remote);
    parking_lot_end(&pool->lot);
    free(pool);
}
