/* SPDX-License-Identifier: Apache-2.0 */
#include <monkey/plugin.h>

#include <stdatomic.h>
#include <stdlib.h>

/* Counts requests, and tells them with labels that are hard to write. */

static int begin(const struct mk_context *ctx, void **local)
{
    (void)ctx;
    *local = calloc(1, sizeof(_Atomic unsigned));
    return *local ? 0 : MK_E_NOMEM;
}

static void end(const struct mk_context *ctx)
{
    free(ctx->local);
}

static enum mk_verdict count(struct mk_request *r, const struct mk_context *ctx)
{
    _Atomic unsigned *requests = ctx->local;

    (void)r;
    ++*requests;
    return MK_VERDICT_PASS;
}

static void metrics(const struct mk_context *ctx, mk_metric_fn tell, void *arg)
{
    _Atomic unsigned *requests = ctx->local;
    struct mk_metric m = {
        .size = sizeof(m),
        .name = "monkey_measure_requests_total",
        .help = "Requests seen.",
        .is_counter = true,
        .is_brief = true,
        .value = *requests,
        .nlabels = 2,
        .labels = {{"place", MK_STR("a \"b\" \\c\n\xff")}, {"empty", MK_STR("")}},
    };

    tell(arg, &m);
    m.labels[0].value = MK_STR("second");
    tell(arg, &m);
    tell(arg, &(struct mk_metric){.size = sizeof(m),
                                  .name = "monkey_measure_seconds",
                                  .help = "A part of a second.",
                                  .value = 0.0625});
}

static const struct mk_plugin measure = {
    MK_PLUGIN("measure", "counts"),
    .worker_start = begin,
    .worker_stop = end,
    .on_request = count,
    .metrics = metrics,
};
MK_PLUGIN_EXPORT(measure);
