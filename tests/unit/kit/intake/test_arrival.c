/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "arrival.h"

enum { KB = 1024 };

/* So many bytes each time, so many ms apart, from a start without any. @return ms until it is fast; -1: not within a minute. */
static int64_t time_until_fast(size_t bytes, int64_t every_ms)
{
    struct arrival a = {.balance = 0};

    for (int64_t now = 1; now < 60000; now += every_ms) {
        arrival_came(&a, bytes, now);
        if (arrival_balance(&a, now) >= ARRIVAL_FAST)
            return now - 1;
        arrival_wait(&a, now);
    }
    return -1;
}

static void test_when_a_body_is_fast(void **state)
{
    (void)state;
    assert_int_equal(time_until_fast((size_t)32 * KB, 1), 0); /* at once */
    assert_int_equal(time_until_fast((size_t)16 * KB, 1), 2);
    assert_in_range(time_until_fast((size_t)10 * KB, 100), 300, 400);  /* 100 KB a second */
    assert_in_range(time_until_fast((size_t)2 * KB, 100), 7000, 9000); /* 20 KB */
    assert_int_equal(time_until_fast((size_t)1600, 100), -1);          /* 16000 bytes */
    assert_int_equal(time_until_fast(1, 1), -1);                       /* drips */
}

static void test_when_it_has_become_slow(void **state)
{
    struct arrival a = {.balance = 0};

    (void)state;
    arrival_came(&a, (size_t)1 << 30, 1000);
    assert_int_equal(arrival_balance(&a, 1000),
                     ARRIVAL_MOST); /* a gigabyte buys no more than that */
    arrival_wait(&a, 2000);
    arrival_wait(&a, 5000); /* still the same wait */
    assert_int_equal(arrival_balance(&a, 6000), 0);
    assert_true(arrival_balance(&a, 6001) < 0);
    arrival_came(&a, 1, 6001);
    assert_true(arrival_balance(&a, 99000) < 0);
}

static void test_time_without_a_wait_counts_for_nothing(void **state)
{
    struct arrival a = {.balance = 0};

    (void)state;
    arrival_came(&a, (size_t)40 * KB, 1000);
    assert_int_equal(arrival_balance(&a, 1000000), 40 * KB);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_when_a_body_is_fast),
        cmocka_unit_test(test_when_it_has_become_slow),
        cmocka_unit_test(test_time_without_a_wait_counts_for_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
