/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/backend.h"
#include "exchange/exchange.h"
#include "exchange/front.h"
#include "statistics/metrics.h"
#include "statistics/order.h"
#include "statistics/statistics.h"

#include <monkey/explain.h>

#include <stdio.h>
#include <stdlib.h>

static int proxy_start(const struct mk_context *ctx, const struct mk_context *old)
{
    return proxy_backends_start(ctx, old ? old->config : NULL);
}

static void proxy_stop(const struct mk_context *ctx)
{
    proxy_backends_stop(ctx->config);
}

static int proxy_worker_start(const struct mk_context *ctx, void **local)
{
    struct proxy_worker *w = calloc(1, sizeof(*w));
    int err;

    if (!w)
        return MK_E_NOMEM;
    w->calls = proxy_calls_new(ctx->worker);
    err = w->calls ? proxy_checks_start(ctx, w->calls, &w->checks) : MK_E_NOMEM;
    if (err < 0) {
        proxy_calls_free(w->calls);
        free(w);
        return err;
    }
    *local = w;
    return 0;
}

static void proxy_worker_stop(const struct mk_context *ctx)
{
    struct proxy_worker *w = ctx->local;

    proxy_checks_stop(w->checks);
    proxy_calls_free(w->calls);
    proxy_buffers_free(&w->buffers);
    proxy_pipes_free(&w->pipes);
    free(w);
}

static enum mk_verdict proxy_on_handle(struct mk_request *r, const struct mk_context *ctx,
                                       void *data)
{
    const struct proxy_config *config = ctx->config;
    struct mk_request_facts f = {.size = sizeof(f)};

    if (config->has_statistics) {
        mk_request_facts(r, &f);
        if (proxy_is_statistics(ctx, f.path))
            return proxy_statistics(r, ctx);
    }
    if (!data)
        return MK_VERDICT_PASS;
    return ((const struct proxy_entry *)data)->set ? proxy_exchange_handle(r, ctx, data)
                                                   : proxy_front_guard(r);
}

/* "a:80, b:80 and 3 more" */
static void write_servers(const struct proxy_settings *set, char *text, size_t size)
{
    enum { SHOWN = 4 };
    size_t len = 0;

    for (size_t i = 0; i < set->nservers && i < SHOWN && len < size; i++)
        len += (size_t)snprintf(text + len, size - len, "%s%s", i > 0 ? ", " : "",
                                set->servers[i].name);
    if (set->nservers > SHOWN && len < size)
        (void)snprintf(text + len, size - len, " and %zu more", set->nservers - SHOWN);
}

/* No backend is asked, so which of several it would be is not known. */
static enum mk_verdict proxy_explain(struct mk_request *r, const struct mk_context *ctx,
                                     struct mk_explain *e)
{
    const struct proxy_config *config = ctx->config;
    const struct proxy_entry *entry = mk_explain_data(e);
    char servers[512] = "";

    if (config->has_statistics && proxy_is_statistics(ctx, mk_request_path(r))) {
        mk_explain_say(e, NULL, "the page of StatisticsURL");
        return MK_VERDICT_DONE;
    }
    if (!entry)
        return MK_VERDICT_PASS;
    write_servers(entry->set, servers, sizeof(servers));
    mk_explain_say(e,
                   mk_explain_place(
                       e, "ServerList",
                       mk_str_from(entry->set->nservers > 0 ? entry->set->servers[0].name : NULL)),
                   "%s%s", entry->set->nservers > 1 ? "one of " : "", servers);
    return MK_VERDICT_DONE;
}

static const struct mk_plugin proxy_reverse = {
    MK_PLUGIN("proxy_reverse", "passes requests on to other servers"),
    .sections = proxy_sections,
    .check = proxy_check,
    .check_site = proxy_check_site,
    .check_match = proxy_check_match,
    .check_end = proxy_check_end,
    .start = proxy_start,
    .stop = proxy_stop,
    .worker_start = proxy_worker_start,
    .worker_stop = proxy_worker_stop,
    .on_handle = proxy_on_handle,
    .on_head = proxy_front_head,
    .metrics = proxy_metrics,
    .explain = proxy_explain,
    .order = proxy_order,
    .traits = MK_TRAIT_ELSEWHERE | MK_TRAIT_ANSWERS | MK_TRAIT_PARTS,
};
MK_PLUGIN_EXPORT(proxy_reverse);
