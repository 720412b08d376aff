/* SPDX-License-Identifier: Apache-2.0 */
#include "answer.h"
#include "settings.h"

#include <stdlib.h>

/* Compresses answers while they are sent. */

struct compress_config {
    bool is_everywhere;  /* the plugin's own file has a section */
    struct tally *tally; /* from start to stop */
};

static int check(struct mk_setup *setup)
{
    struct compress_config *config = mk_setup_alloc(setup, sizeof(*config));

    if (!config)
        return MK_E_NOMEM;
    mk_setup_keep(setup, config);
    config->is_everywhere = compress_settings_of_files(setup);
    return 0;
}

static int check_site(struct mk_setup *setup)
{
    const struct compress_config *config = mk_setup_config(setup);
    enum mk_switch lines = mk_setup_switch(setup);
    bool is_on, is_written;
    struct compress_settings *s = compress_settings_of_site(setup, &is_written);

    if (!s || !config)
        return MK_E_NOMEM;
    is_on =
        is_written || lines == MK_SWITCH_ON || (config->is_everywhere && lines != MK_SWITCH_OFF);
    mk_setup_keep(setup, s);
    mk_setup_act(setup, is_on && s->noffers > 0 ? MK_ACTS_HEAD : 0);
    return 0;
}

static int start(const struct mk_context *ctx, const struct mk_context *old)
{
    struct compress_config *config = ctx->config;
    const struct compress_config *before = old ? old->config : NULL;

    config->tally = before ? compress_tally_get(before->tally) : compress_tally_new();
    if (!config->tally)
        mk_plugin_why(ctx, "%s", mk_error_text(MK_E_NOMEM));
    return config->tally ? 0 : MK_E_NOMEM;
}

static void stop(const struct mk_context *ctx)
{
    struct compress_config *config = ctx->config;

    compress_tally_put(config->tally);
}

static int worker_start(const struct mk_context *ctx, void **local)
{
    const struct compress_config *config = ctx->config;
    struct compress_worker *w = calloc(1, sizeof(*w));

    if (!w)
        return MK_E_NOMEM;
    w->tally = config->tally;
    *local = w;
    return 0;
}

static void worker_stop(const struct mk_context *ctx)
{
    free(ctx->local);
}

static int on_head(struct mk_request *r, const struct mk_context *ctx, struct mk_head *head)
{
    return compress_answer(r, head, ctx->site, ctx->local);
}

static void metrics(const struct mk_context *ctx, mk_metric_fn tell, void *arg)
{
    const struct compress_config *config = ctx->config;

    compress_tally_metrics(config->tally, tell, arg);
}

static const struct mk_plugin compress = {
    MK_PLUGIN("compress", "compresses answers: br, gzip, zstd"),
    .sections = compress_sections,
    .check = check,
    .check_site = check_site,
    .start = start,
    .stop = stop,
    .worker_start = worker_start,
    .worker_stop = worker_stop,
    .on_head = on_head,
    .metrics = metrics,
    .traits = MK_TRAIT_PARTS,
};
MK_PLUGIN_EXPORT(compress);
