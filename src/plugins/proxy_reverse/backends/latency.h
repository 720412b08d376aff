/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_LATENCY_H
#define PROXY_LATENCY_H

#include <stdatomic.h>
#include <stdint.h>

/*
 * How long answers took of late: two histograms of fixed size, the one of this minute and the one of the
 * minute before. Every thread counts without a lock. Buckets are an eighth of a power of two wide, so what
 * is told is exact to some 6 percent.
 */

enum {
    LATENCY_BUCKETS = 256,
    LATENCY_WINDOW_MS = 60 * 1000,
};

struct latency_window {
    _Atomic uint32_t count[LATENCY_BUCKETS];
};

/** Zeroed: nothing was counted. */
struct latency {
    _Atomic uint32_t minute; /* now_ms / LATENCY_WINDOW_MS of the present window */
    struct latency_window windows[2];
};

void proxy_latency_count(struct latency *l, uint64_t us, int64_t now_ms);

struct latency_facts {
    uint64_t count;                          /* of this minute and the one before */
    uint64_t p50_us, p90_us, p99_us, max_us; /* all 0 when there were none */
};
void proxy_latency_facts(struct latency *l, int64_t now_ms, struct latency_facts *facts);

#endif
