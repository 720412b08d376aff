/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_HOST_METRICS_H
#define MK_DUDA_HOST_METRICS_H

#include <monkey/plugin.h>

/** The hook: the metrics of all services of the configuration. */
void mk_duda_tell_metrics(const struct mk_context *ctx, mk_metric_fn tell, void *arg);

#endif
