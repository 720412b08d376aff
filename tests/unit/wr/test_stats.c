/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "stats.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static void test_the_median(void **state)
{
    double odd[] = {9, 1, 5}, even[] = {8, 2, 6, 4}, one[] = {7};

    (void)state;
    assert_true(stats_median(odd, 3) == 5);
    assert_true(stats_median(even, 4) == 5);
    assert_true(stats_median(one, 1) == 7);
    assert_true(isnan(stats_median(NULL, 0)));
}

static void test_few_rounds_compare_by_their_extremes(void **state)
{
    double a[] = {10, 12, 11, 14, 13}, b[] = {28, 24, 25, 26, 27};
    struct interval i;

    (void)state;
    assert_true(stats_ratio(a, 5, b, 5, &i));
    assert_true(i.low == 24.0 / 14 && i.high == 2.8);
}

static void test_too_few_rounds_say_nothing(void **state)
{
    double a[] = {10, 12, 11, 14}, b[] = {28, 24, 25, 26, 27}, zero[] = {0, 1, 1, 1, 1};
    struct interval i;

    (void)state;
    assert_false(stats_ratio(a, 4, b, 5, &i));
    assert_false(stats_ratio(b, 5, a, 4, &i));
    assert_false(stats_ratio(zero, 5, b, 5, &i));
}

static void test_many_rounds_give_a_narrower_interval_each_time_the_same(void **state)
{
    double a[20], b[20], c[20], d[20];
    struct interval first, again;

    (void)state;
    for (size_t i = 0; i < COUNT(a); i++) {
        a[i] = c[i] = 100 + (double)(i * 7 % 20);
        b[i] = d[i] = 2 * a[i];
    }
    assert_true(stats_ratio(a, 20, b, 20, &first));
    assert_true(stats_ratio(c, 20, d, 20, &again));
    assert_true(first.low == again.low && first.high == again.high);
    assert_true(first.low < 2 && first.high > 2);
    assert_true(first.low > 200.0 / 119 && first.high < 238.0 / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_median),
        cmocka_unit_test(test_few_rounds_compare_by_their_extremes),
        cmocka_unit_test(test_too_few_rounds_say_nothing),
        cmocka_unit_test(test_many_rounds_give_a_narrower_interval_each_time_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
