/* SPDX-License-Identifier: Apache-2.0 */
#include "context.h"
#include "pool.h"

#include "duda_package.h"

#include "remote/redis_url.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The calls of the object. */

/* What a worker has, beside the pools of clients. */
struct home {
    struct redis_contexts contexts;
    struct parking_lot lot;
};

static duda_global_t homes;

/* In place: the list of the service's globals refers to them until the process ends. */
static struct redis_client clients[REDIS_CLIENTS_MAX];
static unsigned nclients;

/* ---- workers ---- */

static void nothing(void *arg)
{
    (void)arg;
}

/* Other threads have neither timers nor events. */
static bool is_worker(void)
{
    return timer->cancel(timer->after(REDIS_LIMIT_MS, nothing, NULL)) == 0;
}

/* @return what this worker has; NULL: no memory, or not a worker */
static struct home *made_home(void)
{
    struct home *home = global->get(homes);

    if (home || !is_worker())
        return home;
    home = calloc(1, sizeof(*home));
    if (home && global->set(homes, home) < 0) {
        free(home);
        return NULL;
    }
    return home;
}

static void end_home(void *value)
{
    struct home *home = value;

    redis_contexts_end(&home->contexts);
    parking_lot_end(&home->lot);
    free(home);
}

static struct redis_context *find(const redisAsyncContext *rc)
{
    const struct home *home = global->get(homes);

    return home ? redis_context_find(&home->contexts, rc) : NULL;
}

/* ---- published calls ---- */

static redisAsyncContext *connect_to(const char *ip, int port, duda_request_t *dr)
{
    struct home *home = made_home();

    return home ? redis_context_new(&home->contexts, ip, port, dr) : NULL;
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

/* @return 0; -1: it is too long */
static int copy(char *dst, size_t size, const char *text)
{
    const size_t len = text ? strlen(text) : 0;

    if (len >= size)
        return -1;
    if (len > 0)
        memcpy(dst, text, len);
    dst[len] = '\0';
    return 0;
}

/* Options that the service gives beside a URL go before those in it. @return what is wrong; NULL: nothing */
static const char *read_url(redis_client_t *c, const char *text)
{
    struct redis_url url;
    const char *why = redis_url_read(&url, text);

    if (why)
        return why;
    if (address_find(&c->place, url.place.host, url.place.port) < 0)
        return "the host of the server has no address";
    if (url.place.is_secure && !(c->trust = redis_trust_new(url.ca, &why)))
        return why;
    memcpy(c->host, url.place.host, sizeof(c->host));
    c->port = url.place.port;
    memcpy(c->user, url.user, sizeof(c->user));
    memcpy(c->password, url.password, sizeof(c->password));
    if (url.db > 0)
        (void)snprintf(c->db, sizeof(c->db), "%u", url.db);
    return NULL;
}

static const char *read_server(redis_client_t *c, const char *text)
{
    if (text && redis_url_is(text))
        return read_url(c, text);
    return text && address_read(&c->place, text, strlen(text)) == 0
               ? NULL
               : "the server is a numeric address with a port, or a URL of Redis";
}

/* @return what is wrong; NULL: nothing */
static const char *set_up(redis_client_t *c, const struct redis_options *o)
{
    const char *why = read_server(c, o ? o->server : NULL);

    if (why)
        return why;
    c->connections = o->connections ? o->connections : REDIS_CONNECTIONS_USUAL;
    c->timeout_ms = o->timeout_ms ? o->timeout_ms : REDIS_TIMEOUT_USUAL_MS;
    if (c->connections > REDIS_CONNECTIONS_MAX)
        return "at most 16 connections";
    if ((o->user && copy(c->user, sizeof(c->user), o->user) < 0) ||
        (o->password && copy(c->password, sizeof(c->password), o->password) < 0))
        return "users and passwords have at most 127 bytes";
    if (o->db > 0)
        (void)snprintf(c->db, sizeof(c->db), "%u", o->db);
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
    if (why) {
        msg->err("redis->client(): %s", why);
        return NULL;
    }
    nclients++;
    return c;
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
    struct home *home = pool ? made_home() : NULL;
    struct redis_command *command = len > 0 ? redis_command_new(bytes, (size_t)len) : NULL;
    int result = REDIS_FULL;

    if (!c || len < 0 || (dr && (!fn || request->validate_request(dr) != MK_TRUE))) {
        result = REDIS_REFUSED;
    } else if (command && home) {
        command->fn = (void (*)(void))fn;
        command->arg = arg;
        result = redis_pool_run(pool, &home->lot, command, ms, dr);
    }
    if (result != 0)
        redis_command_free(command);
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

    return pool && channel && fn && made_home() ? redis_pool_subscribe(pool, channel, fn, arg) : -1;
}

static int unsubscribe(redis_client_t *c, const char *channel)
{
    struct redis_pool *pool = pool_of(c);

    return pool && channel ? redis_pool_unsubscribe(pool, channel) : -1;
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

    global->init_with_end(&homes, NULL, NULL, end_home);
    return &package;
}
