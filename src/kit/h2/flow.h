/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_H2_FLOW_H
#define KIT_H2_FLOW_H

#include "kit/h2/frame.h"

#include <stdbool.h>

/*
 * Windows grow to the product of bandwidth and delay, and no further: a window doubles when its peer filled it within a round
 * trip and a half, which says that the window and not the line held it back, and when its reader keeps up.
 */

enum {
    H2_SAID_MAX = 256 << 10,   /* of what was used, the peer is told no later */
    H2_FREE = 1 << 20,         /* up to which windows double however long that takes */
    H2_MEASURED = H2_FREE / 8, /* from which on a round trip is measured each time one is used */
    H2_SAMPLES = 3,            /* of which the shortest counts, before windows grow further */
};

/** The account of what the windows of streams grow by, of which sessions and others take. */
struct h2_growth {
    /** @param bytes  below 0: they are given back, which never fails @return false: there is not that much */
    bool (*take)(void *owner, int64_t bytes);
    void *owner;
};

/* What a peer may send before it is told to go on (RFC 9113 section 5.2), of a stream or of a connection. */
struct h2_flow {
    int32_t left;   /* bytes that may come; below 0: more came than may */
    int32_t window; /* how much may be under way */
    int32_t unsaid; /* was used, and the peer does not know yet */
    int32_t moved;  /* was used since the window grew, or could have */
    int32_t since;  /* when the first of these bytes was, by the low bits of a clock in ms */
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
static inline uint32_t h2_flow_use(struct h2_flow *f, size_t len, int64_t now_ms)
{
    int32_t said;

    if (f->moved == 0)
        f->since = (int32_t)now_ms;
    f->unsaid += (int32_t)len;
    f->moved += (int32_t)len;
    if (f->unsaid < f->window / 2 && f->unsaid < H2_SAID_MAX)
        return 0;
    said = f->unsaid;
    f->unsaid = 0;
    f->left += said;
    return (uint32_t)said;
}

/** Was a whole window used since it grew, or could have grown? */
static inline bool h2_flow_is_used(const struct h2_flow *f)
{
    return f->moved >= f->window;
}

/** Of one that is used: was that as fast as a window lets its peer be? @param round_ms  a round trip; below 0: unknown */
static inline bool h2_flow_is_short(const struct h2_flow *f, int64_t now_ms, int32_t round_ms)
{
    const int64_t ms = (int32_t)((uint32_t)now_ms - (uint32_t)f->since);

    return 2 * ms <= 3 * (int64_t)round_ms;
}

/** Was most of what came used? */
static inline bool h2_flow_is_read(const struct h2_flow *f)
{
    return f->window - f->left - f->unsaid <= f->window / 4;
}

/** The window grows, by 0 perhaps. @return the increment. */
static inline uint32_t h2_flow_widen(struct h2_flow *f, int32_t by)
{
    f->window += by;
    f->left += by;
    f->moved = 0;
    return (uint32_t)by;
}

#endif
