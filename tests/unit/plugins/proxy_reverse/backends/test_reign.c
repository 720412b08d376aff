/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "backends/backend_int.h"

static void test_a_reload_ends_the_reign_before(void **state)
{
    struct proxy_config first = {0}, second = {0};

    (void)state;
    assert_int_equal(proxy_reign_begin(&first, NULL), 0);
    assert_false(first.reign->is_over);
    assert_int_equal(proxy_reign_begin(&second, &first), 0);
    assert_true(first.reign->is_over);
    assert_false(second.reign->is_over);
    proxy_reign_end(&first);
    assert_null(first.reign);
    assert_true(second.before->is_over);
    proxy_reign_end(&second);
}

static void test_one_that_is_refused_hands_back(void **state)
{
    struct proxy_config first = {0}, refused = {0};

    (void)state;
    assert_int_equal(proxy_reign_begin(&first, NULL), 0);
    assert_int_equal(proxy_reign_begin(&refused, &first), 0);
    proxy_reign_end(&refused);
    assert_false(first.reign->is_over);
    proxy_reign_end(&first);
}

static void test_checks_keep_it_to_know_of_its_end(void **state)
{
    struct proxy_config first = {0}, second = {0};
    struct proxy_reign *kept;

    (void)state;
    assert_int_equal(proxy_reign_begin(&first, NULL), 0);
    kept = proxy_reign_get(first.reign);
    assert_int_equal(proxy_reign_begin(&second, &first), 0);
    proxy_reign_end(&first);
    assert_true(kept->is_over);
    proxy_reign_end(&second);
    proxy_reign_put(kept);
    proxy_reign_put(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_reload_ends_the_reign_before),
        cmocka_unit_test(test_one_that_is_refused_hands_back),
        cmocka_unit_test(test_checks_keep_it_to_know_of_its_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
