/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../gateway/fake.h"
#include "cookie.h"

/* RFC 6265 section 4.2.1: pairs with `;` between them. */
static void test_values(void **state)
{
    static const struct {
        const char *lines[2], *value; /* value NULL: there is none */
    } rows[] = {
        {{"a=1"}, "1"},
        {{"b=2; a=1"}, "1"},
        {{"b=2;a=1;c=3"}, "1"},
        {{" a = 1 "}, "1"},
        {{"a=1; a=2"}, "1"},
        {{"b=2", "a=1"}, "1"}, /* RFC 9113 section 8.2.3 */
        {{"a=x=y"}, "x=y"},
        {{"a="}, ""},
        {{"a"}, ""},
        {{"A=1"}, NULL},
        {{"aa=1; xa=1"}, NULL},
        {{"b=a=1"}, NULL},
        {{";;;"}, NULL},
        {{""}, NULL},
        {{NULL}, NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fake_field fields[4] = {{"X-Cookie", "a=no"}};
        struct mk_request r = {.fields = fields};
        struct mk_str value;

        for (size_t j = 0; j < 2 && rows[i].lines[j]; j++)
            fields[1 + j] = (struct fake_field){j ? "cookie" : "Cookie", rows[i].lines[j]};
        value = cookie_find(&r, MK_STR("a"));
        assert_int_equal(value.len, rows[i].value ? strlen(rows[i].value) : 0);
        if (value.len > 0)
            assert_memory_equal(value.p, rows[i].value, value.len);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
