/* SPDX-License-Identifier: Apache-2.0 */
#include "id.h"

static void count(struct trace_counter *c, int64_t now_ms)
{
    if (now_ms > c->ms) {
        c->ms = now_ms;
        c->count = 0;
    } else if (++c->count == 0) {
        c->ms++;
    }
}

void trace_id_write(char dst[TRACE_ID_TEXT], struct trace_counter *c, int64_t now_ms,
                    uint64_t random)
{
    static const char digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    uint64_t high;

    count(c, now_ms);
    high = (uint64_t)c->ms << 16 | c->count;
    for (int i = TRACE_ID_TEXT - 1; i >= 0; i--) {
        dst[i] = digits[random & 31];
        random = random >> 5 | high << 59;
        high >>= 5;
    }
}
