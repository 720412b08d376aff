/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "backends/sticky.h"

#define KEY "0123456789abcdef"

/* The same on every machine and in every version: several proxies with one StickyKey rely on it. */
static void test_a_value_that_is_known(void **state)
{
    char text[PROXY_STICKY_LEN + 1] = "";

    (void)state;
    /* RFC 4231 section 4.3: the first half of the first half */
    proxy_sticky_write(text, "Jefe", "what do ya want for nothing?");
    assert_string_equal(text, "5bdcc146bf60754e");
}

static void test_key_and_name_decide(void **state)
{
    static const struct {
        const char *key, *backend;
    } rows[] = {
        {KEY, "10.0.0.1:80"}, {KEY, "10.0.0.2:80"}, {KEY, "10.0.0.1"}, {KEY "0", "10.0.0.1:80"}};
    char texts[4][PROXY_STICKY_LEN];

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        proxy_sticky_write(texts[i], rows[i].key, rows[i].backend);
        for (size_t j = 0; j < i; j++)
            assert_memory_not_equal(texts[i], texts[j], PROXY_STICKY_LEN);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_value_that_is_known),
        cmocka_unit_test(test_key_and_name_decide),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
