/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_STATISTICS_H
#define PROXY_STATISTICS_H

#include "backends/backend_int.h"
#include "statistics/page.h"

/* All that is told of a backend, at one moment. */
struct proxy_facts {
    struct health_facts health;
    struct latency_facts latency;
    unsigned active, open, idle,
        waiting; /* requests; connections, idle ones too; waiting requests */
    uint64_t requests, failures, refused, broke, probes, checks, failed_checks, sent, received;
    uint64_t status[6];
    double rate; /* requests a second of the last one to two minutes */
};

void proxy_facts(const struct proxy_backend *b, struct proxy_facts *facts);

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
