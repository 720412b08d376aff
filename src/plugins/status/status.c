/* SPDX-License-Identifier: Apache-2.0 */
#include "answer.h"
#include "report.h"
#include "tally.h"

#include <monkey/explain.h>

#include <stdlib.h>
#include <string.h>

/*
 * Metrics, health and an overview of the server over HTTP. The requests of each site are counted when they end; all else is
 * asked of the server and its plugins when somebody wants to know.
 */

enum { TALLIES_MAX = 1000 }; /* the sites beyond are counted as one, named "other" */

struct local {
    unsigned lane;
};

/* ---- life ---- */

/* The tally of a site of that name. @return NULL: there is none. */
static struct tally *find_tally(const struct status_config *config, const char *name)
{
    for (const struct status_site *site = config->sites; site && site->tally; site = site->next) {
        if (site->is_first && strcmp(site->tally->name, name) == 0)
            return status_tally_get(site->tally);
    }
    return NULL;
}

/* Of this configuration, of the one before, or a new one. */
static struct tally *open_tally(const struct mk_context *ctx, const struct status_config *before,
                                struct status_site *site, unsigned *count)
{
    const char *name = *count < TALLIES_MAX ? site->name : "other";
    struct tally *t = find_tally(ctx->config, name);

    if (t)
        return t;
    site->is_first = true;
    ++*count;
    t = before ? find_tally(before, name) : NULL;
    return t ? t : status_tally_new(name, mk_server_workers(ctx->server));
}

static void stop(const struct mk_context *ctx)
{
    const struct status_config *config = ctx->config;

    for (struct status_site *site = config->sites; site; site = site->next) {
        status_tally_put(site->tally);
        site->tally = NULL;
    }
}

static int start(const struct mk_context *ctx, const struct mk_context *old)
{
    const struct status_config *config = ctx->config;
    unsigned count = 0;

    for (struct status_site *site = config->sites; site; site = site->next) {
        site->tally = open_tally(ctx, old ? old->config : NULL, site, &count);
        if (site->tally)
            continue;
        mk_plugin_why(ctx, "%s", mk_error_text(MK_E_NOMEM));
        stop(ctx);
        return MK_E_NOMEM;
    }
    return 0;
}

static int worker_start(const struct mk_context *ctx, void **out)
{
    struct local *local = malloc(sizeof(*local));

    if (!local)
        return MK_E_NOMEM;
    local->lane = mk_worker_index(ctx->worker);
    *out = local;
    return 0;
}

static void worker_stop(const struct mk_context *ctx)
{
    free(ctx->local);
}

/* ---- requests ---- */

static enum mk_verdict look(struct mk_request *r, const struct mk_context *ctx, struct mk_str asked)
{
    const enum status_path path = status_path_of(ctx->site, asked);

    return path == STATUS_PATHS ? MK_VERDICT_PASS : status_answer(r, ctx, path);
}

static enum mk_verdict on_request(struct mk_request *r, const struct mk_context *ctx)
{
    const struct status_site *site = ctx->site;
    const struct mk_str asked = mk_request_path(r);

    if (asked.len >= 64 || !(site->lengths >> asked.len & 1))
        return MK_VERDICT_PASS;
    return look(r, ctx, asked);
}

static void on_finish(struct mk_request *r, const struct mk_context *ctx)
{
    const struct status_site *site = ctx->site;
    const struct local *local = ctx->local;
    const struct mk_request_result result = mk_request_result(r);

    tally_note(&site->tally->lanes[local->lane], result.status, result.took_ms, result.body_sent);
}

/* What the pages show is gathered on all workers, of which none runs here. */
static enum mk_verdict explain(struct mk_request *r, const struct mk_context *ctx,
                               struct mk_explain *e)
{
    const enum status_path path = status_path_of(ctx->site, mk_request_path(r));

    if (path == STATUS_PATHS)
        return MK_VERDICT_PASS;
    mk_explain_say(e, mk_explain_place(e, NULL, (struct mk_str){NULL, 0}), "a page of this plugin");
    (void)status_admit(r, ctx, path);
    return MK_VERDICT_DONE;
}

static const struct mk_plugin plugin = {
    MK_PLUGIN("status", "metrics, health and an overview over HTTP"),
    .sections = status_sections,
    .check = status_check,
    .check_site = status_check_site,
    .check_match = status_check_match,
    .start = start,
    .stop = stop,
    .worker_start = worker_start,
    .worker_stop = worker_stop,
    .on_request = on_request,
    .on_finish = on_finish,
    .metrics = status_report_tell,
    .explain = explain,
};
MK_PLUGIN_EXPORT(plugin);
