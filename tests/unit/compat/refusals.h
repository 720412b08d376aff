/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_COMPAT_REFUSALS_H
#define TESTS_COMPAT_REFUSALS_H

#include "compat_scene.h"

#include <stdatomic.h>

/*
 * Every call that changes or ends a context, made where none is allowed. Before this header a test defines its table,
 * CALLS(X) with X(name, call), and REFUSED, what a refused call returns.
 */

#define CALL(name, call)                                                                           \
    static int name(void)                                                                          \
    {                                                                                              \
        return (call);                                                                             \
    }
CALLS(CALL)
#undef CALL

static const struct refusal_row {
    const char *name;
    int (*call)(void);
} rows[] = {
#define ROW(name, call) {#name, name},
    CALLS(ROW)
#undef ROW
};

/* The first call that was not refused; callbacks note it, tests read it when the server has stopped. */
static const char *_Atomic allowed;
static atomic_int refused;

static void call_all(void)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].call() == REFUSED)
            atomic_fetch_add(&refused, 1);
        else
            atomic_store(&allowed, rows[i].name);
    }
}

/* @param times  that callbacks called all */
static void all_were_refused(int times)
{
    const char *name = atomic_exchange(&allowed, NULL);

    if (name)
        fail_msg("%s was not refused", name);
    assert_int_equal(atomic_exchange(&refused, 0), times * (int)(sizeof(rows) / sizeof(rows[0])));
}

#endif
