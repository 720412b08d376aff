/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kit/page/page.h"

static void expect(struct page *page, const char *text)
{
    assert_false(page->failed);
    assert_int_equal(page->len, strlen(text));
    assert_memory_equal(page->p, text, page->len);
    page_free(page);
}

static void test_nothing_of_others_becomes_markup(void **state)
{
    struct page page = {0};

    (void)state;
    page_html(&page, MK_STR("a<b>&\"'\n\x80z"));
    expect(&page, "a&lt;b&gt;&amp;&quot;&#39;\xEF\xBF\xBD\xEF\xBF\xBDz");
}

static void test_any_bytes_are_a_json_string(void **state)
{
    struct page page = {0};

    (void)state;
    page_json(&page, MK_STR("a\"\\\n\xff\x7f/"));
    expect(&page, "\"a\\\"\\\\\\u000A\\uFFFD\\u007F/\"");
}

static void test_pieces_follow_each_other(void **state)
{
    struct page page = {0};

    (void)state;
    page_put(&page, "one ");
    page_printf(&page, "%d %s", 2, "three");
    expect(&page, "one 2 three");
}

static void test_members_have_commas_between_them(void **state)
{
    struct page page = {0};

    (void)state;
    page_put(&page, "{");
    page_member_text(&page, "a", "{\"");
    page_member_number(&page, "b", UINT64_MAX);
    page_member(&page, "c");
    page_put(&page, "{");
    page_member(&page, "d");
    page_put(&page, "[]}");
    page_member_number(&page, "e", 0);
    page_put(&page, "}");
    expect(&page, "{\"a\": \"{\\\"\", \"b\": 18446744073709551615, \"c\": {\"d\": []}, \"e\": 0}");
}

static void test_it_grows_to_its_bound_and_no_further(void **state)
{
    static char piece[4097];
    struct page page = {0};

    (void)state;
    memset(piece, 'x', sizeof(piece) - 1);
    for (size_t i = 0; i < PAGE_MAX / (sizeof(piece) - 1); i++)
        page_put(&page, piece);
    assert_false(page.failed);
    assert_int_equal(page.len, PAGE_MAX);
    page_put(&page, "x");
    assert_true(page.failed);
    page_free(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_of_others_becomes_markup),
        cmocka_unit_test(test_any_bytes_are_a_json_string),
        cmocka_unit_test(test_pieces_follow_each_other),
        cmocka_unit_test(test_members_have_commas_between_them),
        cmocka_unit_test(test_it_grows_to_its_bound_and_no_further),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
