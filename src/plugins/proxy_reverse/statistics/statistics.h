/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_STATISTICS_H
#define PROXY_STATISTICS_H

#include "entry/settings.h"

/* The pages of StatisticsURL. */

/** Is the path one of the pages? Cheap: asked before each request of a configuration that has any. */
bool proxy_is_statistics(const struct mk_context *ctx, struct mk_str path);
/** Answer such a request. */
enum mk_verdict proxy_statistics(struct mk_request *r, const struct mk_context *ctx);

#endif
