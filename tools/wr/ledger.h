/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WR_LEDGER_H
#define WR_LEDGER_H

#include "counters.h"

#include <stdint.h>

/*
 * Counters of one process and of what ended below it, since it is watched.
 *
 * A process that ends takes its counters along. What it used shows up with its parent, if that waits
 * for it, in steps of a clock tick; what was last seen of it is exact, but older. The larger of the
 * two counts. Both begin with the same process, so no sum counts it twice.
 */
struct ledger {
    uint64_t own[WR_COUNTER_COUNT], own_base[WR_COUNTER_COUNT];
    uint64_t children[WR_COUNTER_COUNT],
        children_base[WR_COUNTER_COUNT]; /* waited for, as the kernel has them */
    uint64_t lost[WR_COUNTER_COUNT];     /* ended, as last seen */
};

/** What was used until now is not ours. */
void ledger_begin(struct ledger *l);

/** What it and what ended below it used since it is watched. */
uint64_t ledger_value(const struct ledger *l, enum wr_counter c);

/** A child ended: its value, and what its own counters had before it was watched, go to its parent. */
void ledger_inherit(struct ledger *parent, const struct ledger *child);

#endif
