/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/metrics.h"

#include "backends/backend.h"
#include "entry/settings.h"

#include "kit/clock/clock.h"

/* A server that is offline is asked again when its time is over: it is up from then on. */
static double is_up(const struct backend *b)
{
    return atomic_load_explicit(&b->offline_until_ms, memory_order_relaxed) <= clock_now_ms();
}

static double active(const struct backend *b)
{
    return atomic_load_explicit(&b->busy, memory_order_relaxed);
}

static double requests(const struct backend *b)
{
    return (double)atomic_load_explicit(&b->requests, memory_order_relaxed);
}

static double failures(const struct backend *b)
{
    return (double)atomic_load_explicit(&b->failures, memory_order_relaxed);
}

static const struct family {
    const char *name, *help;
    bool is_counter;
    double (*value)(const struct backend *b);
} families[] = {
    {"monkey_fastcgi_up", "Whether the server gets requests before others are asked.", false,
     is_up},
    {"monkey_fastcgi_active_requests", "Requests in flight or waiting for a connection.", false,
     active},
    {"monkey_fastcgi_requests_total", "Attempts to get an answer.", true, requests},
    {"monkey_fastcgi_failures_total", "Attempts that failed.", true, failures},
};

void fastcgi_metrics(const struct mk_context *ctx, mk_metric_fn tell, void *arg)
{
    const struct fcgi_config *c = ctx->config;

    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        for (unsigned j = 0; j < c->nservers; j++) {
            const struct mk_metric m = {
                .size = sizeof(m),
                .name = families[i].name,
                .help = families[i].help,
                .is_counter = families[i].is_counter,
                .is_brief = true,
                .value = families[i].value(c->servers[j].backend),
                .nlabels = 1,
                .labels = {{"server", mk_str_from(c->servers[j].name)}},
            };

            tell(arg, &m);
        }
    }
}
