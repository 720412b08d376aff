/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/metrics.h"
#include "exchange/exchange.h"

#include <monkey/explain.h>

#include <stdlib.h>

/*
 * FastCGI (specification 1.0), the responder role: requests for scripts and applications go to servers of their own, over
 * connections that may be kept. In rooms:
 *
 *     entry/     what the configuration says: servers, locations
 *     backends/  what is known of each server, and which of several gets a request
 *     exchange/  one request and its application
 */

/* ---- a configuration ---- */

static int fastcgi_check_match(struct mk_setup *setup, const struct mk_setting *line,
                               const struct mk_words *parameters, void **data)
{
    const struct mk_str none = {NULL, 0};

    if (parameters->count > 1)
        mk_setup_fault(setup, &line->value_at, "fastcgi: expected the name of one location");
    *data = fastcgi_location_of(setup, parameters->count > 0 ? parameters->items[0] : none,
                                &line->value_at);
    return 0;
}

static int fastcgi_check_site(struct mk_setup *setup)
{
    struct fcgi_config *c = mk_setup_config(setup);

    for (unsigned i = 0; i < c->nlocations; i++) {
        struct fcgi_location *l = &c->locations[i];

        for (const struct fcgi_match *m = l->matches; m; m = m->next) {
            if (mk_setup_route(setup, m->pattern, l, &m->at, true) == MK_E_NOMEM)
                return MK_E_NOMEM;
        }
    }
    return 0;
}

/* ---- life ---- */

static void fastcgi_stop(const struct mk_context *ctx)
{
    struct fcgi_config *c = ctx->config;

    for (unsigned i = 0; i < c->nservers; i++) {
        fastcgi_backend_put(c->servers[i].backend);
        c->servers[i].backend = NULL;
    }
}

static bool is_same_place(const struct mk_upstream_options *a, const struct mk_upstream_options *b)
{
    return strcmp(a->host, b->host) == 0 && a->port == b->port;
}

/* The server of the configuration before, with its connections. @return NULL: it had none like it. */
static struct backend *adopt(const struct fcgi_config *old,
                             const struct mk_upstream_options *options)
{
    for (unsigned i = 0; old && i < old->nservers; i++) {
        if (backend_pool_is(old->servers[i].backend->pool, options))
            return fastcgi_backend_get(old->servers[i].backend);
    }
    return NULL;
}

/* With other bounds its connections are new, but it is as well or broken as it was. */
static struct backend *open_backend(const struct mk_context *ctx, const struct fcgi_config *old,
                                    const struct mk_upstream_options *options)
{
    struct backend *b = fastcgi_backend_new(ctx->server, options);

    for (unsigned i = 0; b && old && i < old->nservers; i++) {
        if (is_same_place(&old->servers[i].options, options))
            fastcgi_backend_remember(b, old->servers[i].backend);
    }
    return b;
}

static int fastcgi_start(const struct mk_context *ctx, const struct mk_context *old)
{
    const struct fcgi_config *before = old ? old->config : NULL;
    struct fcgi_config *c = ctx->config;

    for (unsigned i = 0; i < c->nservers; i++) {
        struct fcgi_server *server = &c->servers[i];

        server->backend = adopt(before, &server->options);
        if (!server->backend)
            server->backend = open_backend(ctx, before, &server->options);
        if (!server->backend) {
            mk_plugin_why(ctx, "no memory for the server %s", server->name);
            fastcgi_stop(ctx);
            return MK_E_NOMEM;
        }
    }
    return 0;
}

static int fastcgi_worker_start(const struct mk_context *ctx, void **local)
{
    *local = calloc(1, sizeof(struct fcgi_local));
    if (*local)
        return 0;
    mk_plugin_why(ctx, "no memory for a worker");
    return MK_E_NOMEM;
}

static void fastcgi_worker_stop(const struct mk_context *ctx)
{
    struct fcgi_local *local = ctx->local;

    fastcgi_buffers_fini(&local->buffers);
    free(local);
}

/* ---- a request ---- */

static enum mk_verdict fastcgi_on_handle(struct mk_request *r, const struct mk_context *ctx,
                                         void *data)
{
    return fastcgi_exchange_handle(r, ctx, data);
}

/* No server is asked, so which of several it would be is not known. */
static enum mk_verdict fastcgi_explain(struct mk_request *r, const struct mk_context *ctx,
                                       struct mk_explain *e)
{
    const struct fcgi_location *l = mk_explain_data(e);

    (void)r, (void)ctx;
    if (l && l->nservers > 0)
        mk_explain_say(e, l->at, "%s%s", l->nservers > 1 ? "one of several servers, such as " : "",
                       l->servers[0]->address);
    return MK_VERDICT_DONE;
}

static const struct mk_plugin fastcgi = {
    MK_PLUGIN("fastcgi", "passes requests to FastCGI applications"),
    .sections = fastcgi_sections,
    .check = fastcgi_check,
    .check_site = fastcgi_check_site,
    .check_match = fastcgi_check_match,
    .start = fastcgi_start,
    .stop = fastcgi_stop,
    .worker_start = fastcgi_worker_start,
    .worker_stop = fastcgi_worker_stop,
    .on_handle = fastcgi_on_handle,
    .metrics = fastcgi_metrics,
    .explain = fastcgi_explain,
};
MK_PLUGIN_EXPORT(fastcgi);
