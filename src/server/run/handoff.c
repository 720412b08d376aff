/* SPDX-License-Identifier: Apache-2.0 */
#include "server/run/handoff.h"

bool mk_handoff_put(struct mk_handoff *h, const struct mk_handoff_item *item)
{
    uint32_t tail = atomic_load_explicit(&h->tail, memory_order_relaxed);

    if (tail - atomic_load_explicit(&h->head, memory_order_acquire) == MK_LIMIT_HANDOFF_RING)
        return false;
    h->items[tail % MK_LIMIT_HANDOFF_RING] = *item;
    /* Sequentially consistent with the worker's announcement that it sleeps: one of the two sees the other. */
    atomic_store(&h->tail, tail + 1);
    return true;
}

bool mk_handoff_take(struct mk_handoff *h, struct mk_handoff_item *item)
{
    uint32_t head = atomic_load_explicit(&h->head, memory_order_relaxed);

    if (head == atomic_load_explicit(&h->tail, memory_order_acquire))
        return false;
    *item = h->items[head % MK_LIMIT_HANDOFF_RING];
    atomic_store_explicit(&h->head, head + 1, memory_order_release);
    return true;
}

bool mk_handoff_is_full(const struct mk_handoff *h)
{
    return mk_handoff_count(h) == MK_LIMIT_HANDOFF_RING;
}

uint32_t mk_handoff_count(const struct mk_handoff *h)
{
    return atomic_load(&h->tail) - atomic_load(&h->head);
}
