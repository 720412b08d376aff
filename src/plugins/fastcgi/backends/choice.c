/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/choice.h"

static bool is_offline(const struct choice *c, int64_t now_ms)
{
    return c->offline_until_ms > now_ms;
}

static bool is_better(const struct choice *a, const struct choice *b, int64_t now_ms)
{
    bool a_offline = is_offline(a, now_ms), b_offline = is_offline(b, now_ms);

    if (a_offline != b_offline)
        return b_offline;
    if (a_offline)
        return a->offline_until_ms < b->offline_until_ms;
    return (uint64_t)a->busy * b->max < (uint64_t)b->busy * a->max;
}

int fastcgi_choice_make(const struct choice *choices, unsigned count, uint64_t tried,
                        int64_t now_ms, unsigned turn)
{
    int best = -1;

    for (unsigned i = 0; i < count; i++) {
        unsigned at = (turn % count + i) % count;

        if (tried >> at & 1)
            continue;
        if (best < 0 || is_better(&choices[at], &choices[best], now_ms))
            best = (int)at;
    }
    return best;
}
