/* SPDX-License-Identifier: Apache-2.0 */
#include "context.h"
#include "pool.h"

#include "duda_package.h"

#include "remote/redis_url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The calls of the object. */

static duda_global_t homes; /* of each worker: struct redis_contexts */

/* In place: the list of the service's globals refers to them until the process ends. */
static struct redis_client clients[REDIS_CLIENTS_MAX];
static unsigned nclients;

/* ---- workers ---- */

/* Other threads have neither timers nor streams. */
static bool is_worker(void)
{
    struct duda_place place;

    return duda_objects_given->host->place(&place) == 0;
}

/* @return those of this worker; NULL: no memory, or not a worker */
static struct redis_contexts *made_contexts(void)
{
    struct redis_contexts *all = global->get(homes);

    if (all || !is_worker())
        return all;
    all = calloc(1, sizeof(*all));
    if (all && global->set(homes, all) < 0) {
        free(all);
        return NULL;
    }
    return all;
}

static void end_contexts(void *all)
{
    redis_contexts_end(all);
    free(all);
}

static struct redis_context *find(const redisAsyncContext *rc)
{
    return redis_context_find(global->get(homes), rc);
}

/* ---- published calls ---- */

static redisAsyncContext *connect_to(const char *ip, int port, duda_request_t *dr)
{
    struct redis_contexts *all = made_contexts();

    return all ? redis_context_new(all, ip, port, dr) : NULL;
}

static void disconnect(redisAsyncContext *rc)
{
    struct redis_context *c = find(rc);

    if (c)
        redis_context_disconnect(c);
}

static int attach(redisAsyncContext *rc, duda_request_t *dr)
{
    struct redis_context *c = find(rc);

    (void)dr; /* connect() had it */
    return c ? redis_context_attach(c) : REDIS_ERR;
}

static int set_connect_callback(redisAsyncContext *rc, void (*fn)(const redisAsyncContext *, int))
{
    struct redis_context *c = find(rc);

    return c ? redis_context_on_connect(c, fn) : REDIS_ERR;
}

static int set_disconnect_callback(redisAsyncContext *rc,
                                   void (*fn)(const redisAsyncContext *, int))
{
    struct redis_context *c = find(rc);

    return c ? redis_context_on_disconnect(c, fn) : REDIS_ERR;
}

static int command(redisAsyncContext *rc, void (*fn)(redisAsyncContext *, void *, void *),
                   void *priv, const char *format, ...)
{
    struct redis_context *c = find(rc);
    char *bytes;
    va_list args;
    ssize_t len;

    if (!c)
        return REDIS_ERR;
    va_start(args, format);
    len = redis_format(&bytes, format, args);
    va_end(args);
    return len < 0 ? REDIS_ERR : redis_context_command(c, bytes, (size_t)len, fn, priv);
}

static void free_context(redisAsyncContext *rc)
{
    struct redis_context *c = find(rc);

    if (c)
        redis_context_free(c);
}

static duda_request_t *request_of(const redisAsyncContext *rc)
{
    const struct redis_context *c = find(rc);

    return c ? redis_context_request(c) : NULL;
}

/* ---- clients ---- */

static void *begin_worker(void *of)
{
    return redis_pool_new(of);
}

static void end_worker(void *pool)
{
    redis_pool_free(pool);
}

/* Append a command, as n words, to what connections begin with. @return 0; -1: no memory */
static int greet(redis_client_t *c, int n, const char *const *words)
{
    char *bytes, *all;
    const ssize_t len = redis_format_words(&bytes, n, words, NULL);

    if (len < 0)
        return -1;
    all = realloc(c->greeting, c->greeting_len + (size_t)len);
    if (all) {
        memcpy(all + c->greeting_len, bytes, (size_t)len);
        c->greeting = all;
        c->greeting_len += (size_t)len;
        c->ngreetings++;
    }
    redis_bytes_free(bytes);
    return all ? 0 : -1;
}

/* @return 0; -1: no memory */
static int greet_all(redis_client_t *c, const struct redis_url *url)
{
    char db[16];
    const char *auth[] = {"AUTH", url->user, url->password};
    const char *anonymous[] = {"AUTH", url->password}, *choice[] = {"SELECT", db};

    (void)snprintf(db, sizeof(db), "%u", url->db);
    if (url->user[0] && greet(c, 3, auth) < 0)
        return -1;
    if (!url->user[0] && url->password[0] && greet(c, 2, anonymous) < 0)
        return -1;
    return url->db > 0 ? greet(c, 2, choice) : 0;
}

/* @return 0; -1: it is too long */
static int copy(char dst[REDIS_NAME_MAX], const char *text)
{
    const int len = text ? snprintf(dst, REDIS_NAME_MAX, "%s", text) : 0;

    return len < REDIS_NAME_MAX ? 0 : -1;
}

/* Where the server is. Options that the service gives beside a URL go before those in it. @return what is wrong; NULL: nothing */
static const char *read_server(struct redis_url *url, const struct redis_options *o)
{
    const char *why = "options name a server";

    if (o && o->server && redis_url_is(o->server)) {
        why = redis_url_read(url, o->server);
    } else if (o && o->server) {
        memset(url, 0, sizeof(*url));
        why = remote_place_read_host(&url->place, mk_str_from(o->server), 0);
    }
    if (why)
        return why;
    if (o->db > 0)
        url->db = o->db;
    return copy(url->user, o->user) < 0 || copy(url->password, o->password) < 0
               ? "users and passwords have at most 127 bytes"
               : NULL;
}

