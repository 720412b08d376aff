/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DATA_REMOTE_BACKOFF_H
#define MK_DATA_REMOTE_BACKOFF_H

#include "kit/clock/clock.h"

#include <stdbool.h>

/* How long a server that failed is left alone. The time doubles with each failure. Zeroed at first. */

struct backoff {
    unsigned ms; /* 0: it has not failed */
    int64_t until_ms;
};

static inline bool backoff_is_on(const struct backoff *b)
{
    return b->ms > 0;
}

/** May it be tried now? */
static inline bool backoff_is_over(const struct backoff *b, int64_t now_ms)
{
    return now_ms >= b->until_ms;
}

static inline void backoff_failed(struct backoff *b, unsigned first_ms, unsigned last_ms)
{
    b->ms = b->ms == 0 ? first_ms : b->ms < last_ms / 2 ? b->ms * 2 : last_ms;
    b->until_ms = clock_now_ms() + b->ms;
}

/** It answers again. */
static inline void backoff_end(struct backoff *b)
{
    *b = (struct backoff){.ms = 0};
}

#endif
