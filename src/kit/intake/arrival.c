/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/intake/arrival.h"

int64_t arrival_balance(const struct arrival *a, int64_t now_ms)
{
    return a->waits ? a->balance - (now_ms - a->since_ms) * ARRIVAL_RATE / 1000 : a->balance;
}

void arrival_came(struct arrival *a, size_t bytes, int64_t now_ms)
{
    int64_t balance = arrival_balance(a, now_ms) + (int64_t)bytes;

    a->balance = balance < ARRIVAL_MOST ? balance : ARRIVAL_MOST;
    a->waits = false;
}

void arrival_wait(struct arrival *a, int64_t now_ms)
{
    if (a->waits)
        return;
    a->since_ms = now_ms;
    a->waits = true;
}
