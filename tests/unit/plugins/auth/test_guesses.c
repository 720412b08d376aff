/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "guesses.h"

static struct guesses *table;

static int set_up(void **state)
{
    (void)state;
    table = auth_guesses_new(12345);
    return table ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    auth_guesses_put(table);
    return 0;
}

static struct guesses_net v4(uint32_t address)
{
    uint8_t ip[16] = {[10] = 0xff, [11] = 0xff};

    for (int i = 0; i < 4; i++)
        ip[12 + i] = (uint8_t)(address >> (24 - 8 * i));
    return auth_guesses_net_of(ip);
}

static void guess(struct guesses_net net, bool wrong, int64_t now_ms)
{
    assert_int_equal(auth_guesses_begin(table, net, now_ms), GUESSES_MAY);
    auth_guesses_end(table, net, wrong, now_ms);
}

static void test_ten_wrong_ones_and_then_a_wait(void **state)
{
    struct guesses_net net = v4(0x0a000001), other = v4(0x0a000002);

    (void)state;
    for (int i = 0; i < GUESSES_ALLOWED; i++)
        guess(net, true, 1000);
    assert_int_equal(auth_guesses_begin(table, net, 1000), GUESSES_OVER);
    guess(other, true, 1000);
    assert_int_equal(auth_guesses_begin(table, net, 1000 + GUESSES_WINDOW_MS - 1), GUESSES_OVER);
    guess(net, true, 1000 + GUESSES_WINDOW_MS);
}

static void test_right_ones_do_not_count(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++)
        guess(v4(0x0a000001), false, 1000);
}

/* All that are checked could be wrong: together they may be no more than one by one. */
static void test_checks_at_once_are_bounded(void **state)
{
    struct guesses_net net = v4(0x0a000001);

    (void)state;
    for (int i = 0; i < GUESSES_AT_ONCE; i++)
        assert_int_equal(auth_guesses_begin(table, net, 1000), GUESSES_MAY);
    assert_int_equal(auth_guesses_begin(table, net, 1000), GUESSES_WAIT);
    guess(v4(0x0a000002), true, 1000);
    auth_guesses_end(table, net, false, 1000);
    assert_int_equal(auth_guesses_begin(table, net, 1000), GUESSES_MAY);
    for (int i = 0; i < GUESSES_AT_ONCE; i++)
        auth_guesses_end(table, net, true, 1000);
    for (int i = GUESSES_AT_ONCE; i < GUESSES_ALLOWED - 1; i++)
        guess(net, true, 1000);
    assert_int_equal(auth_guesses_begin(table, net, 1000), GUESSES_MAY); /* the tenth */
    assert_int_equal(auth_guesses_begin(table, net, 1000), GUESSES_WAIT);
    auth_guesses_end(table, net, false, 1000);
    guess(net, true, 1000);
    assert_int_equal(auth_guesses_begin(table, net, 1000), GUESSES_OVER);
}

/* The minute is over while one is checked. */
static void test_long_check_is_not_forgotten(void **state)
{
    struct guesses_net net = v4(0x0a000001);
    const int64_t later = 1000 + GUESSES_WINDOW_MS;

    (void)state;
    guess(net, true, 1000);
    for (int i = 0; i < GUESSES_AT_ONCE; i++)
        assert_int_equal(auth_guesses_begin(table, net, 1000), GUESSES_MAY);
    assert_int_equal(auth_guesses_begin(table, net, later), GUESSES_WAIT);
    for (int i = 0; i < GUESSES_AT_ONCE; i++)
        auth_guesses_end(table, net, true, later);
    for (int i = GUESSES_AT_ONCE; i < GUESSES_ALLOWED; i++)
        guess(net, true, later);
    assert_int_equal(auth_guesses_begin(table, net, later), GUESSES_OVER);
}

static void test_neighbours_in_one_ipv6_network_are_one(void **state)
{
    uint8_t ip[16] = {0x20, 0x01, 0x0d, 0xb8}, elsewhere[16] = {0x20, 0x01, 0x0d, 0xb9};

    (void)state;
    for (int i = 0; i < GUESSES_ALLOWED; i++) {
        ip[15] = (uint8_t)i;
        guess(auth_guesses_net_of(ip), true, 1000);
    }
    ip[15] = 200;
    assert_int_equal(auth_guesses_begin(table, auth_guesses_net_of(ip), 1000), GUESSES_OVER);
    guess(auth_guesses_net_of(elsewhere), true, 1000);
}

static void test_crowd_of_addresses_is_bounded(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 100000; i++)
        guess(v4(i), true, 1000);
}

/* Places of those who are being checked are not taken away. */
static void test_crowd_at_once_waits(void **state)
{
    unsigned begun = 0;

    (void)state;
    for (uint32_t i = 0; i < 100000; i++)
        begun += auth_guesses_begin(table, v4(i), 1000) == GUESSES_MAY;
    assert_int_equal(begun, GUESSES_PLACES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_ten_wrong_ones_and_then_a_wait, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_right_ones_do_not_count, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_checks_at_once_are_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_long_check_is_not_forgotten, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_neighbours_in_one_ipv6_network_are_one, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_crowd_of_addresses_is_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_crowd_at_once_waits, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
