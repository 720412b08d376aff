/* SPDX-License-Identifier: Apache-2.0 */
#include "context.h"

#include "duda_package.h"

#include <stdlib.h>

/* The calls of the object. */

static duda_global_t homes;

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
static struct redis_contexts *made_home(void)
{
    struct redis_contexts *home = global->get(homes);

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
    redis_contexts_end(value);
    free(value);
}

static struct redis_context *find(const redisAsyncContext *rc)
{
    return redis_context_find(global->get(homes), rc);
}

/* ---- published calls ---- */

static redisAsyncContext *connect_to(const char *ip, int port, duda_request_t *dr)
{
    struct redis_contexts *home = made_home();

    return home ? redis_context_new(home, ip, port, dr) : NULL;
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

static redis_object_t calls = {
    .connect = connect_to,
    .disconnect = disconnect,
    .attach = attach,
    .setConnectCallback = set_connect_callback,
    .setDisconnectCallback = set_disconnect_callback,
    .command = command,
    .free = free_context,
    .getDudarequest = request_of,
};

duda_package_t *duda_package_main()
{
    static char name[] = "redis", version[] = "1.0";
    static duda_package_t package = {.name = name, .version = version, .api = &calls};

    global->init_with_end(&homes, NULL, NULL, end_home);
    return &package;
}
