/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "account.h"

static void test_lines_of_the_log_are_bounded(void **state)
{
    struct account *a = limit_account_new(8);
    unsigned unlogged = 77, lines = 0;

    (void)state;
    assert_true(limit_account_may_log(a, 5, &unlogged));
    assert_int_equal(unlogged, 0);
    for (int64_t ms = 6; ms < 5 + ACCOUNT_LOG_MS; ms++)
        lines += limit_account_may_log(a, ms, &unlogged);
    assert_int_equal(lines, 0);
    assert_true(limit_account_may_log(a, 5 + ACCOUNT_LOG_MS, &unlogged));
    assert_int_equal(unlogged, ACCOUNT_LOG_MS - 1);
    limit_account_put(a);
}

static void test_table_lives_until_the_last_reference(void **state)
{
    struct account *a = limit_account_new(8);
    const uint64_t key = limit_table_hash(a->table, "a", 1);

    (void)state;
    (void)limit_account_get(a);
    assert_int_equal(limit_table_enter(a->table, key, 1), TABLE_ENTERED);
    limit_account_put(a);
    limit_table_leave(a->table, key);
    assert_int_equal(limit_table_enter(a->table, key, 1), TABLE_ENTERED);
    limit_account_put(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_of_the_log_are_bounded),
        cmocka_unit_test(test_table_lives_until_the_last_reference),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
