/* SPDX-License-Identifier: Apache-2.0 */
#include "pool.h"

#include "remote/home.h"

#include "duda_package.h"

#include <stdlib.h>
#include <string.h>

/* The calls of the object. */

/* In place: the list of the service's globals refers to them until the process ends. */
static struct memcached_client clients[MEMC_CLIENTS_MAX];
static unsigned nclients;

/* ---- clients ---- */

static void *begin_worker(void *client)
{
    return memc_pool_new(client);
}

static void end_worker(void *pool)
{
    memc_pool_free(pool);
}

/* @return 0; -1: a bound is exceeded */
static int take_options(memcached_client_t *c, const struct memcached_options *o)
{
    c->remote.protocol = &memc_protocol;
    c->remote.connections = o->connections ? o->connections : MEMC_CONNECTIONS_USUAL;
    c->remote.timeout_ms = o->timeout_ms ? o->timeout_ms : MEMC_TIMEOUT_USUAL_MS;
    c->remote.calls_max = MEMC_COMMANDS_MAX;
    c->value_max = o->value_max ? o->value_max : MEMC_VALUE_USUAL;
    return c->remote.connections <= MEMC_CONNECTIONS_MAX && c->value_max <= MEMC_VALUE_MAX ? 0 : -1;
}

/* They last as long as the client. @return what is wrong; NULL: nothing */
static const char *make_servers(memcached_client_t *c, const struct remote_place *places, int n)
{
    const char *names[MEMC_SERVERS_MAX];

    c->remote.servers = calloc((size_t)n, sizeof(*c->remote.servers));
    if (!c->remote.servers)
        return "no memory";
    c->remote.nservers = (unsigned)n;
    for (int i = 0; i < n; i++) {
        struct remote_server *s = &c->remote.servers[i];

        s->place = places[i];
        names[i] = s->place.text;
        if (s->place.is_secure && !remote_has_tls())
            return "TLS needs the plugin tls or mbedtls";
        (void)pthread_mutex_init(&s->lock, NULL);
    }
    c->ring = memc_ring_new(names, (size_t)n);
    return c->ring ? NULL : "no memory";
}

/* @param room  for the reason. @return what is wrong; NULL: nothing */
static const char *set_up(memcached_client_t *c, const struct memcached_options *o,
                          char room[MEMC_WHY_MAX])
{
    struct remote_place *places = NULL;
    const int n = o ? memc_places_read(o->servers, &places, room) : -1;
    const char *why;

    if (!o)
        return "options are missing";
    if (n < 0)
        return room;
    why = take_options(c, o) < 0 ? "at most 16 connections and values of 128 MB"
                                 : make_servers(c, places, n);
    free(places);
    if (why)
        return why;
    global->init_with_end(&c->pools, begin_worker, c, end_worker);
    return c->pools.callback ? NULL : "it is for duda_main() alone";
}

static memcached_client_t *client(const struct memcached_options *options)
{
    memcached_client_t *c = nclients < MEMC_CLIENTS_MAX ? &clients[nclients] : NULL;
    const char *why = "a service has at most 8 clients";
    char room[MEMC_WHY_MAX];

    if (c) {
        memset(c, 0, sizeof(*c));
        why = set_up(c, options, room);
    }
    if (!why) {
        nclients++;
        return c;
    }
    if (c) {
        ring_free(c->ring);
        free(c->remote.servers);
    }
    msg->err("memcached->client(): %s", why);
    return NULL;
}

/* ---- commands ---- */

static int ask(memcached_client_t *c, duda_request_t *dr, const struct memc_order *order,
               memcached_fn fn, void *arg)
{
    struct memc_pool *pool = c ? global->get(c->pools) : NULL;
    struct memc_command *command;
    bool is_refused;
    int result;

    if (!c || (dr && (!fn || request->validate_request(dr) != MK_TRUE)))
        return MEMCACHED_REFUSED;
    command = pool ? memc_command_new(order, c->value_max, &is_refused) : NULL;
    if (!command)
        return pool && is_refused ? MEMCACHED_REFUSED : MEMCACHED_FULL;
    command->fn = fn;
    command->arg = arg;
    result = memc_pool_submit(pool, command, dr);
    if (result < 0)
        free(command);
    return result;
}

static int ask_number(memcached_client_t *c, duda_request_t *dr, enum memc_verb verb,
                      const char *key, uint64_t number, memcached_fn fn, void *arg)
{
    const struct memc_order order = {.verb = verb, .key = key, .number = number};

    return ask(c, dr, &order, fn, arg);
}

static int get(memcached_client_t *c, duda_request_t *dr, const char *key, memcached_fn fn,
               void *arg)
{
    return ask_number(c, dr, MEMC_VERB_GET, key, 0, fn, arg);
}

static int set(memcached_client_t *c, duda_request_t *dr, const char *key, const void *value,
               size_t len, uint32_t seconds, memcached_fn fn, void *arg)
{
    const struct memc_order order = {MEMC_VERB_SET, key, value, len, seconds};

    return ask(c, dr, &order, fn, arg);
}

static int add(memcached_client_t *c, duda_request_t *dr, const char *key, const void *value,
               size_t len, uint32_t seconds, memcached_fn fn, void *arg)
{
    const struct memc_order order = {MEMC_VERB_ADD, key, value, len, seconds};

    return ask(c, dr, &order, fn, arg);
}

static int replace(memcached_client_t *c, duda_request_t *dr, const char *key, const void *value,
                   size_t len, uint32_t seconds, memcached_fn fn, void *arg)
{
    const struct memc_order order = {MEMC_VERB_REPLACE, key, value, len, seconds};

    return ask(c, dr, &order, fn, arg);
}

static int drop(memcached_client_t *c, duda_request_t *dr, const char *key, memcached_fn fn,
                void *arg)
{
    return ask_number(c, dr, MEMC_VERB_DROP, key, 0, fn, arg);
}

static int incr(memcached_client_t *c, duda_request_t *dr, const char *key, uint64_t by,
                memcached_fn fn, void *arg)
{
    return ask_number(c, dr, MEMC_VERB_INCR, key, by, fn, arg);
}

static int decr(memcached_client_t *c, duda_request_t *dr, const char *key, uint64_t by,
                memcached_fn fn, void *arg)
{
    return ask_number(c, dr, MEMC_VERB_DECR, key, by, fn, arg);
}

static int touch(memcached_client_t *c, duda_request_t *dr, const char *key, uint32_t seconds,
                 memcached_fn fn, void *arg)
{
    return ask_number(c, dr, MEMC_VERB_TOUCH, key, seconds, fn, arg);
}

static memcached_object_t calls = {
    .client = client,
    .get = get,
    .set = set,
    .add = add,
    .replace = replace,
    .drop = drop,
    .incr = incr,
    .decr = decr,
    .touch = touch,
};

duda_package_t *duda_package_main()
{
    static char name[] = "memcached", version[] = "1.0";
    static duda_package_t package = {.name = name, .version = version, .api = &calls};

    return &package;
}
