/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "backends/drain.h"
#include "fake_facts.h"
#include "statistics/order.h"

/* Orders of administrators and their replies. */

static struct proxy_facts facts[] = {
    {.name = "10.0.0.1:80", .health = {.state = HEALTH_UP}, .active = 2},
    {.name = "10.0.0.2:80", .health = {.state = HEALTH_OFFLINE}, .is_backup = true},
    {.name = "b", .health = {.state = HEALTH_UP}},
};

void proxy_drain(const struct proxy_entry *entry, unsigned i, bool drains)
{
    facts[entry->group->facts - facts + i].is_drained = drains;
}

static char told[4096]; /* KEY: VALUE, a line each */

static void tell(void *arg, const char *key, struct mk_str value)
{
    size_t len = strlen(told);

    assert_ptr_equal(arg, told);
    (void)snprintf(told + len, sizeof(told) - len, "%s: %.*s\n", key, (int)value.len, value.p);
}

static int order(const char *one, const char *two, const char *three)
{
    struct proxy_group groups[] = {{2, facts}, {1, facts + 2}};
    struct proxy_entry second = {.name = "two", .group = &groups[1]};
    struct proxy_entry first = {.name = "Shop", .group = &groups[0], .next = &second};
    struct proxy_config config = {.entries = &first};
    struct mk_context ctx = {.size = sizeof(ctx), .config = &config};
    const char *const texts[] = {one, two, three};
    struct mk_str words[3];
    size_t n = 0;

    for (; n < 3 && texts[n]; n++)
        words[n] = mk_str_from(texts[n]);
    told[0] = '\0';
    return proxy_order(&ctx, words, n, tell, told);
}

static void test_a_list(void **state)
{
    (void)state;
    assert_int_equal(order(NULL, NULL, NULL), 0);
    assert_string_equal(told, "1: Shop 10.0.0.1:80 up, 2 requests\n"
                              "2: Shop 10.0.0.2:80 offline, backup, 0 requests\n"
                              "3: two b up, 0 requests\n");
}

static void test_drained_and_back(void **state)
{
    (void)state;
    assert_int_equal(order("drain", "shop", "10.0.0.1:80"), 0); /* names in any case */
    assert_true(facts[0].is_drained);
    assert_string_equal(told, "entry: Shop\nbackend: 10.0.0.1:80\ndrained: yes\nrequests: 2\n"
                              "free: no\n");
    facts[0].active = 0;
    assert_int_equal(order("drain", "Shop", "10.0.0.1:80"), 0);
    assert_non_null(strstr(told, "free: yes\n"));
    assert_int_equal(order(NULL, NULL, NULL), 0);
    assert_non_null(strstr(told, "1: Shop 10.0.0.1:80 up, drained, 0 requests\n"));
    assert_int_equal(order("undrain", "Shop", "10.0.0.1:80"), 0);
    assert_string_equal(told, "entry: Shop\nbackend: 10.0.0.1:80\ndrained: no\nrequests: 0\n");
    assert_false(facts[0].is_drained);
    facts[0].active = 2;
}

static void test_what_is_no_order(void **state)
{
    static const struct {
        const char *words[3], *told;
        int error;
    } rows[] = {
        {{"drain"}, "expected drain or undrain", MK_E_INVALID},
        {{"drain", "Shop"}, "expected drain or undrain", MK_E_INVALID},
        {{"stop", "Shop", "b"}, "expected drain or undrain", MK_E_INVALID},
        {{"drain", "shops", "b"}, "error: there is no entry \"shops\"\n", MK_E_NOENT},
        {{"drain", "Shop", "b"}, "error: the entry has no server \"b\"\n", MK_E_NOENT},
        {{"drain", "Shop", "10.0.0.1"}, "error: the entry has no server", MK_E_NOENT},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(order(rows[i].words[0], rows[i].words[1], rows[i].words[2]),
                         rows[i].error);
        assert_non_null(strstr(told, rows[i].told));
        assert_false(facts[0].is_drained || facts[1].is_drained || facts[2].is_drained);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_list),
        cmocka_unit_test(test_drained_and_back),
        cmocka_unit_test(test_what_is_no_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
