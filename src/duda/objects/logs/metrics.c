/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/logs/metrics.h"

#include "objects/objects.h"

#include <string.h>

/* Numbers of services. They are made in duda_main(), so that their lists need no lock. */

const double mk_duda_metric_bounds[MK_DUDA_METRIC_BOUNDS] = {
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10};

/* ---- making them ---- */

static bool is_name(const char *name)
{
    return name && name[0] &&
           name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")] ==
               '\0';
}

struct duda_metric *mk_duda_metric_find(const struct mk_duda_service *s, const char *name)
{
    const struct mk_duda_metrics *metrics = mk_duda_state(s, MK_DUDA_PART_METRICS);
    struct duda_metric *m = metrics->first;

    while (m && strcmp(m->name, name) != 0)
        m = m->next;
    return m;
}

static duda_metric_t *make(enum mk_duda_metric_type type, const char *name, const char *help,
                           const char *call)
{
    struct mk_duda_service *s = mk_duda_here()->service;
    struct mk_duda_metrics *metrics = s ? mk_duda_state(s, MK_DUDA_PART_METRICS) : NULL;
    struct duda_metric *m;

    if (!metrics || !help || !is_name(name) || !mk_duda_is_set_up(s, call) ||
        mk_duda_metric_find(s, name))
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
    return make(MK_DUDA_COUNTER, name, help, "metrics->counter");
}

static duda_metric_t *gauge(const char *name, const char *help)
{
    return make(MK_DUDA_GAUGE, name, help, "metrics->gauge");
}

static duda_metric_t *histogram(const char *name, const char *help)
{
    return make(MK_DUDA_HISTOGRAM, name, help, "metrics->histogram");
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
    if (m && (m->type == MK_DUDA_GAUGE || (m->type == MK_DUDA_COUNTER && n >= 0)))
        add_to(m, n);
}

static void set(duda_metric_t *m, double n)
{
    if (m && m->type == MK_DUDA_GAUGE)
        atomic_store(&m->value, n);
}

static void observe(duda_metric_t *m, double seconds)
{
    unsigned i = 0;

    if (!m || m->type != MK_DUDA_HISTOGRAM || !(seconds >= 0))
        return;
    while (i < MK_DUDA_METRIC_BOUNDS && seconds > mk_duda_metric_bounds[i])
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

const struct mk_duda_part mk_duda_metrics_part = {.service_size = sizeof(struct mk_duda_metrics)};
