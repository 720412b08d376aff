/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/metrics.h"

#include "kit/text/words.h"
#include "objects/objects.h"
#include "service/settings.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* Numbers of services. They are made in duda_main(), so that their lists need no lock. */

enum metric_type { COUNTER, GAUGE, HISTOGRAM };

static const double bounds[] = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                0.25,  0.5,    1,     2.5,  5,     10};

enum { BOUNDS = sizeof(bounds) / sizeof(bounds[0]) };

struct duda_metric {
    struct duda_metric *next;
    const char *name, *help;
    enum metric_type type;
    _Atomic double value;                /* of a histogram: the sum */
    _Atomic uint32_t counts[BOUNDS + 1]; /* of a histogram: between two bounds; the last: above */
};

struct metrics {
    struct duda_metric *first, **last;
};

/* ---- making them ---- */

static bool is_name(const char *name)
{
    return name && name[0] &&
           name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] ==
               '\0';
}

static struct duda_metric *find(const struct mk_duda_service *s, const char *name)
{
    const struct metrics *metrics = mk_duda_state(s, MK_DUDA_PART_METRICS);
    struct duda_metric *m = metrics->first;

    while (m && strcmp(m->name, name) != 0)
        m = m->next;
    return m;
}

static duda_metric_t *make(enum metric_type type, const char *name, const char *help,
                           const char *call)
{
    struct mk_duda_service *s = mk_duda_here()->service;
    struct metrics *metrics = s ? mk_duda_state(s, MK_DUDA_PART_METRICS) : NULL;
    struct duda_metric *m;

    if (!metrics || !help || !is_name(name) || !mk_duda_is_set_up(s, call) || find(s, name))
        return NULL;
    m = mk_duda_alloc(s, sizeof(*m));
    if (!m)
        return NULL;
    m->type = type;
    m->name = mk_duda_copy(s, name, strlen(name));
    m->help = mk_duda_copy(s, help, strlen(help));
    if (!m->name || !m->help)
        return NULL;
    if (!metrics->last)
        metrics->last = &metrics->first;
    *metrics->last = m;
    metrics->last = &m->next;
    return m;
}

static duda_metric_t *counter(const char *name, const char *help)
{
    return make(COUNTER, name, help, "metrics->counter");
}

static duda_metric_t *gauge(const char *name, const char *help)
{
    return make(GAUGE, name, help, "metrics->gauge");
}

static duda_metric_t *histogram(const char *name, const char *help)
{
    return make(HISTOGRAM, name, help, "metrics->histogram");
}

/* ---- counting ---- */

static void add_to(struct duda_metric *m, double n)
{
    double before = atomic_load(&m->value);

    while (!atomic_compare_exchange_weak(&m->value, &before, before + n))
        continue;
}

static void add(duda_metric_t *m, double n)
{
    if (m && (m->type == GAUGE || (m->type == COUNTER && n >= 0)))
        add_to(m, n);
}

static void set(duda_metric_t *m, double n)
{
    if (m && m->type == GAUGE)
        atomic_store(&m->value, n);
}

static void observe(duda_metric_t *m, double seconds)
{
    unsigned i = 0;

    if (!m || m->type != HISTOGRAM || !(seconds >= 0))
        return;
    while (i < BOUNDS && seconds > bounds[i])
        i++;
    atomic_fetch_add(&m->counts[i], 1);
    add_to(m, seconds);
}

const struct duda_api_metrics mk_duda_metrics = {.counter = counter,
                                                 .gauge = gauge,
                                                 .histogram = histogram,
                                                 .add = add,
                                                 .set = set,
                                                 .observe = observe};

const struct mk_duda_part mk_duda_metrics_part = {.service_size = sizeof(struct metrics)};

/* ---- telling them ---- */

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
    metric.is_counter = m->type != GAUGE;
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

    for (unsigned i = 0; i <= BOUNDS; i++) {
        count += atomic_load(&m->counts[i]);
        if (i < BOUNDS)
            (void)snprintf(text, sizeof(text), "%g", bounds[i]);
        tell_one(t, m, "_bucket", count, i < BOUNDS ? text : "+Inf");
    }
}

static double count_of(struct duda_metric *m)
{
    double count = 0;

    for (unsigned i = 0; i <= BOUNDS; i++)
        count += atomic_load(&m->counts[i]);
    return count;
}

static void tell_metric(const struct telling *t, struct duda_metric *m, unsigned sample)
{
    if (m->type != HISTOGRAM) {
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
                                            ? find(at->services[i], like->name)
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
            const struct metrics *metrics = mk_duda_state(s, MK_DUDA_PART_METRICS);

            for (const struct duda_metric *m = metrics->first;
                 m && !is_on(plan->homes, home, s->spec.name); m = m->next)
                tell_on_sites(home, m, s->spec.name, &t);
        }
    }
}
