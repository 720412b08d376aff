/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LIMIT_ACCOUNT_H
#define LIMIT_ACCOUNT_H

#include "table.h"

#include "kit/counted/counted.h"

#include <stdbool.h>

/* A table with a count of those who hold it: configurations, and requests that run. Any thread. */
struct account {
    struct counted refs;
    struct table *table;
    atomic_int_least64_t logged_ms; /* of the last line in the log; INT64_MIN: none */
    atomic_uint unlogged;           /* refusals since then */
};

enum { ACCOUNT_LOG_MS = 1000 }; /* between two lines */

/** @return it, with one reference, or NULL without memory. */
struct account *limit_account_new(uint32_t nkeys);
struct account *limit_account_get(struct account *a);
/** NULL is allowed. */
void limit_account_put(struct account *a);

/** May this refusal be logged? @param unlogged  out, if so: refusals that were not, since the last line */
bool limit_account_may_log(struct account *a, int64_t now_ms, unsigned *unlogged);

#endif
