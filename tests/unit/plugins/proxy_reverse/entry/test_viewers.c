/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "entry/viewers.h"

static unsigned nfaults;

void mk_setup_fault(struct mk_setup *setup, const struct mk_origin *at, const char *fmt, ...)
{
    (void)setup;
    (void)at;
    (void)fmt;
    nfaults++;
}

static const uint8_t home[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1};
static const uint8_t away[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 192, 0, 2, 1};

static struct proxy_settings allowing(struct mk_str *words, size_t count)
{
    return (struct proxy_settings){.statistics_allow = {.items = words, .count = count}};
}

static void test_who_may_see_the_pages(void **state)
{
    struct mk_str words[] = {MK_STR("127.0.0.0/8"), MK_STR("unix")};
    struct proxy_settings none = allowing(NULL, 0), net = allowing(words, 1),
                          both = allowing(words, 2);

    (void)state;
    assert_false(proxy_viewers_has(&none, home));
    assert_false(proxy_viewers_has(&none, NULL));
    assert_true(proxy_viewers_has(&net, home));
    assert_false(proxy_viewers_has(&net, away));
    assert_false(proxy_viewers_has(&net, NULL));
    assert_true(proxy_viewers_has(&both, NULL));
    assert_false(proxy_viewers_has(&both, away));
}

static void test_each_wrong_word_is_a_fault(void **state)
{
    struct mk_str words[] = {MK_STR("unix"), MK_STR("::1"), MK_STR("unixx"), MK_STR("1.2.3")};
    struct proxy_settings set = allowing(words, 4);

    (void)state;
    proxy_viewers_check(NULL, &set, NULL);
    assert_int_equal(nfaults, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_may_see_the_pages),
        cmocka_unit_test(test_each_wrong_word_is_a_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
