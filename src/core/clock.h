/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_CORE_CLOCK_H
#define MK_CORE_CLOCK_H

#include <stdint.h>

/* Time as a loop sees it: read once a turn, then asked for as often as one likes. */
struct mk_clock {
    int64_t mono_ms; /* never goes back, whatever the system does */
    int64_t wall_s;  /* seconds since the epoch; may step either way */
};

/** Read both clocks (about a jiffy coarse). */
void mk_clock_update(struct mk_clock *clock);

#endif
