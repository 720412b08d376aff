/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kit/h2/credit.h"

static unsigned pings_until_it_is_used_up(struct h2_credit *credit, int64_t now_ms)
{
    unsigned n = 0;

    while (n < 100000 && h2_credit_pay(credit, H2_PRICE_PING, now_ms))
        n++;
    return n;
}

static void test_cheap_frames_use_it_up(void **state)
{
    struct h2_credit credit;

    (void)state;
    h2_credit_init(&credit, 1000);
    assert_int_equal(pings_until_it_is_used_up(&credit, 1000), H2_CREDIT_MAX / 10);
}

static void test_time_brings_it_back(void **state)
{
    struct h2_credit credit;

    (void)state;
    h2_credit_init(&credit, 0);
    (void)pings_until_it_is_used_up(&credit, 0);
    assert_int_equal(pings_until_it_is_used_up(&credit, 1000), H2_CREDIT_A_SECOND / 10 - 1);
    assert_in_range(pings_until_it_is_used_up(&credit, 1000000), H2_CREDIT_MAX / 10 - 1,
                    H2_CREDIT_MAX / 10); /* no more than at first */
}

static void test_a_clock_that_stands_gives_nothing(void **state)
{
    struct h2_credit credit;

    (void)state;
    h2_credit_init(&credit, 5000);
    (void)pings_until_it_is_used_up(&credit, 5000);
    assert_false(h2_credit_pay(&credit, H2_PRICE_WINDOW, 5000));
    assert_false(h2_credit_pay(&credit, H2_PRICE_WINDOW, 4000));
}

static void test_what_is_exchanged_earns(void **state)
{
    struct h2_credit credit;

    (void)state;
    h2_credit_init(&credit, 0);
    (void)pings_until_it_is_used_up(&credit, 0);
    for (int i = 0; i < 1000; i++)
        h2_credit_move(&credit, 1000); /* in pieces smaller than a point */
    assert_in_range(credit.left, 1000000 / H2_CREDIT_BYTES - 20, 1000000 / H2_CREDIT_BYTES);
    h2_credit_move(&credit, UINT64_MAX / 2);
    h2_credit_earn(&credit, H2_CREDIT_A_REQUEST);
    assert_int_equal(credit.left, H2_CREDIT_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cheap_frames_use_it_up),
        cmocka_unit_test(test_time_brings_it_back),
        cmocka_unit_test(test_a_clock_that_stands_gives_nothing),
        cmocka_unit_test(test_what_is_exchanged_earns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
