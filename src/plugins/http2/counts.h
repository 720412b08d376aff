/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP2_COUNTS_H
#define HTTP2_COUNTS_H

#include "kit/counted/counted.h"

#include <monkey/plugin.h>

#include <stdalign.h>

/* What is counted over all workers and connections; a reload keeps it. X(NAME, metric, is_counter, is_brief, by, sentence) */
#define H2_COUNTS(X)                                                                               \
    X(CONNECTIONS, "connections", false, true, NULL, "Connections that speak HTTP/2.")             \
    X(CONNECTIONS_MADE, "connections_begun_total", true, false, NULL,                              \
      "Connections that have chosen HTTP/2.")                                                      \
    X(STREAMS, "streams", false, true, NULL, "Streams that are open: requests under way.")         \
    X(STREAMS_MADE, "streams_begun_total", true, false, NULL, "Streams that clients have begun.")  \
    X(TUNNELS, "tunnels", false, false, NULL, "Open streams that carry WebSocket or a tunnel.")    \
    X(RESETS_OF_CLIENTS, "resets_total", true, false, "client", "Streams that were reset.")        \
    X(RESETS_OF_OURS, "resets_total", true, false, "server", "Streams that were reset.")           \
    X(FLOODS, "floods_total", true, true, NULL, "Connections closed with ENHANCE_YOUR_CALM.")

enum h2_count {
#define H2_COUNT_ENUM(name, ...) H2_COUNT_##name,
    H2_COUNTS(H2_COUNT_ENUM)
#undef H2_COUNT_ENUM
        H2_COUNT_COUNT
};

enum { H2_COUNT_ROWS = 16 };

/** Of one worker, or of a few when there are many: a cache line that others seldom touch. */
struct h2_row {
    alignas(64) _Atomic uint64_t numbers[H2_COUNT_COUNT];
};

struct h2_counts {
    struct counted refs;
    struct h2_row rows[H2_COUNT_ROWS];
};

/** @return it with one reference; NULL without memory. */
struct h2_counts *h2_counts_new(void) MK_MUST_USE;
struct h2_counts *h2_counts_get(struct h2_counts *c);
/** NULL is allowed. Any thread. */
void h2_counts_put(struct h2_counts *c);

static inline struct h2_row *h2_counts_row(struct h2_counts *c, const struct mk_worker *w)
{
    return &c->rows[mk_worker_index(w) % H2_COUNT_ROWS];
}

/** @param by  1, or -1 for what is no more */
static inline void h2_count(struct h2_row *row, enum h2_count what, int by)
{
    atomic_fetch_add_explicit(&row->numbers[what], (uint64_t)(int64_t)by, memory_order_relaxed);
}

/** The samples of mk_plugin.metrics. */
void h2_counts_tell(const struct h2_counts *c, mk_metric_fn tell, void *arg);

#endif
