/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_BIN_RESTARTS_H
#define MK_BIN_RESTARTS_H

#include <stdint.h>

/* When a server that died is started again. */

enum {
    MK_RESTARTS_MOST = 10, /* deaths in MK_RESTARTS_MS: one more, and it stays dead */
    MK_RESTARTS_MS = 60 * 1000,
};

struct mk_restarts {
    int64_t died_ms[MK_RESTARTS_MOST]; /* the last ones, in a ring; zeroed before the first */
    unsigned deaths;
};

/**
 * Count a death.
 * @param now_ms  monotonic time, above 0
 * @return milliseconds to wait before the next start: none for the first death in a minute, then 100, 1000, 5000; -1: there
 *         were too many.
 */
int mk_restarts_delay(struct mk_restarts *restarts, int64_t now_ms);

#endif
