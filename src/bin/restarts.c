/* SPDX-License-Identifier: Apache-2.0 */
#include "restarts.h"

enum { DELAYS = 4 };

int mk_restarts_delay(struct mk_restarts *restarts, int64_t now_ms)
{
    static const int delays[DELAYS] = {0, 100, 1000, 5000};
    int64_t *oldest = &restarts->died_ms[restarts->deaths % MK_RESTARTS_MOST];
    unsigned before = 0;

    for (unsigned i = 0; i < MK_RESTARTS_MOST; i++) {
        if (restarts->died_ms[i] > 0 && now_ms - restarts->died_ms[i] < MK_RESTARTS_MS)
            before++;
    }
    *oldest = now_ms;
    restarts->deaths++;
    if (before == MK_RESTARTS_MOST)
        return -1;
    return delays[before < DELAYS ? before : DELAYS - 1];
}
