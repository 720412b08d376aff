/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CGI_METRICS_H
#define CGI_METRICS_H

#include <monkey/plugin.h>

/** The hook `metrics`: what is known of the places for scripts. */
void cgi_metrics(const struct mk_context *ctx, mk_metric_fn tell, void *arg);

#endif
