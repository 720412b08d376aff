/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "kit/gateway/complaint.h"

struct page {
    char text[1 << 17];
    size_t len;
};

static void write_line(void *arg, const char *text)
{
    struct page *page = arg;

    page->len +=
        (size_t)snprintf(page->text + page->len, sizeof(page->text) - page->len, "%s\n", text);
}

static void test_lines(void **state)
{
    static const char bytes[] = "one\n\ntwo\r\nwith \"quotes\" and \\ and \033[1m\xc3\xa4\nno end";
    static const char lines[] =
        "one\ntwo\nwith \\\"quotes\\\" and \\\\ and \\x1b[1m\\xc3\\xa4\nno end\n";

    (void)state;
    for (size_t step = 1; step < sizeof(bytes); step++) {
        struct gateway_complaint c = {.lines = 0};
        struct page page = {.len = 0};

        for (size_t at = 0; at < sizeof(bytes) - 1; at += step) {
            size_t left = sizeof(bytes) - 1 - at;

            gateway_complaint_add(&c, bytes + at, step < left ? step : left, write_line, &page);
        }
        gateway_complaint_end(&c, write_line, &page);
        gateway_complaint_end(&c, write_line, &page);
        assert_string_equal(page.text, lines);
    }
}

static void test_long_lines_are_cut(void **state)
{
    struct gateway_complaint c = {.lines = 0};
    struct page page = {.len = 0};
    char bytes[GATEWAY_COMPLAINT_LINE * 3];

    (void)state;
    memset(bytes, '\1', sizeof(bytes));
    gateway_complaint_add(&c, bytes, sizeof(bytes), write_line, &page);
    gateway_complaint_add(&c, "\nnext\n", 6, write_line, &page);
    assert_int_equal(strlen(page.text), GATEWAY_COMPLAINT_LINE + 6);
    assert_string_equal(page.text + GATEWAY_COMPLAINT_LINE, "\nnext\n");
}

static void test_lines_have_a_bound(void **state)
{
    struct gateway_complaint c = {.lines = 0};
    struct page page = {.len = 0};

    (void)state;
    for (int i = 0; i < GATEWAY_COMPLAINT_LINES * 3; i++)
        gateway_complaint_add(&c, "x\n", 2, write_line, &page);
    assert_int_equal(page.len, GATEWAY_COMPLAINT_LINES * 2 + 4);
    assert_string_equal(page.text + GATEWAY_COMPLAINT_LINES * 2, "...\n");
}

static void test_escaping_into_little_room(void **state)
{
    char dst[8];

    (void)state;
    assert_int_equal(gateway_complaint_escape(dst, sizeof(dst), mk_str_from("/a\nb\nc")), 7);
    assert_string_equal(dst, "/a\\x0ab");
    assert_int_equal(gateway_complaint_escape(dst, 1, mk_str_from("/a")), 0);
    assert_string_equal(dst, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_long_lines_are_cut),
        cmocka_unit_test(test_lines_have_a_bound),
        cmocka_unit_test(test_escaping_into_little_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
