/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kit/text/choice.h"

static void test_weights_of_types(void **state)
{
    static const struct {
        const char *accept, *type;
        int weight;
    } rows[] = {
        {"", "text/plain", 0},
        {"text/plain", "text/plain", 1000},
        {"TEXT/Plain ; version=0.0.4;q=0.3, a/b;q=0.125", "text/plain", 300},
        {"text/plain;q=0.3, a/b;q=0.125", "a/b", 125},
        {"text/plain;q=0", "text/plain", 0},
        {"*/*", "text/plain", 0},
        {"text/plainer", "text/plain", 0},
        {",,;;q=0.1,text/plain;q", "text/plain", 1000},
        {"text/plain;q=0.12345", "text/plain", 123},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(text_weight(mk_str_from(rows[i].accept), mk_str_from(rows[i].type)),
                         rows[i].weight);
}

static void test_parameters_of_queries(void **state)
{
    struct mk_str query = MK_STR("a=1&format=json&b&=x&c=");

    (void)state;
    assert_string_equal("json&b&=x&c=", text_parameter(query, MK_STR("format")).p);
    assert_int_equal(4, text_parameter(query, MK_STR("format")).len);
    assert_null(text_parameter(query, MK_STR("b")).p);
    assert_null(text_parameter(query, MK_STR("orma")).p);
    assert_int_equal(0, text_parameter(query, MK_STR("c")).len);
    assert_non_null(text_parameter(query, MK_STR("c")).p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_weights_of_types),
        cmocka_unit_test(test_parameters_of_queries),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
