/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/objects.h"

/* The clock of the last tick: of one second's exactness, and without a system call. */
static time_t xtime_now(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME_COARSE, &now);
    return now.tv_sec;
}

static time_t xtime_tomorrow(void)
{
    return xtime_now() + TIME_DAY;
}

static time_t xtime_next_hours(int hours)
{
    return xtime_now() + (time_t)hours * TIME_HOUR;
}

const struct duda_api_xtime mk_duda_xtime = {
    .now = xtime_now,
    .tomorrow = xtime_tomorrow,
    .next_hours = xtime_next_hours,
};
