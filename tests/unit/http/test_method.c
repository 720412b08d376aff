/* SPDX-License-Identifier: Apache-2.0 */
#include "guard.h"

#include "http/method.h"

static void names_and_tokens_agree(void **state)
{
    (void)state;
    for (int m = MK_METHOD_OTHER + 1; m < MK_METHOD_COUNT; m++) {
        struct mk_str name = mk_method_name((enum mk_method)m);

        assert_true(name.len >= 3);
        assert_int_equal(mk_method_from(name), m);
    }
    assert_int_equal(mk_method_name(MK_METHOD_OTHER).len, 0);
    assert_memory_equal(mk_method_name(MK_METHOD_OPTIONS).p, "OPTIONS", 7);
}

static void others_are_other(void **state)
{
    static const char *const tokens[] = {"get",    "GE",       "GETS", "PROPFIND",
                                         "OPTION", "CONNECTS", "X"};
    struct guard area = guard_open(64);

    (void)state;
    for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++)
        assert_int_equal(mk_method_from(guard_str(&area, mk_str_from(tokens[i]))), MK_METHOD_OTHER);
    assert_int_equal(mk_method_from(guard_str(&area, MK_STR(""))), MK_METHOD_OTHER);
    guard_close(&area);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_tokens_agree),
        cmocka_unit_test(others_are_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
