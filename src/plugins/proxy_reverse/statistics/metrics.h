/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_METRICS_H
#define PROXY_METRICS_H

#include <monkey/plugin.h>

/** The hook. */
void proxy_metrics(const struct mk_context *ctx, mk_metric_fn tell, void *arg);

#endif
