/* SPDX-License-Identifier: Apache-2.0 */
#include "load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* When a worker counts as busy. */

static const struct measured {
    const char *sentence;
    int64_t now_ms, spent_ms;
    bool is_busy;
} measurements[] = {
    {"the first measurement says nothing", 100000, 90000, false},
    {"all of a quarter of a second", 100250, 90250, true},
    {"three quarters of it", 100650, 90550, true},
    {"a little less", 100950, 90774, false},
    {"busy after a long rest", 900000, 91000, false},
    {"and after it", 900300, 91300, true},
    {"more than there is, as time is that of the turn's beginning", 900600, 91700, true},
    {"no time between", 900600, 92000, false},
};

static void busy_is_three_quarters_of_a_cpu(void **state)
{
    struct load l = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(measurements) / sizeof(measurements[0]); i++) {
        const struct measured *m = &measurements[i];

        compress_load_measure(&l, m->now_ms, m->spent_ms);
        if (l.is_busy != m->is_busy)
            fail_msg("%s: busy %d", m->sentence, l.is_busy);
    }
}

static void measurements_are_a_quarter_of_a_second_apart(void **state)
{
    struct load l = {0};

    (void)state;
    assert_true(compress_load_is_due(&l, 100000));
    compress_load_measure(&l, 100000, 5);
    assert_false(compress_load_is_due(&l, 100000 + LOAD_SPAN_MS - 1));
    assert_true(compress_load_is_due(&l, 100000 + LOAD_SPAN_MS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(busy_is_three_quarters_of_a_cpu),
        cmocka_unit_test(measurements_are_a_quarter_of_a_second_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
