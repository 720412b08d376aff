/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include "tally.h"

#include "kit/metrics/metrics.h"

#include <monkey/inspect.h>
#include <monkey/plugin.h>

#include <stdio.h>

static const char *const classes[TALLY_CLASSES] = {"none", "1xx", "2xx", "3xx", "4xx", "5xx"};

/* ---- from others ---- */

static void put_of_server(void *arg, const struct metrics_sample *from)
{
    struct exposition_sample s = {
        .name = from->name,
        .help = from->help,
        .type = from->is_counter ? EXPOSITION_COUNTER : EXPOSITION_GAUGE,
        .nlabels = from->nlabels,
        .value = (double)from->value,
    };

    for (unsigned i = 0; i < from->nlabels; i++)
        s.labels[i] =
            (struct exposition_label){from->labels[i].name, mk_str_from(from->labels[i].value)};
    status_exposition_put(arg, &s);
}

static void put_of_plugin(void *arg, const struct mk_metric *from)
{
    struct exposition_sample s = {
        .name = from->name,
        .help = from->help,
        .type = from->is_counter ? EXPOSITION_COUNTER : EXPOSITION_GAUGE,
        .nlabels = from->nlabels < MK_METRIC_LABELS ? from->nlabels : MK_METRIC_LABELS,
        .value = from->value,
    };

    for (unsigned i = 0; i < s.nlabels; i++)
        s.labels[i] = (struct exposition_label){from->labels[i].name, from->labels[i].value};
    status_exposition_put(arg, &s);
}

/* ---- connections ---- */

static void put_connections(struct exposition *e, const struct gather *g)
{
    struct gather_count counts[GATHER_STATES];
    const unsigned ncounts = status_gather_add_up(g, counts);
    struct exposition_sample s = {
        .name = "monkey_connection_states",
        .help = "Open connections by state, of the workers that answered.",
        .nlabels = 1,
    };

    for (unsigned i = 0; i < ncounts; i++) {
        s.labels[0] = (struct exposition_label){"state", mk_str_from(counts[i].state)};
        s.value = (double)counts[i].count;
        status_exposition_put(e, &s);
    }
    s = (struct exposition_sample){
        .name = "monkey_workers_silent",
        .help = "Workers that did not answer within a second: they are stuck or overloaded.",
        .value = status_gather_missing(g),
    };
    status_exposition_put(e, &s);
}

/* ---- sites ---- */

/* Sites of one name share a tally, and so do those beyond the limit: each is written once. */
static const struct status_site *next_site(const struct status_config *config,
                                           const struct status_site *before)
{
    const struct status_site *site = before ? before->next : config->sites;

    while (site && !site->is_first)
        site = site->next;
    return site;
}

void status_report_tell(const struct mk_context *ctx, mk_metric_fn tell, void *arg)
{
    struct mk_metric m = {
        .size = sizeof(m),
        .name = "monkey_site_responses_total",
        .help = "Requests that ended, by site and class of the status; none: without an answer.",
        .is_counter = true,
        .nlabels = 2,
        .labels = {{"site", {NULL, 0}}, {"status", {NULL, 0}}},
    };
    const struct status_site *site = NULL;
    struct tally_sum sum;

    while ((site = next_site(ctx->config, site))) {
        status_tally_add_up(site->tally, &sum);
        m.labels[0].value = mk_str_from(site->tally->name);
        for (unsigned i = 0; i < TALLY_CLASSES; i++) {
            m.labels[1].value = mk_str_from(classes[i]);
            m.value = (double)sum.classes[i];
            tell(arg, &m);
        }
    }
}

static void put_sent(struct exposition *e, const struct tally *t, const struct tally_sum *sum)
{
    const struct exposition_sample s = {
        .name = "monkey_site_body_bytes_total",
        .help = "Bytes of the bodies of answers, by site.",
        .type = EXPOSITION_COUNTER,
        .labels = {{"site", mk_str_from(t->name)}},
        .nlabels = 1,
        .value = (double)sum->body_bytes,
    };

    status_exposition_put(e, &s);
}

/* "0.001", "2.5"; whole numbers as "1", for OpenMetrics "1.0". */
static struct mk_str bound_text(char text[16], unsigned bucket, enum exposition_format format)
{
    const unsigned ms = status_tally_bounds_ms[bucket], rest = ms % 1000;
    int len;

    if (rest == 0)
        len = snprintf(text, 16, "%u%s", ms / 1000, format == EXPOSITION_OPENMETRICS ? ".0" : "");
    else
        len = snprintf(text, 16, "%u.%03u", ms / 1000, rest);
    while (rest != 0 && text[len - 1] == '0')
        len--;
    return (struct mk_str){text, (size_t)len};
}

static void put_durations(struct exposition *e, const struct tally *t, const struct tally_sum *sum)
{
    struct exposition_sample s = {
        .name = "monkey_site_duration_seconds",
        .suffix = "_bucket",
        .help = "Time from the first byte of a request to the end of its answer, by site.",
        .type = EXPOSITION_HISTOGRAM,
        .labels = {{"site", mk_str_from(t->name)}, {"le", {NULL, 0}}},
        .nlabels = 2,
    };
    char text[16];

    for (unsigned i = 0; i < TALLY_BUCKETS; i++) {
        s.labels[1].value = i < TALLY_BUCKETS - 1 ? bound_text(text, i, e->format) : MK_STR("+Inf");
        s.value += (double)sum->buckets[i];
        status_exposition_put(e, &s);
    }
    s.nlabels = 1;
    s.suffix = "_sum";
    s.value = (double)sum->duration_ms / 1000;
    status_exposition_put(e, &s);
    s.suffix = "_count";
    s.value = (double)sum->count;
    status_exposition_put(e, &s);
}

static void put_sites(struct exposition *e, const struct status_config *config,
                      void (*put)(struct exposition *e, const struct tally *t,
                                  const struct tally_sum *sum))
{
    const struct status_site *site = NULL;
    struct tally_sum sum;

    while ((site = next_site(config, site))) {
        status_tally_add_up(site->tally, &sum);
        put(e, site->tally, &sum);
    }
}

/* ---- all ---- */

void status_report_write(const struct mk_context *ctx, const struct gather *g, struct page *page,
                         enum exposition_format format)
{
    struct exposition e;
    struct exposition_sample s = {
        .name = "monkey_status_left_out",
        .help = "Samples of plugins that are missing here, because their names are invalid or "
                "came in two places.",
    };

    status_exposition_begin(&e, page, format);
    metrics_each(ctx->server, put_of_server, &e);
    put_connections(&e, g);
    put_sites(&e, ctx->config, put_sent);
    put_sites(&e, ctx->config, put_durations);
    mk_worker_metrics(ctx->worker, put_of_plugin, &e);
    s.value = e.left_out;
    status_exposition_put(&e, &s);
    status_exposition_end(&e);
}
