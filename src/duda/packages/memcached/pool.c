/* SPDX-License-Identifier: Apache-2.0 */
#include "pool.h"

#include "kit/clock/clock.h"
#include "connection.h"

static uint64_t bit_of(const struct memc_server *s)
{
    return (uint64_t)1 << (s - s->pool->servers);
}

/* ---- servers that are left out ---- */

void memc_server_failed(struct memc_server *s, bool is_probe)
{
    if (!(s->pool->alive & bit_of(s)) && !is_probe)
        return; /* another connection of it has failed before */
    backoff_failed(&s->backoff, MEMC_RETRY_FIRST_MS, MEMC_RETRY_LAST_MS);
    s->is_probed = false;
    if (s->pool->alive & bit_of(s))
        msg->warn("memcached: %s is left out", s->place->text);
    s->pool->alive &= ~bit_of(s);
}

void memc_server_is_back(struct memc_server *s)
{
    s->pool->alive |= bit_of(s);
    backoff_end(&s->backoff);
    s->is_probed = false;
    msg->info("memcached: %s is back", s->place->text);
}

static void probe(struct memc_server *s, int64_t now_ms)
{
    const struct memc_order order = {.verb = MEMC_VERB_VERSION};
    bool is_refused;
    struct memc_command *c = memc_command_new(&order, 0, &is_refused);
    struct memc_connection *connection = c ? memc_connection_open(s) : NULL;

    if (!connection) {
        free(c);
        memc_server_failed(s, true);
        return;
    }
    c->deadline_ms = now_ms + s->pool->client->timeout_ms;
    s->pool->ncommands++;
    s->is_probed = connection->is_probe = true;
    memc_connection_send(connection, c);
}

/* ---- time ---- */

static void look_after(struct memc_server *s, int64_t now_ms)
{
    for (struct memc_connection *c = s->connections, *next; c; c = next) {
        next = c->next;
        memc_connection_expire(c, now_ms);
    }
    if (backoff_is_on(&s->backoff) && !s->is_probed && backoff_is_over(&s->backoff, now_ms))
        probe(s, now_ms);
}

static void on_tick(void *arg)
{
    struct memc_pool *pool = arg;
    const int64_t now_ms = clock_now_ms();

    for (unsigned i = 0; i < pool->client->nplaces; i++)
        look_after(&pool->servers[i], now_ms);
    if (pool->ncommands > 0 || pool->alive != pool->client->all)
        return;
    (void)timer->cancel(pool->tick);
    pool->tick = NULL;
}

/* ---- commands ---- */

static struct memc_connection *choose(struct memc_server *s)
{
    struct memc_connection *best = NULL;

    for (struct memc_connection *c = s->connections; c; c = c->next) {
        if ((!best || c->ncommands < best->ncommands) && memc_connection_is_usable(c))
            best = c;
    }
    if (best && (best->ncommands == 0 || s->nconnections >= s->pool->client->connections))
        return best;
    return memc_connection_open(s);
}

int memc_pool_route(struct memc_pool *pool, struct memc_command *c)
{
    int i;

    while ((i = ring_find(pool->client->ring, c->hash, &pool->alive)) >= 0) {
        struct memc_connection *connection = choose(&pool->servers[i]);

        if (connection) {
            memc_connection_send(connection, c);
            return 0;
        }
        memc_server_failed(&pool->servers[i], false);
    }
    return MEMCACHED_DOWN;
}

int memc_pool_submit(struct memc_pool *pool, struct memc_command *c, duda_request_t *dr)
{
    if (pool->ncommands >= MEMC_COMMANDS_MAX)
        return MEMCACHED_FULL;
    if (!pool->tick)
        pool->tick = timer->every(MEMC_TICK_MS, on_tick, pool);
    if (pool->tick && dr)
        c->parking = parking_enter(&pool->lot, dr);
    if (!pool->tick || (dr && !c->parking))
        return MEMCACHED_FULL;
    c->deadline_ms = clock_now_ms() + pool->client->timeout_ms;
    if (memc_pool_route(pool, c) == 0) {
        pool->ncommands++;
        return 0;
    }
    parking_cancel(c->parking);
    return MEMCACHED_DOWN;
}

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

void memc_pool_answer(struct memc_pool *pool, struct memc_command *c,
                      const struct memcached_answer *answer)
{
    struct answered a = {c, answer};

    pool->ncommands--;
    parking_leave(c->parking, call_service, &a);
    free(c);
}

/* ---- life ---- */

struct memc_pool *memc_pool_new(const struct memcached_client *client)
{
    struct memc_pool *pool =
        calloc(1, sizeof(*pool) + client->nplaces * sizeof(struct memc_server));

    if (!pool)
        return NULL;
    pool->client = client;
    pool->alive = client->all;
    for (unsigned i = 0; i < client->nplaces; i++) {
        pool->servers[i].pool = pool;
        pool->servers[i].place = &client->places[i];
    }
    return pool;
}

void memc_pool_free(struct memc_pool *pool)
{
    for (unsigned i = 0; i < pool->client->nplaces; i++) {
        for (struct memc_connection *c = pool->servers[i].connections, *next; c; c = next) {
            next = c->next;
            memc_connection_free(c);
        }
    }
    parking_lot_end(&pool->lot);
    free(pool);
}
