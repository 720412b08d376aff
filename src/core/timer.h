/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_CORE_TIMER_H
#define MK_CORE_TIMER_H

#include "base/code.h"
#include "base/list.h"

#include <stdint.h>

/*
 * A timer wheel: setting, moving and cancelling cost the same however many timers there are.
 * Due times are rounded up to ticks of 100 ms. A timer set later than it stands is not moved until
 * its old slot comes round, so that a busy connection that renews its timeout writes one word.
 */

enum {
    MK_TICK_MS = 100,
    MK_WHEEL_SLOTS = 256,
};

struct mk_timer;
typedef void (*mk_timer_fn)(struct mk_timer *t);

struct mk_timer {
    struct mk_list link;
    mk_timer_fn fn;
    uint32_t due;  /* tick at which it fires */
    uint32_t slot; /* tick of the slot that it stands in, <= due */
};

struct mk_wheel {
    uint32_t tick; /* all slots up to this tick have been run */
    uint64_t used[MK_WHEEL_SLOTS / 64];
    struct mk_list slots[MK_WHEEL_SLOTS];
};

void mk_wheel_init(struct mk_wheel *w, int64_t now_ms);

/** A timer that is not set. fn is called from mk_wheel_run and may set, cancel or free any timer. */
static inline void mk_timer_init(struct mk_timer *t, mk_timer_fn fn)
{
    mk_list_init(&t->link);
    t->fn = fn;
    t->due = t->slot = 0;
}

static inline bool mk_timer_is_set(const struct mk_timer *t)
{
    return mk_list_is_linked(&t->link);
}

/** Fire once, at_ms on the loop's monotonic clock; replaces an earlier setting. */
MK_INSIDE void mk_timer_set(struct mk_wheel *w, struct mk_timer *t, int64_t at_ms);
MK_INSIDE void mk_timer_cancel(struct mk_timer *t);

/** Run what is due. */
void mk_wheel_run(struct mk_wheel *w, int64_t now_ms);

/** Milliseconds until something may be due: 0 now, -1 never. */
int mk_wheel_wait_ms(const struct mk_wheel *w, int64_t now_ms);

#endif
