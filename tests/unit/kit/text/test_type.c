/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kit/text/type.h"
#include "kit/text/words.h"

/* Types of names in patterns: src/kit/text/type.c. */

static void numbers_have_all_their_bytes_read(void **state)
{
    static const struct {
        const char *text;
        bool is_one;
        int64_t number;
    } rows[] = {
        {"0", true, 0},
        {"-0", true, 0},
        {"+7", true, 7},
        {"007", true, 7},
        {"9223372036854775807", true, INT64_MAX},
        {"9223372036854775808", false, 0},
        {"-9223372036854775808", true, INT64_MIN},
        {"-9223372036854775809", false, 0},
        {"92233720368547758070", false, 0},
        {"", false, 0},
        {"-", false, 0},
        {"+-1", false, 0},
        {" 1", false, 0},
        {"1 ", false, 0},
        {"1.0", false, 0},
        {"0x1", false, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int64_t number = 77;

        assert_int_equal(text_int(mk_str_from(rows[i].text), &number), rows[i].is_one);
        assert_int_equal(number, rows[i].is_one ? rows[i].number : 77);
    }
}

static void types_take_their_values(void **state)
{
    static const char all[] = "uuid uint int hex word";
    static const struct {
        const char *value, *types;
    } rows[] = {
        {"0123abCD-0000-1111-2222-0123456789ab", "uuid word"},
        {"0123abCD-0000-1111-2222-0123456789a", "word"},
        {"0123abCD-0000-1111-2222-0123456789abc", "word"},
        {"0123abCD_0000-1111-2222-0123456789ab", "word"},
        {"17", "uint int hex word"},
        {"-17", "int word"},
        {"+17", "uint int"},
        {"17f", "hex word"},
        {"g_-1", "word"},
        {"99999999999999999999", "hex word"},
        {"a b", ""},
        {"", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct mk_str rest = mk_str_from(all);

        while (rest.len > 0) {
            const struct mk_str name = text_cut(&rest, ' ');
            struct mk_str wanted = mk_str_from(rows[i].types);
            bool is_wanted = false;

            while (!is_wanted && wanted.len > 0)
                is_wanted = text_is(text_cut(&wanted, ' '), name);
            if (text_type_fits(text_type_named(name), mk_str_from(rows[i].value)) != is_wanted)
                fail_msg("%s as %.*s", rows[i].value, (int)name.len, name.p);
        }
    }
}

static void other_names_are_no_types(void **state)
{
    (void)state;
    assert_int_equal(text_type_named(MK_STR("")), TEXT_TYPE_COUNT);
    assert_int_equal(text_type_named(MK_STR("Int")), TEXT_TYPE_COUNT);
    assert_int_equal(text_type_named(MK_STR("integer")), TEXT_TYPE_COUNT);
    assert_true(text_type_fits(TEXT_TYPE_COUNT, MK_STR("a/b")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_all_their_bytes_read),
        cmocka_unit_test(types_take_their_values),
        cmocka_unit_test(other_names_are_no_types),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
