/* SPDX-License-Identifier: Apache-2.0 */
#include "core/timer.h"

enum { SLOT_MASK = MK_WHEEL_SLOTS - 1 };

/* Ticks wrap after 13 years of uptime; differences are taken signed. */
static int32_t tick_diff(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b);
}

void mk_wheel_init(struct mk_wheel *w, int64_t now_ms)
{
    *w = (struct mk_wheel){.tick = (uint32_t)(now_ms / MK_TICK_MS)};
    for (int i = 0; i < MK_WHEEL_SLOTS; i++)
        mk_list_init(&w->slots[i]);
}

static void place(struct mk_wheel *w, struct mk_timer *t)
{
    int32_t ahead = tick_diff(t->due, w->tick);
    unsigned index;

    /* Too far for one round of the wheel: wait in its last slot and be placed again. */
    t->slot = ahead < MK_WHEEL_SLOTS ? t->due : w->tick + MK_WHEEL_SLOTS - 1;
    index = t->slot & SLOT_MASK;
    mk_list_add_tail(&w->slots[index], &t->link);
    w->used[index / 64] |= UINT64_C(1) << (index % 64);
}

void mk_timer_set(struct mk_wheel *w, struct mk_timer *t, int64_t at_ms)
{
    uint32_t due = (uint32_t)((at_ms + MK_TICK_MS - 1) / MK_TICK_MS);

    if (tick_diff(due, w->tick) < 1)
        due = w->tick + 1;
    t->due = due;
    if (mk_timer_is_set(t)) {
        if (tick_diff(due, t->slot) >= 0)
            return;
        mk_list_remove(&t->link);
    }
    place(w, t);
}

void mk_timer_cancel(struct mk_timer *t)
{
    mk_list_remove(&t->link);
}

static void run_slot(struct mk_wheel *w, unsigned index)
{
    struct mk_list due;

    /* Move the slot's timers away first: a call-back may set or cancel any of them. */
    mk_list_init(&due);
    mk_list_splice_tail(&due, &w->slots[index]);
    w->used[index / 64] &= ~(UINT64_C(1) << (index % 64));
    while (!mk_list_is_empty(&due)) {
        struct mk_timer *t = (struct mk_timer *)(void *)due.next;

        mk_list_remove(&t->link);
        if (tick_diff(t->due, w->tick) > 0)
            place(w, t);
        else
            t->fn(t);
    }
}

/* Ticks from the wheel's to the next slot in use; MK_WHEEL_SLOTS when all are empty. */
static unsigned ticks_to_next(const struct mk_wheel *w)
{
    unsigned start = (w->tick + 1) & SLOT_MASK;

    for (unsigned n = 0; n < MK_WHEEL_SLOTS;) {
        unsigned index = (start + n) & SLOT_MASK;
        uint64_t bits = w->used[index / 64] >> (index % 64);

        if (bits)
            return n + 1 + (unsigned)__builtin_ctzll(bits);
        n += 64 - index % 64;
    }
    return MK_WHEEL_SLOTS;
}

void mk_wheel_run(struct mk_wheel *w, int64_t now_ms)
{
    uint32_t now = (uint32_t)(now_ms / MK_TICK_MS);

    while (tick_diff(now, w->tick) > 0) {
        unsigned next = ticks_to_next(w);

        if (next > (uint32_t)tick_diff(now, w->tick)) {
            w->tick = now;
            return;
        }
        w->tick += next;
        run_slot(w, w->tick & SLOT_MASK);
    }
}

int mk_wheel_wait_ms(const struct mk_wheel *w, int64_t now_ms)
{
    unsigned next = ticks_to_next(w);
    int32_t ahead_ms;

    if (next == MK_WHEEL_SLOTS && !w->used[0] && !w->used[1] && !w->used[2] && !w->used[3])
        return -1;
    ahead_ms = tick_diff(w->tick + next, (uint32_t)(now_ms / MK_TICK_MS)) * MK_TICK_MS -
               (int32_t)(now_ms % MK_TICK_MS);
    return ahead_ms > 0 ? ahead_ms : 0;
}
