/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/pure/number.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void only_digits_up_to_a_bound_are_a_number(void **state)
{
    static const struct {
        const char *text;
        uint32_t max, number;
    } rows[] = {
        {"7", 7, 7},
        {"8", 7, 0},
        {"0", 7, 0},
        {"00000000000000000000000000000042", 42, 42},
        {"4294967295", UINT32_MAX, UINT32_MAX},
        {"4294967296", UINT32_MAX, 0},
        {"18446744073709551617", UINT32_MAX, 0},
        {"99999999999999999999999999999999", UINT32_MAX, 0},
        {"", 9, 0},
        {"-1", 9, 0},
        {"+1", 9, 0},
        {" 1", 9, 0},
        {"1 ", 9, 0},
        {"1s", 9, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(number_of(mk_str_from(rows[i].text), rows[i].max), rows[i].number);
    assert_int_equal(number_of((struct mk_str){NULL, 0}, 9), 0);
}

static void numbers_become_digits(void **state)
{
    static const struct {
        uint64_t number;
        const char *text;
    } written[] = {{0, "0"},
                   {9, "9"},
                   {10, "10"},
                   {1234567890, "1234567890"},
                   {UINT64_MAX, "18446744073709551615"}};
    char room[NUMBER_TEXT], padded[8] = "???????";

    (void)state;
    for (size_t i = 0; i < sizeof(written) / sizeof(written[0]); i++) {
        const struct mk_str text = number_text(room, written[i].number);

        assert_int_equal(text.len, strlen(written[i].text));
        assert_memory_equal(text.p, written[i].text, text.len);
    }
    assert_ptr_equal(number_padded(padded, 3, 7), padded + 3);
    assert_memory_equal(padded, "007????", 7);
    (void)number_padded(padded, 2, 12345);
    assert_memory_equal(padded, "457????", 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_digits_up_to_a_bound_are_a_number),
        cmocka_unit_test(numbers_become_digits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
