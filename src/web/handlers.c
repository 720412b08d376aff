/* SPDX-License-Identifier: Apache-2.0 */
#include "web/router_int.h"

#include "kit/clock/clock.h"

#include <monkey/plugin.h>

/*
 * Handlers of a program: a router as a plugin of that program. The configuration for which it was made holds it, and so does
 * each configuration that is in force with it: a reload carries it from one to the next.
 */

static int check_site(struct mk_setup *setup)
{
    return mk_setup_route(setup, MK_STR("^"), NULL, NULL, false);
}

static int start(const struct mk_context *ctx, const struct mk_context *old)
{
    (void)old;
    mk_router_hold(ctx->config);
    return 0;
}

static void stop(const struct mk_context *ctx)
{
    mk_router_free(ctx->config);
}

static enum mk_verdict on_handle(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    const int64_t begun_ms = clock_tick_ms();
    const struct mk_route *route;
    const enum mk_verdict verdict = mk_router_call(ctx->config, r, 0, &route);
    const int64_t held_ms = clock_tick_ms() - begun_ms;

    (void)data;
    if (held_ms > MK_HANDLER_HELD_MS && route)
        mk_request_log(r, MK_LOG_WARN, "handler blocked its worker pattern=%s ms=%lld",
                       route->pattern, (long long)held_ms);
    return verdict;
}

static void on_finish(struct mk_request *r, const struct mk_context *ctx)
{
    mk_router_finish(ctx->config, r);
}

static const struct mk_plugin handlers = {
    MK_PLUGIN("handlers", "handlers of the program"),
    .check_site = check_site,
    .start = start,
    .stop = stop,
    .on_handle = on_handle,
    .on_finish = on_finish,
    .traits = MK_TRAIT_ELSEWHERE, /* no file is the source of a handler */
};

static void put(void *router)
{
    mk_router_free(router);
}

static int add_router(struct mk_config *config, struct mk_router **router)
{
    int err = mk_router_new(router);

    if (err < 0)
        return err;
    err = mk_config_on_free(config, put, *router);
    if (err < 0)
        mk_router_free(*router);
    return err < 0 ? err : mk_config_plugin(config, &handlers, *router);
}

static int router_of(struct mk_config *config, struct mk_router **router)
{
    *router = mk_config_argument(config, &handlers);
    return *router ? 0 : add_router(config, router);
}

int mk_config_handle(struct mk_config *config, const char *methods, const char *pattern,
                     mk_handle_fn fn, void *arg)
{
    struct mk_router *router;
    int err;

    if (!config || !pattern || !fn)
        return MK_E_INVALID;
    err = router_of(config, &router);
    return err < 0 ? err : mk_router_add(router, methods, pattern, fn, arg);
}

struct mk_routes *mk_config_routes(struct mk_config *config)
{
    struct mk_router *router;

    return config && router_of(config, &router) == 0 ? mk_router_routes(router) : NULL;
}