static void take_options(redis_client_t *c, const struct redis_options *o,
                         const struct remote_place *place)
{
    c->servers[0].place = *place;
    c->remote.protocol = &redis_protocol;
    c->remote.servers = c->servers;
    c->remote.nservers = 1;
    c->remote.nmore = REDIS_NODES_MAX - 1;
    c->remote.connections = o->connections ? o->connections : REDIS_CONNECTIONS_USUAL;
    c->remote.timeout_ms = o->timeout_ms ? o->timeout_ms : REDIS_TIMEOUT_USUAL_MS;
}

/* @return what is wrong; NULL: nothing */
static const char *set_up(redis_client_t *c, const struct redis_options *o)
{
    struct redis_url url;
    const char *why = read_server(&url, o);

    if (why)
        return why;
    take_options(c, o, &url.place);
    if (c->remote.connections > REDIS_CONNECTIONS_MAX)
        return "at most 16 connections";
    if (url.place.is_secure && !remote_has_tls())
        return "TLS needs the plugin tls or mbedtls";
    if (greet_all(c, &url) < 0)
        return "no memory";
    (void)pthread_mutex_init(&c->servers[0].lock, NULL);
    global->init_with_end(&c->pools, begin_worker, c, end_worker);
    return c->pools.callback ? NULL : "it is for duda_main() alone";
}

static redis_client_t *client(const struct redis_options *options)
{
    redis_client_t *c = nclients < REDIS_CLIENTS_MAX ? &clients[nclients] : NULL;
    const char *why = "a service has at most 8 clients";

    if (c) {
        memset(c, 0, sizeof(*c));
        why = set_up(c, options);
    }
    if (!why) {
        nclients++;
        return c;
    }
    if (c)
        free(c->greeting);
    msg->err("redis->client(): %s", why);
    return NULL;
}

/* @return the pool of this worker; NULL: there is none */
static struct redis_pool *pool_of(const redis_client_t *c)
{
    return c ? global->get(c->pools) : NULL;
}

/* @param bytes  taken, in any case. @param len  -1: there are none */
static int ask(redis_client_t *c, unsigned ms, duda_request_t *dr, redis_fn fn, void *arg,
               char *bytes, ssize_t len)
{
    struct redis_pool *pool = pool_of(c);
    struct redis_call *call = pool && len > 0 ? redis_call_new(bytes, (size_t)len, 1) : NULL;
    int result = REDIS_FULL;

    redis_bytes_free(bytes);
    if (!c || len < 0 || (dr && (!fn || request->validate_request(dr) != MK_TRUE))) {
        result = REDIS_REFUSED;
    } else if (call) {
        call->fn = fn;
        call->arg = arg;
        result = redis_pool_run(pool, call, ms, dr);
    }
    if (result != 0)
        free(call);
    return result;
}

static int run(redis_client_t *c, duda_request_t *dr, redis_fn fn, void *arg, const char *format,
               ...)
{
    char *bytes;
    va_list args;
    ssize_t len;

    va_start(args, format);
    len = redis_format(&bytes, format, args);
    va_end(args);
    return ask(c, 0, dr, fn, arg, bytes, len);
}

static int run_within(redis_client_t *c, unsigned ms, duda_request_t *dr, redis_fn fn, void *arg,
                      const char *format, ...)
{
    char *bytes;
    va_list args;
    ssize_t len;

    va_start(args, format);
    len = redis_format(&bytes, format, args);
    va_end(args);
    return ask(c, ms, dr, fn, arg, bytes, len);
}

static int run_words(redis_client_t *c, duda_request_t *dr, redis_fn fn, void *arg, int n,
                     const char *const *words, const size_t *lens)
{
    char *bytes;
    const ssize_t len = redis_format_words(&bytes, n, words, lens);

    return ask(c, 0, dr, fn, arg, bytes, len);
}

static int subscribe(redis_client_t *c, const char *channel, redis_message_fn fn, void *arg)
{
    struct redis_pool *pool = pool_of(c);

    return pool && channel && fn ? redis_ear_subscribe(&pool->ear, channel, fn, arg) : -1;
}

static int unsubscribe(redis_client_t *c, const char *channel)
{
    struct redis_pool *pool = pool_of(c);

    return pool && channel ? redis_ear_unsubscribe(&pool->ear, channel) : -1;
}

static redis_object_t calls = {
    .connect = connect_to,
    .disconnect = disconnect,
    .attach = attach,
    .setConnectCallback = set_connect_callback,
    .setDisconnectCallback = set_disconnect_callback,
    .command = command,
    .free = free_context,
    .getDudarequest = request_of,
    .client = client,
    .run = run,
    .run_within = run_within,
    .run_words = run_words,
    .subscribe = subscribe,
    .unsubscribe = unsubscribe,
};

duda_package_t *duda_package_main()
{
    static char name[] = "redis", version[] = "1.0";
    static duda_package_t package = {.name = name, .version = version, .api = &calls};

    global->init_with_end(&homes, NULL, NULL, end_contexts);
    return &package;
}
