/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COMPRESS_TALLY_H
#define COMPRESS_TALLY_H

#include "encoder.h"

#include "kit/counted/counted.h"

/* What was compressed, over all workers; a reload hands it on. */

struct tally_row {
    _Atomic uint64_t streams, under_way, put_aside, in,
        out; /* of one coding; in and out in bytes */
};

struct tally {
    struct counted refs;
    struct tally_row rows[ENCODERS_MAX]; /* as compress_encoder_at */
    _Atomic uint64_t held;               /* bytes of memory that streams under way may take */
    _Atomic uint64_t left_out;           /* answers that went uncompressed for want of memory */
};

/** @return one with a reference; NULL: no memory. */
struct tally *compress_tally_new(void);
struct tally *compress_tally_get(struct tally *t);
void compress_tally_put(struct tally *t);

void compress_tally_metrics(const struct tally *t, mk_metric_fn tell, void *arg);

#endif
