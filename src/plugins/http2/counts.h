/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP2_COUNTS_H
#define HTTP2_COUNTS_H

#include "kit/counted/counted.h"

#include <monkey/plugin.h>

#include <stdalign.h>

/* What is counted over all workers and connections; a reload keeps it. X(NAME, metric, is_counter, is_brief, by, sentence) */
#define HTTP2_COUNTS(X)                                                                            \
    X(CONNECTIONS, "connections", false, true, NULL, "Connections that speak HTTP/2.")             \
    X(CONNECTIONS_MADE, "connections_begun_total", true, false, NULL,                              \
      "Connections that have chosen HTTP/2.")                                                      \
    X(STREAMS, "streams", false, true, NULL, "Streams that are open: requests under way.")         \
    X(STREAMS_MADE, "streams_begun_total", true, false, NULL, "Streams that clients have begun.")  \
    X(TUNNELS, "tunnels", false, false, NULL, "Open streams that carry WebSocket or a tunnel.")    \
    X(RESETS_OF_CLIENTS, "resets_total", true, false, "client", "Streams that were reset.")        \
    X(RESETS_OF_OURS, "resets_total", true, false, "server", "Streams that were reset.")           \
    X(FLOODS, "floods_total", true, true, NULL, "Connections closed with ENHANCE_YOUR_CALM.")

enum http2_count {
#define HTTP2_COUNT_ENUM(name, ...) HTTP2_COUNT_##name,
    HTTP2_COUNTS(HTTP2_COUNT_ENUM)
#undef HTTP2_COUNT_ENUM
        HTTP2_COUNT_COUNT
};

enum { HTTP2_COUNT_ROWS = 16 };

/** Of one worker, or of a few when there are many: a cache line that others seldom touch. */
struct http2_row {
    alignas(64) _Atomic uint64_t numbers[HTTP2_COUNT_COUNT];
};

struct http2_counts {
    struct counted refs;
    struct http2_row rows[HTTP2_COUNT_ROWS];
};

/** @return it with one reference; NULL without memory. */
struct http2_counts *http2_counts_new(void) MK_MUST_USE;
struct http2_counts *http2_counts_get(struct http2_counts *c);
/** NULL is allowed. Any thread. */
void http2_counts_put(struct http2_counts *c);

static inline struct http2_row *http2_counts_row(struct http2_counts *c, const struct mk_worker *w)
{
    return &c->rows[mk_worker_index(w) % HTTP2_COUNT_ROWS];
}

/** @param by  1, or -1 for what is no more */
static inline void http2_count(struct http2_row *row, enum http2_count what, int by)
{
    atomic_fetch_add_explicit(&row->numbers[what], (uint64_t)(int64_t)by, memory_order_relaxed);
}

/** The samples of mk_plugin.metrics. */
void http2_counts_tell(const struct http2_counts *c, mk_metric_fn tell, void *arg);

#endif
