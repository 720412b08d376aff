/* SPDX-License-Identifier: Apache-2.0 */
#include "host/metrics.h"

#include "host/settings.h"
#include "kit/text/words.h"
#include "objects/logs/metrics.h"

#include <stdio.h>
#include <string.h>

struct telling {
    const struct mk_duda_service *service;
    mk_metric_fn tell;
    void *arg;
};

/* "monkey_duda_SERVICE_NAME", with `_` for what no name may have. */
static void write_name(char *name, size_t size, const struct mk_duda_service *s,
                       const struct duda_metric *m, const char *ending)
{
    (void)snprintf(name, size, "monkey_duda_%s_%s%s", s->spec.name, m->name, ending);
    for (char *c = name; *c; c++) {
        char lower = text_lower(*c);

        if (*c != '_' && !(*c >= '0' && *c <= '9') && !(lower >= 'a' && lower <= 'z'))
            *c = '_';
    }
}

/* @param bound  of a bucket; NULL: none */
static void tell_one(const struct telling *t, const struct duda_metric *m, const char *ending,
                     double value, const char *bound)
{
    char name[512];
    struct mk_metric metric = {.size = sizeof(metric), .help = m->help, .value = value};

    write_name(name, sizeof(name), t->service, m, ending);
    metric.name = name;
    metric.is_counter = m->type != MK_DUDA_GAUGE;
    metric.labels[metric.nlabels].name = "site";
    metric.labels[metric.nlabels++].value = mk_str_from(t->service->spec.site);
    if (bound) {
        metric.labels[metric.nlabels].name = "le";
        metric.labels[metric.nlabels++].value = mk_str_from(bound);
    }
    t->tell(t->arg, &metric);
}

/* Each bucket has those below it too. */
static void tell_buckets(const struct telling *t, struct duda_metric *m)
{
    double count = 0;
    char text[32];

    for (unsigned i = 0; i <= MK_DUDA_METRIC_BOUNDS; i++) {
        count += atomic_load(&m->counts[i]);
        if (i < MK_DUDA_METRIC_BOUNDS)
            (void)snprintf(text, sizeof(text), "%g", mk_duda_metric_bounds[i]);
        tell_one(t, m, "_bucket", count, i < MK_DUDA_METRIC_BOUNDS ? text : "+Inf");
    }
}

static double count_of(struct duda_metric *m)
{
    double count = 0;

    for (unsigned i = 0; i <= MK_DUDA_METRIC_BOUNDS; i++)
        count += atomic_load(&m->counts[i]);
    return count;
}

static void tell_metric(const struct telling *t, struct duda_metric *m, unsigned sample)
{
    if (m->type != MK_DUDA_HISTOGRAM) {
        if (sample == 0)
            tell_one(t, m, "", atomic_load(&m->value), NULL);
        return;
    }
    if (sample == 0)
        tell_buckets(t, m);
    if (sample == 1)
        tell_one(t, m, "_sum", atomic_load(&m->value), NULL);
    if (sample == 2)
        tell_one(t, m, "_count", count_of(m), NULL);
}

/* The same service may be on several sites; samples of one name stand together. */
static void tell_on_sites(const struct mk_duda_home *home, const struct duda_metric *like,
                          const char *service, struct telling *t)
{
    for (unsigned sample = 0; sample < 3; sample++) {
        for (const struct mk_duda_home *at = home; at; at = at->next) {
            for (size_t i = 0; i < at->nservices; i++) {
                struct duda_metric *m = strcmp(at->services[i]->spec.name, service) == 0
                                            ? mk_duda_metric_find(at->services[i], like->name)
                                            : NULL;

                t->service = at->services[i];
                if (m && m->type == like->type)
                    tell_metric(t, m, sample);
            }
        }
    }
}

static bool is_on(const struct mk_duda_home *home, const struct mk_duda_home *end,
                  const char *service)
{
    for (; home != end; home = home->next) {
        for (size_t i = 0; i < home->nservices; i++) {
            if (strcmp(home->services[i]->spec.name, service) == 0)
                return true;
        }
    }
    return false;
}

void mk_duda_tell_metrics(const struct mk_context *ctx, mk_metric_fn tell, void *arg)
{
    const struct mk_duda_plan *plan = ctx->config;
    struct telling t = {.tell = tell, .arg = arg};

    for (const struct mk_duda_home *home = plan->homes; home; home = home->next) {
        for (size_t i = 0; i < home->nservices; i++) {
            const struct mk_duda_service *s = home->services[i];
            const struct mk_duda_metrics *metrics = mk_duda_state(s, MK_DUDA_PART_METRICS);

            for (const struct duda_metric *m = metrics->first;
                 m && !is_on(plan->homes, home, s->spec.name); m = m->next)
                tell_on_sites(home, m, s->spec.name, &t);
        }
    }
}
