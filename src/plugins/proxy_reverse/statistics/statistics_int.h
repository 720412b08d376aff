/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_STATISTICS_INT_H
#define PROXY_STATISTICS_INT_H

#include "backends/facts.h"
#include "kit/page/page.h"
#include "statistics/statistics.h"

/** Which entries a page shows. */
struct proxy_view {
    const struct proxy_config *config;
    const struct proxy_site *site;
    const char *url;
    const uint8_t *peer; /* who asks; NULL: through a unix socket */
    unsigned refresh;    /* seconds; 0: not by itself */
    char host[65];       /* the machine's name */
    int64_t uptime_ms;   /* of the server */
};
/** The first entry of a page behind another; NULL: the first of all. @return NULL: there is none. */
const struct proxy_entry *proxy_view_next(const struct proxy_view *view,
                                          const struct proxy_entry *before);

void proxy_write_html(const struct proxy_view *view, struct page *page);
void proxy_write_json(const struct proxy_view *view, struct page *page);

#endif
