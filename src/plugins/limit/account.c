/* SPDX-License-Identifier: Apache-2.0 */
#include "account.h"

#include <stdlib.h>
#include <sys/random.h>

struct account *limit_account_new(uint32_t nkeys)
{
    struct account *a = calloc(1, sizeof(*a));
    uint64_t secret[2];

    if (!a)
        return NULL;
    if (getrandom(secret, sizeof(secret), 0) == sizeof(secret))
        a->table = limit_table_new(nkeys, secret);
    if (!a->table) {
        free(a);
        return NULL;
    }
    counted_init(&a->refs, 1);
    atomic_init(&a->logged_ms, INT64_MIN / 2);
    return a;
}

struct account *limit_account_get(struct account *a)
{
    counted_get(&a->refs);
    return a;
}

void limit_account_put(struct account *a)
{
    if (!a || !counted_put(&a->refs))
        return;
    limit_table_free(a->table);
    free(a);
}

bool limit_account_may_log(struct account *a, int64_t now_ms, unsigned *unlogged)
{
    int_least64_t last = atomic_load_explicit(&a->logged_ms, memory_order_relaxed);

    if (now_ms - last < ACCOUNT_LOG_MS ||
        !atomic_compare_exchange_strong(&a->logged_ms, &last, now_ms)) {
        atomic_fetch_add_explicit(&a->unlogged, 1, memory_order_relaxed);
        return false;
    }
    *unlogged = atomic_exchange_explicit(&a->unlogged, 0, memory_order_relaxed);
    return true;
}
