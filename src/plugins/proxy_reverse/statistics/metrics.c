/* SPDX-License-Identifier: Apache-2.0 */
#include "statistics/metrics.h"

#include "backends/facts.h"

/* What the proxy counts, for shells and for Prometheus. */

struct family {
    const char *name, *help;
    bool is_counter, is_brief;
    double (*value)(const struct proxy_facts *f);
};

static double is_up(const struct proxy_facts *f)
{
    return !f->is_drained && (f->health.state == HEALTH_UP || f->health.state == HEALTH_RETURNING);
}

static double is_drained(const struct proxy_facts *f)
{
    return f->is_drained;
}

static double active(const struct proxy_facts *f)
{
    return f->active;
}

static double open_connections(const struct proxy_facts *f)
{
    return f->open;
}

static double idle_connections(const struct proxy_facts *f)
{
    return f->idle;
}

static double waiting(const struct proxy_facts *f)
{
    return f->waiting;
}

static double requests(const struct proxy_facts *f)
{
    return (double)f->requests;
}

static double failures(const struct proxy_facts *f)
{
    return (double)f->failures;
}

static double repeated(const struct proxy_facts *f)
{
    return (double)f->repeated;
}

static double checks(const struct proxy_facts *f)
{
    return (double)f->checks;
}

static double failed_checks(const struct proxy_facts *f)
{
    return (double)f->failed_checks;
}

static double sent(const struct proxy_facts *f)
{
    return (double)f->sent;
}

static double received(const struct proxy_facts *f)
{
    return (double)f->received;
}

static const struct family families[] = {
    {"monkey_proxy_up", "Whether the backend gets requests.", false, true, is_up},
    {"monkey_proxy_drained", "Whether the backend is drained.", false, false, is_drained},
    {"monkey_proxy_active_requests", "Requests in flight.", false, true, active},
    {"monkey_proxy_connections", "Connections, including idle ones.", false, false,
     open_connections},
    {"monkey_proxy_idle_connections", "Idle connections.", false, false, idle_connections},
    {"monkey_proxy_waiting_requests", "Requests that wait for a connection.", false, false,
     waiting},
    {"monkey_proxy_requests_total", "Attempts to get an answer.", true, true, requests},
    {"monkey_proxy_failures_total", "Attempts that failed.", true, true, failures},
    {"monkey_proxy_repeated_answers_total",
     "Answers in whose place another backend was asked (RetryOn).", true, false, repeated},
    {"monkey_proxy_checks_total", "Active checks.", true, false, checks},
    {"monkey_proxy_failed_checks_total", "Active checks that failed.", true, false, failed_checks},
    {"monkey_proxy_sent_bytes_total", "Bytes of bodies sent to the backend.", true, false, sent},
    {"monkey_proxy_received_bytes_total", "Bytes of bodies received from it.", true, false,
     received},
};

/** Where samples go, and the backend that they are of. */
struct telling {
    mk_metric_fn tell;
    void *arg;
    struct mk_metric m; /* with the labels entry and backend */
    struct proxy_facts facts;
};

static void each_backend(const struct proxy_config *config, struct telling *t,
                         void (*fn)(struct telling *t, const void *what), const void *what)
{
    for (const struct proxy_entry *e = config->entries; e; e = e->next) {
        for (unsigned i = 0; i < proxy_facts_count(e); i++) {
            proxy_facts(e, i, &t->facts);
            t->m.nlabels = 2;
            t->m.labels[0].name = "entry";
            t->m.labels[0].value = mk_str_from(e->name);
            t->m.labels[1].name = "backend";
            t->m.labels[1].value = mk_str_from(t->facts.name);
            fn(t, what);
        }
    }
}

static void tell_family(struct telling *t, const void *what)
{
    const struct family *f = what;

    t->m.value = f->value(&t->facts);
    t->tell(t->arg, &t->m);
}

static void tell_answers(struct telling *t, const void *what)
{
    static const char *const classes[] = {"", "1xx", "2xx", "3xx", "4xx", "5xx"};

    (void)what;
    t->m.nlabels = 3;
    t->m.labels[2].name = "status";
    for (unsigned i = 1; i < sizeof(classes) / sizeof(classes[0]); i++) {
        t->m.labels[2].value = mk_str_from(classes[i]);
        t->m.value = (double)t->facts.status[i];
        t->tell(t->arg, &t->m);
    }
}

static void tell_latencies(struct telling *t, const void *what)
{
    const struct latency_facts *l = &t->facts.latency;
    const struct {
        const char *name;
        uint64_t us;
    } percentiles[] = {{"50", l->p50_us}, {"90", l->p90_us}, {"99", l->p99_us}};

    (void)what;
    t->m.nlabels = 3;
    t->m.labels[2].name = "percentile";
    for (unsigned i = 0; i < sizeof(percentiles) / sizeof(percentiles[0]); i++) {
        t->m.labels[2].value = mk_str_from(percentiles[i].name);
        t->m.value = (double)percentiles[i].us / 1e6;
        t->tell(t->arg, &t->m);
    }
}

static void begin_family(struct telling *t, const char *name, const char *help, bool is_counter,
                         bool is_brief)
{
    t->m = (struct mk_metric){.size = sizeof(t->m),
                              .name = name,
                              .help = help,
                              .is_counter = is_counter,
                              .is_brief = is_brief};
}

void proxy_metrics(const struct mk_context *ctx, mk_metric_fn tell, void *arg)
{
    struct telling t = {.tell = tell, .arg = arg};

    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        const struct family *f = &families[i];

        begin_family(&t, f->name, f->help, f->is_counter, f->is_brief);
        each_backend(ctx->config, &t, tell_family, f);
    }
    begin_family(&t, "monkey_proxy_answers_total", "Complete answers, by class of status.", true,
                 false);
    each_backend(ctx->config, &t, tell_answers, NULL);
    begin_family(&t, "monkey_proxy_head_seconds",
                 "Time until the head of an answer, in the last one to two minutes.", false, false);
    each_backend(ctx->config, &t, tell_latencies, NULL);
}
