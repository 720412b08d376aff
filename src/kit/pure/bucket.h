/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_PURE_BUCKET_H
#define KIT_PURE_BUCKET_H

#include <stdint.h>

/*
 * A token bucket as one number: the time at which it is full again. Each token moves that time by the interval of the
 * rate, and a bucket that would need longer than its depth has no token left.
 */

struct bucket_rate {
    int64_t interval_ns; /* a token returns in this time */
    int64_t depth_ns;    /* an empty bucket is full in this time */
};

/**
 * @param count  tokens in period_s seconds, both at least 1
 * @param burst  tokens of a full bucket, at least 1; they return in less than 2^63 nanoseconds
 */
struct bucket_rate bucket_rate_of(uint32_t count, uint32_t period_s, uint32_t burst);

/**
 * Take a token.
 * @param full_at_ns  the bucket; 0: full. At most one depth after now, whatever an earlier rate or clock left there
 * @return 0: taken; > 0: there is none, and one returns in so many nanoseconds.
 */
int64_t bucket_take(int64_t *full_at_ns, const struct bucket_rate *rate, int64_t now_ns);

#endif
