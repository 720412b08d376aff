/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_METRICS_H
#define MK_DUDA_OBJECTS_METRICS_H

#include "service/service.h"

#include <stdatomic.h>

/* Numbers of services: host/metrics.c tells the server of them. */

enum mk_duda_metric_type { MK_DUDA_COUNTER, MK_DUDA_GAUGE, MK_DUDA_HISTOGRAM };

enum { MK_DUDA_METRIC_BOUNDS = 13 };

/** The bounds of histograms, in seconds. */
extern const double mk_duda_metric_bounds[MK_DUDA_METRIC_BOUNDS];

struct duda_metric {
    struct duda_metric *next;
    const char *name, *help;
    enum mk_duda_metric_type type;
    _Atomic double value; /* of a histogram: the sum */
    _Atomic uint32_t
        counts[MK_DUDA_METRIC_BOUNDS + 1]; /* of a histogram: between two bounds; the last: above */
};

/** Of a service: the state of its part. */
struct mk_duda_metrics {
    struct duda_metric *first, **last;
};

/** @return NULL: the service has none of this name. */
struct duda_metric *mk_duda_metric_find(const struct mk_duda_service *s, const char *name);

#endif
