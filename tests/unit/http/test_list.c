/* SPDX-License-Identifier: Apache-2.0 */
#include "guard.h"

#include <monkey/field.h>

static void finds_tokens(void **state)
{
    static const struct {
        const char *sentence, *list, *token;
        bool has;
    } rows[] = {
        {"alone", "close", "close", true},
        {"in any case", "CLOSE", "close", true},
        {"among others", "a, close ,b", "close", true},
        {"without blanks", "a,close", "close", true},
        {"with empty members", ", ,\t,close,", "close", true},
        {"part of a word", "closed, enclose", "close", false},
        {"two words", "close now", "close", false},
        {"nothing", "", "close", false},
        {"only commas", ",,", "close", false},
        {"absent", NULL, "close", false},
    };
    struct guard area = guard_open(64);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct mk_str list = guard_str(&area, mk_str_from(rows[i].list));

        if (mk_list_has_token(list, mk_str_from(rows[i].token)) != rows[i].has)
            fail_msg("%s (RFC 9110 5.6.1)", rows[i].sentence);
    }
    guard_close(&area);
}

static void cuts_members(void **state)
{
    struct mk_str rest = MK_STR(" a ,, b c,\t"), member;

    (void)state;
    assert_true(mk_list_next(&rest, &member));
    assert_int_equal(member.len, 1);
    assert_true(mk_list_next(&rest, &member));
    assert_int_equal(member.len, 3);
    assert_memory_equal(member.p, "b c", 3);
    assert_false(mk_list_next(&rest, &member));
    assert_false(mk_list_next(&rest, &member));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_tokens),
        cmocka_unit_test(cuts_members),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
