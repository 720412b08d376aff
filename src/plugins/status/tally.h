/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STATUS_TALLY_H
#define STATUS_TALLY_H

#include "kit/counted/counted.h"

#include <stdint.h>

/*
 * What is counted of the requests of one site. Each worker has a lane, which it alone writes, so nothing is locked; a reader
 * adds the lanes up. A tally belongs to no configuration: a reload keeps it, by the name of its site.
 */

enum {
    TALLY_CLASSES = 6,  /* none: the request ended without an answer; 1xx to 5xx */
    TALLY_BUCKETS = 16, /* of durations; the last has no bound */
};

/** Bounds of the buckets but the last, in ms: a duration is in the first whose bound is not below it. */
extern const uint16_t status_tally_bounds_ms[TALLY_BUCKETS - 1];

struct tally_lane {
    _Alignas(64) _Atomic uint64_t classes[TALLY_CLASSES];
    _Atomic uint64_t buckets[TALLY_BUCKETS], duration_ms, body_bytes;
};

struct tally {
    struct counted refs;
    unsigned nlanes;
    char *name;
    struct tally_lane lanes[];
};

/** The sum of all lanes. */
struct tally_sum {
    uint64_t classes[TALLY_CLASSES], buckets[TALLY_BUCKETS], count, duration_ms, body_bytes;
};

/** @param name  copied. @return it with one reference; NULL without memory. */
struct tally *status_tally_new(const char *name, unsigned nlanes);
struct tally *status_tally_get(struct tally *t);
/** NULL is allowed. Any thread. */
void status_tally_put(struct tally *t);

/** @return the bucket of a duration. */
unsigned status_tally_bucket(uint32_t ms);
/** Any thread. count is that of the buckets. */
void status_tally_add_up(const struct tally *t, struct tally_sum *sum);

/** Only the lane's worker writes, so reading and writing need no lock together. */
static inline void tally_grow(_Atomic uint64_t *counter, uint64_t by)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + by,
                          memory_order_relaxed);
}

/** Count a request, on the lane's worker. @param status  0: there was no answer */
static inline void tally_note(struct tally_lane *lane, unsigned status, uint32_t ms,
                              uint64_t body_bytes)
{
    unsigned class = status / 100;

    tally_grow(&lane->classes[class < TALLY_CLASSES ? class : 0], 1);
    tally_grow(&lane->buckets[ms <= 1 ? 0 : status_tally_bucket(ms)], 1);
    tally_grow(&lane->duration_ms, ms);
    tally_grow(&lane->body_bytes, body_bytes);
}

#endif
