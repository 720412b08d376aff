/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_CLOCK_H
#define KIT_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Time for threads and programs that are not workers; a worker has mk_worker_now_ms(), which costs no call. */

/** Microseconds of the clock that never goes back. Any thread. */
static inline int64_t clock_now_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/** The same in milliseconds. */
static inline int64_t clock_now_ms(void)
{
    return clock_now_us() / 1000;
}
/** The same as of the last tick of the kernel: a few ms late, and without a look at the hardware. Any thread. */
static inline int64_t clock_tick_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

#endif
