/* SPDX-License-Identifier: Apache-2.0 */
#include "core/clock.h"

#include <time.h>

void mk_clock_update(struct mk_clock *clock)
{
    struct timespec ts;
    int64_t now_ms;

    if (clock_gettime(CLOCK_MONOTONIC_COARSE, &ts) < 0)
        return;
    now_ms = (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
    if (now_ms <= clock->mono_ms) /* the kernel moves both at the same tick, every few turns */
        return;
    clock->mono_ms = now_ms;
    if (clock_gettime(CLOCK_REALTIME_COARSE, &ts) == 0)
        clock->wall_s = ts.tv_sec;
}
