/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/pure/bucket.h"

struct bucket_rate bucket_rate_of(uint32_t count, uint32_t period_s, uint32_t burst)
{
    const int64_t interval_ns = (int64_t)period_s * 1000000000 / count;

    return (struct bucket_rate){.interval_ns = interval_ns, .depth_ns = interval_ns * burst};
}

int64_t bucket_take(int64_t *full_at_ns, const struct bucket_rate *rate, int64_t now_ns)
{
    int64_t missing_ns = *full_at_ns > now_ns ? *full_at_ns - now_ns : 0;

    if (missing_ns > rate->depth_ns)
        missing_ns = rate->depth_ns;
    if (missing_ns + rate->interval_ns > rate->depth_ns)
        return missing_ns + rate->interval_ns - rate->depth_ns;
    *full_at_ns = now_ns + missing_ns + rate->interval_ns;
    return 0;
}
