/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "guesses.h"

static struct guesses table;

static int set_up(void **state)
{
    (void)state;
    guesses_init(&table, 12345);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    guesses_fini(&table);
    return 0;
}

static void v4(uint8_t ip[16], uint32_t address)
{
    memset(ip, 0, 10);
    ip[10] = ip[11] = 0xff;
    for (int i = 0; i < 4; i++)
        ip[12 + i] = (uint8_t)(address >> (24 - 8 * i));
}

static void test_ten_wrong_ones_and_then_a_wait(void **state)
{
    uint8_t ip[16], other[16];

    (void)state;
    v4(ip, 0x0a000001);
    v4(other, 0x0a000002);
    for (int i = 0; i < GUESSES_ALLOWED; i++)
        assert_true(guesses_begin(&table, ip, 1000));
    assert_false(guesses_begin(&table, ip, 1000));
    assert_true(guesses_begin(&table, other, 1000));
    assert_false(guesses_begin(&table, ip, 1000 + GUESSES_WINDOW_MS - 1));
    assert_true(guesses_begin(&table, ip, 1000 + GUESSES_WINDOW_MS));
}

static void test_right_ones_do_not_count(void **state)
{
    uint8_t ip[16];

    (void)state;
    v4(ip, 0x0a000001);
    for (int i = 0; i < 100; i++) {
        assert_true(guesses_begin(&table, ip, 1000));
        guesses_right(&table, ip, 1000);
    }
}

static void test_neighbours_in_one_ipv6_network_are_one(void **state)
{
    uint8_t ip[16] = {0x20, 0x01, 0x0d, 0xb8}, elsewhere[16] = {0x20, 0x01, 0x0d, 0xb9};

    (void)state;
    for (int i = 0; i < GUESSES_ALLOWED; i++) {
        ip[15] = (uint8_t)i;
        assert_true(guesses_begin(&table, ip, 1000));
    }
    ip[15] = 200;
    assert_false(guesses_begin(&table, ip, 1000));
    assert_true(guesses_begin(&table, elsewhere, 1000));
}

static void test_crowd_of_addresses_is_bounded(void **state)
{
    uint8_t ip[16];

    (void)state;
    for (uint32_t i = 0; i < 100000; i++) {
        v4(ip, i);
        assert_true(guesses_begin(&table, ip, 1000));
        guesses_right(&table, ip, 2000);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_ten_wrong_ones_and_then_a_wait, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_right_ones_do_not_count, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_neighbours_in_one_ipv6_network_are_one, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_crowd_of_addresses_is_bounded, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
