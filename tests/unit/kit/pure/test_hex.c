/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/pure/hex.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void each_byte_is_a_digit_or_none(void **state)
{
    static const char lower[] = "0123456789abcdef", upper[] = "0123456789ABCDEF";

    (void)state;
    for (int c = 0; c < 256; c++) {
        const char *in_lower = c ? strchr(lower, c) : NULL, *in_upper = c ? strchr(upper, c) : NULL;
        const int wanted = in_lower   ? (int)(in_lower - lower)
                           : in_upper ? (int)(in_upper - upper)
                                      : -1;

        assert_int_equal(hex_value((char)c), wanted);
    }
}

static void digits_are_those_of_the_lowest_bits(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 64; bits++) {
        assert_int_equal(hex_value(hex_lower(bits)), bits & 15);
        assert_int_equal(hex_value(hex_upper(bits)), bits & 15);
    }
    assert_int_equal(hex_lower(10), 'a');
    assert_int_equal(hex_upper(10), 'A');
}

static void bytes_become_two_digits_each(void **state)
{
    char text[9] = "????????";

    (void)state;
    hex_write(text, "\x00\x1f\xa0\xff", 4);
    assert_string_equal(text, "001fa0ff");
    hex_write(text, "\x12", 0);
    assert_string_equal(text, "001fa0ff");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_byte_is_a_digit_or_none),
        cmocka_unit_test(digits_are_those_of_the_lowest_bits),
        cmocka_unit_test(bytes_become_two_digits_each),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
