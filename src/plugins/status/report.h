/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STATUS_REPORT_H
#define STATUS_REPORT_H

#include "exposition.h"
#include "gather.h"
#include "settings.h"

struct mk_context;

/** Write what the server, its workers, its sites and its plugins count. On the worker's thread. */
void status_report_write(const struct mk_context *ctx, const struct gather *g, struct page *page,
                         enum exposition_format format);

/** What shells show too: the answers of sites. The hook `metrics`. */
void status_report_tell(const struct mk_context *ctx, mk_metric_fn tell, void *arg);

#endif
