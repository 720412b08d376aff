/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "conf/scan_int.h"

#include "base/invariant.h"
#include "base/str.h"

static void test_lines(void **state)
{
    static const struct {
        const char *text, *lines[4], *why;
    } rows[] = {
        {"", {NULL}, "nothing"},
        {"\n", {"", NULL}, "one empty line"},
        {"a\nb\n", {"a", "b", NULL}, "LF"},
        {"a\r\nb\r\n", {"a", "b", NULL}, "CRLF"},
        {"a\nb", {"a", "b", NULL}, "no final newline"},
        {"a\rb\n", {"a\rb", NULL}, "a lone CR ends nothing"},
        {"a\r", {"a\r", NULL}, "nor at the end of the text"},
        {"\r\n", {"", NULL}, "an empty line with CRLF"},
        {"\xef\xbb\xbfkey\n", {"key", NULL}, "a byte order mark"},
        {"\xef\xbb", {"\xef\xbb", NULL}, "half a byte order mark"},
        {"\xef\xbb\xbf", {NULL}, "nothing but a byte order mark"},
    };

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        struct mk_scan scan;
        struct mk_str line;
        size_t n = 0;

        print_message("%s\n", rows[i].why);
        mk_scan_init(&scan, mk_str_from(rows[i].text));
        while (mk_scan_line(&scan, &line)) {
            assert_non_null(rows[i].lines[n]);
            assert_true(mk_str_eq(line, mk_str_from(rows[i].lines[n++])));
            assert_int_equal(scan.line, n);
        }
        assert_null(rows[i].lines[n]);
    }
}

static void test_parts(void **state)
{
    static const struct {
        const char *line, *indent, *key, *value, *why;
    } rows[] = {
        {"    Key value", "    ", "Key", "value", "the usual"},
        {"\tKey\t two words \t", "\t", "Key", "two words", "tabs, and blanks trimmed"},
        {"Key", "", "Key", "", "a key alone"},
        {"  Key   ", "  ", "Key", "", "a key and blanks"},
        {" Key # no comment", " ", "Key", "# no comment", "a # within stays"},
        {" Key a#b", " ", "Key", "a#b", "a # within a word"},
        {"# Key value", NULL, NULL, NULL, "a comment in column 0"},
        {" \t # Key value", NULL, NULL, NULL, "a comment after blanks"},
        {" \t ", NULL, NULL, NULL, "blanks"},
        {"", NULL, NULL, NULL, "an empty line"},
    };

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        struct mk_conf_line parts;
        bool any = mk_scan_parts(mk_str_from(rows[i].line), &parts);

        print_message("%s\n", rows[i].why);
        assert_int_equal(any, rows[i].key != NULL);
        if (!any)
            continue;
        assert_true(mk_str_eq(parts.indent, mk_str_from(rows[i].indent)));
        assert_true(mk_str_eq(parts.key, mk_str_from(rows[i].key)));
        assert_true(mk_str_eq(parts.value, mk_str_from(rows[i].value)));
    }
}

static void test_bad_bytes(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++) {
        char text[] = {'a', '\t', (char)c};
        bool bad = (c < 0x20 && c != '\t') || c == 0x7f;

        assert_int_equal(mk_scan_bad_byte((struct mk_str){text, 3}), bad ? 2 : 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_bad_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
