/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "entry/balancers.h"

static void test_names_in_any_spelling(void **state)
{
    static const struct {
        const char *text;
        int balancer;
    } rows[] = {
        {"Naive", PROXY_NAIVE},
        {"first alive", PROXY_FIRST_ALIVE},
        {"FIRST_ALIVE", PROXY_FIRST_ALIVE},
        {"round-robin", PROXY_ROUND_ROBIN},
        {"Lockless", PROXY_ROUND_ROBIN},
        {"Lockless Round Robin", PROXY_ROUND_ROBIN},
        {"random2", PROXY_RANDOM2},
        {"random", -1},
        {"random22", -1},
        {"", -1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (proxy_balancer_find(mk_str_from(rows[i].text)) != rows[i].balancer)
            fail_msg("%s", rows[i].text);
    }
}

/* What the page of statistics shows can be written into the configuration. */
static void test_each_balancer_is_found_by_its_name(void **state)
{
    (void)state;
    for (int i = 0; i < PROXY_BALANCER_COUNT; i++)
        assert_int_equal(proxy_balancer_find(mk_str_from(proxy_balancer_names[i])), i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_in_any_spelling),
        cmocka_unit_test(test_each_balancer_is_found_by_its_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
