/* SPDX-License-Identifier: Apache-2.0 */
#include "run/metrics.h"
#include "run/run.h"

#include <monkey/explain.h>

/*
 * CGI (RFC 3875), in rooms of which each sees those before it:
 *
 *     palm/   monkey-palm, the program that starts scripts, and how it is spoken with
 *     entry/  what a site says
 *     yard/   what outlives a configuration: places for scripts, spawners
 *     run/    a request, and what its script does
 */

/* @return 0 or an error, which is explained. */
static int open_site(const struct mk_context *ctx, struct cgi_site *site)
{
    struct cgi_config *config = ctx->config;
    int err;

    site->pool = cgi_yard_pool(config->yard, site->pool_name);
    site->spawner = site->pool ? cgi_yard_spawner(config->yard, site->spawner_name) : NULL;
    if (!site->spawner)
        return MK_E_NOMEM;
    cgi_pool_bound(site->pool, site->max_processes, site->queue_length);
    err = config->has_routes ? cgi_spawner_open(site->spawner) : 0;
    if (err < 0)
        mk_plugin_why(ctx, "%s cannot be started: %s", strchr(site->spawner_name, ':') + 1,
                      err == MK_E_SYS ? "it failed" : mk_error_text(err));
    return err;
}

static void cgi_stop(const struct mk_context *ctx)
{
    struct cgi_config *config = ctx->config;

    for (struct cgi_site *site = config->sites; site; site = site->next) {
        cgi_spawner_put(site->spawner);
        site->spawner = NULL;
    }
    cgi_yard_put(config->yard);
    config->yard = NULL;
}

static int cgi_start(const struct mk_context *ctx, const struct mk_context *old)
{
    struct cgi_config *config = ctx->config;
    const struct cgi_config *before = old ? old->config : NULL;
    int err = 0;

    config->yard = before ? cgi_yard_get(before->yard) : cgi_yard_new(ctx->server);
    if (!config->yard)
        return MK_E_NOMEM;
    for (struct cgi_site *site = config->sites; site && err == 0; site = site->next)
        err = open_site(ctx, site);
    if (err < 0)
        cgi_stop(ctx);
    return err;
}

static int cgi_worker_start(const struct mk_context *ctx, void **local)
{
    const struct cgi_config *config = ctx->config;
    struct crew *crew = cgi_yard_crew(config->yard, ctx->worker);

    crew->users++;
    *local = crew;
    return 0;
}

static void cgi_worker_stop(const struct mk_context *ctx)
{
    struct crew *crew = ctx->local;

    if (--crew->users == 0)
        cgi_run_end_all(crew);
}

static enum mk_verdict cgi_on_handle(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    const struct cgi_config *config = ctx->config;

    return cgi_run_handle(r, ctx->local, config->yard, ctx->site, data);
}

/* What would be run; whether it is there, and what it says, is not looked at. */
static enum mk_verdict cgi_explain(struct mk_request *r, const struct mk_context *ctx,
                                   struct mk_explain *e)
{
    const struct cgi_route *route = mk_explain_data(e);
    struct mk_request_facts facts = {.size = sizeof(facts)};

    (void)ctx;
    mk_request_facts(r, &facts);
    if (route->folder)
        mk_explain_say(e, route->at, "a program of %s", route->folder);
    else if (route->prefix_len > 0)
        mk_explain_say(e, route->at, "runs %s", route->interpreter);
    else
        mk_explain_say(e, route->at, "runs %s%s%s%.*s",
                       route->interpreter ? route->interpreter : "", route->interpreter ? " " : "",
                       facts.document_root ? facts.document_root : "", (int)facts.path.len,
                       facts.path.p);
    return MK_VERDICT_DONE;
}

static const struct mk_plugin cgi = {
    MK_PLUGIN("cgi", "runs scripts"),
    .sections = cgi_sections,
    .check = cgi_check,
    .check_site = cgi_check_site,
    .check_match = cgi_check_match,
    .start = cgi_start,
    .stop = cgi_stop,
    .worker_start = cgi_worker_start,
    .worker_stop = cgi_worker_stop,
    .on_handle = cgi_on_handle,
    .metrics = cgi_metrics,
    .explain = cgi_explain,
};
MK_PLUGIN_EXPORT(cgi);
