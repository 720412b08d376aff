/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "settings/field.h"

#include "base/invariant.h"

static void test_nearest_name(void **state)
{
    static const char *const names[] = {"Timeout", "Workers", "User", "UserDir", "FDT", NULL};
    static const struct {
        const char *wrong, *nearest, *why;
    } rows[] = {
        {"Tiemout", "Timeout", "a swap counts once"},
        {"timeot", "Timeout", "a letter missing, another case"},
        {"Timeouts", "Timeout", "a letter too many"},
        {"Wprkerd", "Workers", "two letters replaced"},
        {"Usre", "User", "the nearer of two"},
        {"UserDri", "UserDir", "the nearer of two"},
        {"FD", "FDT", "one of three"},
        {"XYZ", NULL, "nothing near"},
        {"Timexxxt", NULL, "more than a third differs"},
        {"", NULL, "empty"},
        {"TimeoutTimeoutTimeoutTimeoutTimeoutTimeoutTimeoutTimeout", NULL, "too long to be meant"},
    };

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        const char *nearest = mk_nearest_name(mk_str_from(rows[i].wrong), names);

        print_message("\"%s\": %s\n", rows[i].wrong, rows[i].why);
        if (rows[i].nearest)
            assert_string_equal(nearest, rows[i].nearest);
        else
            assert_null(nearest);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nearest_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
