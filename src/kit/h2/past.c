/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/h2/past.h"

static bool has(const uint32_t *ids, size_t count, uint32_t id)
{
    for (size_t i = 0; i < count; i++) {
        if (ids[i] == id)
            return true;
    }
    return false;
}

void h2_past_add(struct h2_past *p, uint32_t id, bool is_ours)
{
    if (!is_ours) {
        p->ends[p->nends++ % H2_PAST_ENDS] = id;
        return;
    }
    p->resets[p->nresets++] = id;
    if (p->nresets == H2_PAST_RESETS) {
        p->nresets = 0;
        p->has_forgotten = true;
    }
}

enum h2_error h2_past_judge(const struct h2_past *p, uint32_t id, bool is_data)
{
    if (has(p->resets, H2_PAST_RESETS, id))
        return H2_E_NO_ERROR;
    if (has(p->ends, H2_PAST_ENDS, id))
        return H2_E_STREAM_CLOSED;
    if (p->has_forgotten) /* it may be one of those */
        return H2_E_NO_ERROR;
    return is_data ? H2_E_STREAM_CLOSED : H2_E_PROTOCOL_ERROR;
}
