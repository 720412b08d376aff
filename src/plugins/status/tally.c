/* SPDX-License-Identifier: Apache-2.0 */
#include "tally.h"

#include <stdlib.h>
#include <string.h>

const uint16_t status_tally_bounds_ms[TALLY_BUCKETS - 1] = {
    1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10000, 30000, 60000};

struct tally *status_tally_new(const char *name, unsigned nlanes)
{
    const size_t size = sizeof(struct tally) + nlanes * sizeof(struct tally_lane);
    struct tally *t = aligned_alloc(_Alignof(struct tally_lane), size);

    if (!t)
        return NULL;
    memset(t, 0, size);
    counted_init(&t->refs, 1);
    t->nlanes = nlanes;
    t->name = strdup(name);
    if (t->name)
        return t;
    free(t);
    return NULL;
}

struct tally *status_tally_get(struct tally *t)
{
    counted_get(&t->refs);
    return t;
}

void status_tally_put(struct tally *t)
{
    if (!t || !counted_put(&t->refs))
        return;
    free(t->name);
    free(t);
}

unsigned status_tally_bucket(uint32_t ms)
{
    unsigned bucket = 0;

    while (bucket < TALLY_BUCKETS - 1 && ms > status_tally_bounds_ms[bucket])
        bucket++;
    return bucket;
}

static uint64_t read_counter(const _Atomic uint64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

void status_tally_add_up(const struct tally *t, struct tally_sum *sum)
{
    memset(sum, 0, sizeof(*sum));
    for (unsigned i = 0; i < t->nlanes; i++) {
        const struct tally_lane *lane = &t->lanes[i];

        for (unsigned class = 0; class < TALLY_CLASSES; class ++)
            sum->classes[class] += read_counter(&lane->classes[class]);
        for (unsigned bucket = 0; bucket < TALLY_BUCKETS; bucket++)
            sum->buckets[bucket] += read_counter(&lane->buckets[bucket]);
        sum->duration_ms += read_counter(&lane->duration_ms);
        sum->body_bytes += read_counter(&lane->body_bytes);
    }
    for (unsigned bucket = 0; bucket < TALLY_BUCKETS; bucket++)
        sum->count += sum->buckets[bucket];
}
