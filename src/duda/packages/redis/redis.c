/* SPDX-License-Identifier: Apache-2.0 */
#include "bounds.h"
#include "context.h"
#include "desk.h"

#include "duda_package.h"

#include "remote/home.h"

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
    return redis_desk_new(of);
}

static void end_worker(void *desk)
{
    redis_desk_free(desk);
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

/* @return what is wrong; NULL: nothing */
static const char *set_up(redis_client_t *c, const struct redis_options *o)
{
    struct redis_url url;
    const char *why = read_server(&url, o);

    if (why)
        return why;
    if (url.place.is_secure && !remote_has_tls())
        return "TLS needs the plugin tls or mbedtls";
    why = redis_servers_init(&c->base, &url, o->connections, o->timeout_ms, REDIS_COMMANDS_MAX);
    if (why)
        return why;
    c->base.told = redis_desk_tell;
    global->init_with_end(&c->desks, begin_worker, c, end_worker);
    return c->desks.callback ? NULL : "it is for duda_main() alone";
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
        free(c->base.greeting);
    msg->err("redis->client(): %s", why);
    return NULL;
}

/* @return what this worker has of it; NULL: there is none */
static struct redis_desk *desk_of(const redis_client_t *c)
{
    return c ? global->get(c->desks) : NULL;
}

static struct redis_wish *new_wish(const char *bytes, size_t len)
{
    return (struct redis_wish *)(void *)redis_call_new(sizeof(struct redis_wish), bytes, len, 1);
}

/* @param bytes  taken, in any case. @param len  -1: there are none */
static int ask(redis_client_t *c, unsigned ms, duda_request_t *dr, redis_fn fn, void *arg,
               char *bytes, ssize_t len)
{
    struct redis_desk *desk = desk_of(c);
    struct redis_wish *wish = desk && len > 0 ? new_wish(bytes, (size_t)len) : NULL;
    int result = REDIS_FULL;

    redis_bytes_free(bytes);
    if (!c || len < 0 || (dr && (!fn || request->validate_request(dr) != MK_TRUE))) {
        result = REDIS_REFUSED;
    } else if (wish) {
        wish->fn = fn;
        wish->arg = arg;
        result = redis_desk_run(desk, wish, ms, dr);
    }
    if (result != 0)
        free(wish);
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
    struct redis_desk *desk = desk_of(c);

    return desk && channel && fn ? redis_ear_subscribe(&desk->ear, channel, fn, arg) : -1;
}

static int unsubscribe(redis_client_t *c, const char *channel)
{
    struct redis_desk *desk = desk_of(c);

    return desk && channel ? redis_ear_unsubscribe(&desk->ear, channel) : -1;
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
