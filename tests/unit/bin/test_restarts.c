/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "restarts.h"

/* When a server that died is started again. */

static void test_waits_longer_each_time(void **state)
{
    static const int delays[MK_RESTARTS_MOST] = {0,    100,  1000, 5000, 5000,
                                                 5000, 5000, 5000, 5000, 5000};
    struct mk_restarts r = {0};
    int64_t now_ms = 1000;

    (void)state;
    for (int i = 0; i < MK_RESTARTS_MOST; i++) {
        assert_int_equal(mk_restarts_delay(&r, now_ms), delays[i]);
        now_ms += delays[i] + 50;
    }
    assert_int_equal(mk_restarts_delay(&r, now_ms), -1);
}

static void test_forgets_after_a_minute(void **state)
{
    struct mk_restarts r = {0};

    (void)state;
    assert_int_equal(mk_restarts_delay(&r, 1), 0);
    assert_int_equal(mk_restarts_delay(&r, 2), 100);
    assert_int_equal(mk_restarts_delay(&r, MK_RESTARTS_MS), 1000);
    assert_int_equal(mk_restarts_delay(&r, MK_RESTARTS_MS + 1), 1000); /* the first is past */
    assert_int_equal(mk_restarts_delay(&r, 3 * MK_RESTARTS_MS), 0);
}

static void test_goes_on_for_ever_when_deaths_are_rare(void **state)
{
    struct mk_restarts r = {0};

    (void)state;
    for (int i = 1; i < 100; i++) /* nine in any minute before the present one */
        assert_int_not_equal(mk_restarts_delay(&r, (int64_t)i * MK_RESTARTS_MS / 9), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waits_longer_each_time),
        cmocka_unit_test(test_forgets_after_a_minute),
        cmocka_unit_test(test_goes_on_for_ever_when_deaths_are_rare),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
