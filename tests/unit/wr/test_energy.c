/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "energy.h"

static void test_packages_are_summed(void **state)
{
    struct energy before = {.uj = {1000, 2000}, .end_uj = {9000, 9000}, .count = 2};
    struct energy after = {.uj = {4000, 2500}, .end_uj = {9000, 9000}, .count = 2};

    (void)state;
    assert_float_equal(energy_between(&before, &after), 3.5, 1e-9);
}

static void test_a_counter_begins_again(void **state)
{
    struct energy before = {.uj = {8000}, .end_uj = {9000}, .count = 1};
    struct energy after = {.uj = {500}, .end_uj = {9000}, .count = 1};

    (void)state;
    assert_float_equal(energy_between(&before, &after), 1.5, 1e-9);
}

static void test_where_there_is_none_there_is_none(void **state)
{
    (void)state;
    assert_int_equal(energy_read("/no/such/folder").count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packages_are_summed),
        cmocka_unit_test(test_a_counter_begins_again),
        cmocka_unit_test(test_where_there_is_none_there_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
