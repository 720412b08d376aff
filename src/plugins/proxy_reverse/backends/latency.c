/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/latency.h"

#include <string.h>

enum { STEPS_LOG2 = 3, STEPS = 1 << STEPS_LOG2 };

/* The first buckets are 1 us wide each; from then on there are STEPS for each power of two. */
static unsigned bucket_of(uint64_t us)
{
    unsigned top, bucket;

    if (us < STEPS)
        return (unsigned)us;
    top = 63U - (unsigned)__builtin_clzll(us);
    bucket = (top - STEPS_LOG2 + 1) * STEPS + (unsigned)(us >> (top - STEPS_LOG2) & (STEPS - 1));
    return bucket < LATENCY_BUCKETS ? bucket : LATENCY_BUCKETS - 1;
}

/* The middle of a bucket. */
static uint64_t value_of(unsigned bucket)
{
    unsigned shift;

    if (bucket < STEPS)
        return bucket;
    shift = bucket / STEPS - 1;
    return ((uint64_t)(STEPS + bucket % STEPS) << shift) + ((UINT64_C(1) << shift) >> 1);
}

static uint32_t minute_of(int64_t now_ms)
{
    return (uint32_t)(now_ms / LATENCY_WINDOW_MS);
}

static void clear(struct latency_window *w)
{
    for (unsigned i = 0; i < LATENCY_BUCKETS; i++)
        atomic_store_explicit(&w->count[i], 0, memory_order_relaxed);
}

/* Whoever comes first in a minute empties its window; a few that others count meanwhile may be lost. */
static void turn(struct latency *l, uint32_t minute)
{
    uint32_t last = atomic_load_explicit(&l->minute, memory_order_relaxed);

    /* Clocks of workers differ by a turn: time does not go back. */
    if ((int32_t)(minute - last) <= 0 ||
        !atomic_compare_exchange_strong_explicit(&l->minute, &last, minute, memory_order_relaxed,
                                                 memory_order_relaxed))
        return;
    clear(&l->windows[minute & 1]);
    if (minute - last > 1)
        clear(&l->windows[~minute & 1]);
}

void proxy_latency_count(struct latency *l, uint64_t us, int64_t now_ms)
{
    uint32_t minute = minute_of(now_ms);

    turn(l, minute);
    atomic_fetch_add_explicit(&l->windows[minute & 1].count[bucket_of(us)], 1,
                              memory_order_relaxed);
}

/* The value that so many thousandths of all do not exceed. */
static uint64_t quantile(const uint32_t counts[LATENCY_BUCKETS], uint64_t all, unsigned thousandths)
{
    uint64_t wanted = (all * thousandths + 999) / 1000, seen = 0;

    for (unsigned i = 0; i < LATENCY_BUCKETS; i++) {
        seen += counts[i];
        if (seen >= wanted)
            return value_of(i);
    }
    return 0;
}

void proxy_latency_facts(struct latency *l, int64_t now_ms, struct latency_facts *facts)
{
    uint32_t counts[LATENCY_BUCKETS];

    memset(facts, 0, sizeof(*facts));
    turn(l, minute_of(now_ms));
    for (unsigned i = 0; i < LATENCY_BUCKETS; i++) {
        counts[i] = atomic_load_explicit(&l->windows[0].count[i], memory_order_relaxed) +
                    atomic_load_explicit(&l->windows[1].count[i], memory_order_relaxed);
        facts->count += counts[i];
    }
    if (facts->count == 0)
        return;
    facts->p50_us = quantile(counts, facts->count, 500);
    facts->p90_us = quantile(counts, facts->count, 900);
    facts->p99_us = quantile(counts, facts->count, 990);
    facts->max_us = quantile(counts, facts->count, 1000);
}
