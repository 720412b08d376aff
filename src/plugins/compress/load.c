/* SPDX-License-Identifier: Apache-2.0 */
#include "load.h"

bool compress_load_is_due(const struct load *l, int64_t now_ms)
{
    return now_ms - l->at_ms >= LOAD_SPAN_MS;
}

void compress_load_measure(struct load *l, int64_t now_ms, int64_t spent_ms)
{
    int64_t span_ms = now_ms - l->at_ms, spent = spent_ms - l->spent_ms;

    l->is_busy = l->at_ms > 0 && span_ms > 0 && spent * 100 >= span_ms * LOAD_BUSY_PERCENT;
    l->at_ms = now_ms;
    l->spent_ms = spent_ms;
}
