/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_BALANCE_INT_H
#define PROXY_BALANCE_INT_H

#include "backends/balance.h"
#include "kit/pure/ring.h"

/* ---- exact state, behind one mutex ---- */

struct balance_exact;

/** @param backends  copied but for their names. @return it, owned; NULL without memory. */
struct balance_exact *proxy_balance_exact_new(const struct balance_backend *backends,
                                              unsigned nbackends) MK_MUST_USE;
void proxy_balance_exact_free(struct balance_exact *e);
/**
 * Choose in turn, smoothly by seats, and count it as active.
 * @param least  only among those with the fewest active requests a seat
 */
int proxy_balance_exact_choose(struct balance_exact *e, const struct balance_set *may, bool least);

/* ---- the ring of ConsistentHash ---- */

enum {
    BALANCE_RING_POINTS = 32768, /* at most, in all */
    BALANCE_RING_SEAT = 160,     /* of a seat: shares differ by some 8 percent then */
};

/** @return it, sorted, owned; NULL without memory. */
struct ring *proxy_balance_ring_new(const struct balance_backend *backends,
                                    unsigned nbackends) MK_MUST_USE;

#endif
