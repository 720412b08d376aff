/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_H2_FLOW_H
#define KIT_H2_FLOW_H

#include "kit/h2/frame.h"

#include <stdbool.h>

/* What a peer may send before it is told to go on (RFC 9113 section 5.2), of a stream or of a connection. */
struct h2_flow {
    int32_t left;   /* bytes that may come; below 0: more came than may */
    int32_t window; /* how much may be under way */
    int32_t unsaid; /* was used, and the peer does not know yet */
    int32_t moved;  /* was used since the window grew */
};

static inline void h2_flow_init(struct h2_flow *f, int32_t window)
{
    *f = (struct h2_flow){.left = window, .window = window};
}

/** Bytes came. @return false: more than may. */
static inline bool h2_flow_take(struct h2_flow *f, uint32_t len)
{
    f->left -= (int32_t)len;
    return f->left >= 0;
}

/** Bytes were used. @return what the peer is told now: 0 or the increment of WINDOW_UPDATE. */
static inline uint32_t h2_flow_use(struct h2_flow *f, size_t len)
{
    int32_t said;

    f->unsaid += (int32_t)len;
    f->moved += (int32_t)len;
    if (f->unsaid < f->window / 2)
        return 0;
    said = f->unsaid;
    f->unsaid = 0;
    f->left += said;
    return (uint32_t)said;
}

/** Was a whole window used since it grew? */
static inline bool h2_flow_is_short(const struct h2_flow *f)
{
    return f->moved >= f->window;
}

/** The window grows. @return the increment. */
static inline uint32_t h2_flow_widen(struct h2_flow *f, int32_t by)
{
    f->window += by;
    f->left += by;
    f->moved = 0;
    return (uint32_t)by;
}

#endif
