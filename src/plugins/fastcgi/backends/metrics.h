/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FASTCGI_METRICS_H
#define FASTCGI_METRICS_H

#include <monkey/plugin.h>

/** The hook `metrics`: what is known of each server. */
void fastcgi_metrics(const struct mk_context *ctx, mk_metric_fn tell, void *arg);

#endif
