/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_RUN_HANDOFF_H
#define MK_SERVER_RUN_HANDOFF_H

#include "base/limits.h"
#include "core/addr.h"

#include <stdatomic.h>

struct mk_endpoint;

/** An accepted socket on its way to a worker. */
struct mk_handoff_item {
    const struct mk_endpoint *endpoint;
    int fd;
    bool busy; /* above the maximum: to be told so */
    struct mk_peer peer;
};

/** A bounded ring from one acceptor to one worker; neither waits for the other. */
struct mk_handoff {
    _Atomic uint32_t head; /* written by the worker */
    _Atomic uint32_t tail; /* written by the acceptor */
    struct mk_handoff_item items[MK_LIMIT_HANDOFF_RING];
};

/** @return false when the ring is full. */
bool mk_handoff_put(struct mk_handoff *h, const struct mk_handoff_item *item);
bool mk_handoff_take(struct mk_handoff *h, struct mk_handoff_item *item);
bool mk_handoff_is_full(const struct mk_handoff *h);
/** Items waiting. */
uint32_t mk_handoff_count(const struct mk_handoff *h);

#endif
