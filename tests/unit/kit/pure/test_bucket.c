/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kit/pure/bucket.h"

/* The largest that callers have: together they fill 62 bits. */
enum { COUNT_MAX = 1000000, PERIOD_MAX_S = 3600 };

static const int64_t second = 1000000000;
static const int64_t start = 1000000000000;

static void test_full_bucket_has_a_burst(void **state)
{
    struct bucket_rate rate = bucket_rate_of(10, 1, 20);
    int64_t bucket = 0;

    (void)state;
    for (int i = 0; i < 20; i++)
        assert_int_equal(bucket_take(&bucket, &rate, start), 0);
    assert_int_equal(bucket_take(&bucket, &rate, start), second / 10);
    assert_int_equal(bucket_take(&bucket, &rate, start + second / 10 - 1), 1);
    assert_int_equal(bucket_take(&bucket, &rate, start + second / 10), 0);
}

static void test_long_run_has_the_rate(void **state)
{
    struct bucket_rate rate = bucket_rate_of(7, 60, 3);
    int64_t bucket = 0;
    int taken = 0;

    (void)state;
    for (int64_t ms = 0; ms < 3600 * 1000; ms += 10)
        taken += bucket_take(&bucket, &rate, start + ms * 1000000) == 0;
    assert_in_range(taken, 7 * 60, 7 * 60 + 3);
}

static void test_credit_is_at_most_a_burst(void **state)
{
    struct bucket_rate rate = bucket_rate_of(10, 1, 2);
    int64_t bucket = 0, later = start + 1000 * second;

    (void)state;
    assert_int_equal(bucket_take(&bucket, &rate, start), 0);
    assert_int_equal(bucket_take(&bucket, &rate, later), 0);
    assert_int_equal(bucket_take(&bucket, &rate, later), 0);
    assert_true(bucket_take(&bucket, &rate, later) > 0);
}

static void test_debt_of_a_deeper_bucket_is_cut(void **state)
{
    struct bucket_rate deep = bucket_rate_of(1, 3600, COUNT_MAX);
    struct bucket_rate now = bucket_rate_of(10, 1, 1);
    int64_t bucket = 0;

    (void)state;
    for (int i = 0; i < 100; i++)
        assert_int_equal(bucket_take(&bucket, &deep, start), 0);
    assert_int_equal(bucket_take(&bucket, &now, start), second / 10);
}

static void test_largest_numbers_do_not_overflow(void **state)
{
    struct bucket_rate rate = bucket_rate_of(1, PERIOD_MAX_S, COUNT_MAX);
    int64_t bucket = 0, century = (int64_t)100 * 365 * 86400 * second;

    (void)state;
    for (int i = 0; i < COUNT_MAX; i++)
        assert_int_equal(bucket_take(&bucket, &rate, century), 0);
    assert_int_equal(bucket_take(&bucket, &rate, century), 3600 * second);
    rate = bucket_rate_of(COUNT_MAX, 1, 1);
    assert_int_equal(rate.interval_ns, 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full_bucket_has_a_burst),
        cmocka_unit_test(test_long_run_has_the_rate),
        cmocka_unit_test(test_credit_is_at_most_a_burst),
        cmocka_unit_test(test_debt_of_a_deeper_bucket_is_cut),
        cmocka_unit_test(test_largest_numbers_do_not_overflow),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
