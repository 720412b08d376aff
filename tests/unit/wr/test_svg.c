/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "svg.h"

static void test_numbers_are_short(void **state)
{
    static const struct {
        double value;
        const char *text;
    } rows[] = {{0, "0"},       {0.2, "0.2"},   {12.34, "12.3"}, {999.4, "999"},
                {1000, "1000"}, {9999, "9999"}, {10000, "10k"},  {123456, "123k"},
                {5e6, "5M"},    {2.5e7, "25M"}, {1e300, NULL}};
    char text[16];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const char *is = svg_number(rows[i].value, text);

        if (rows[i].text)
            assert_string_equal(is, rows[i].text);
    }
}

static void test_ticks_are_round(void **state)
{
    (void)state;
    assert_true(svg_round_up(1) == 1);
    assert_true(svg_round_up(1.1) == 2);
    assert_true(svg_round_up(30) == 50);
    assert_true(svg_round_up(51) == 100);
    assert_true(svg_round_up(1000) == 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_are_short),
        cmocka_unit_test(test_ticks_are_round),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
