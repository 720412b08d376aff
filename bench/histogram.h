/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BENCH_HISTOGRAM_H
#define MK_BENCH_HISTOGRAM_H

#include <time.h>

/* Times of answers: 32 steps in each power of two of microseconds, so within 3 per cent. Each process has its own. */

enum { HISTOGRAM_BUCKETS = 64 * 32 };

struct histogram {
    long total, count[HISTOGRAM_BUCKETS];
};

/** Seconds of the monotonic clock. */
static inline double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static inline void histogram_add(struct histogram *h, double seconds)
{
    unsigned long us = (unsigned long)(seconds * 1e6);
    int shift = 0, bucket;

    while (us >> shift >= 64)
        shift++;
    bucket = shift == 0 ? (int)us : 32 * shift + (int)(us >> shift);
    h->count[bucket < HISTOGRAM_BUCKETS ? bucket : HISTOGRAM_BUCKETS - 1]++;
    h->total++;
}

static inline void histogram_merge(struct histogram *into, const struct histogram *from)
{
    for (int i = 0; i < HISTOGRAM_BUCKETS; i++)
        into->count[i] += from->count[i];
    into->total += from->total;
}

/** Microseconds that this share of the answers took at most. */
static inline double histogram_share(const struct histogram *h, double share)
{
    long want = (long)((double)h->total * share), seen = 0;

    for (int i = 0; i < HISTOGRAM_BUCKETS; i++) {
        int shift = i < 64 ? 0 : i / 32 - 1;

        seen += h->count[i];
        if (seen > want)
            return (double)((unsigned long)(i - 32 * shift) << shift);
    }
    return 0;
}

#endif
