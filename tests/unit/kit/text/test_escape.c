/* SPDX-License-Identifier: Apache-2.0 */
#include "../../http/guard.h"

#include "escape.h"

#include <stdbool.h>

struct row {
    const char *sentence;
    struct mk_str in, out;
};

/* Each with its input and its room, no byte more, before an inaccessible page. */
static void check(const struct row *rows, size_t count, size_t growth,
                  size_t (*fn)(char *dst, struct mk_str s))
{
    struct guard in = guard_open(1), out = guard_open(1);

    for (size_t i = 0; i < count; i++) {
        char *dst = guard_end(&out, rows[i].in.len * growth);
        size_t len = fn(dst, guard_str(&in, rows[i].in));

        if (len != rows[i].out.len || memcmp(dst, rows[i].out.p, len) != 0)
            fail_msg("%s: gave %.*s", rows[i].sentence, (int)len, dst);
    }
    guard_close(&in);
    guard_close(&out);
}

#define CHECK(rows, growth, fn) check(rows, sizeof(rows) / sizeof((rows)[0]), growth, fn)
#define BAD "\xEF\xBF\xBD"

static void html_has_no_markup_of_a_name(void **state)
{
    static const struct row rows[] = {
        {"plain", MK_STR_INIT("a b"), MK_STR_INIT("a b")},
        {"markup", MK_STR_INIT("<script>&\"'"), MK_STR_INIT("&lt;script&gt;&amp;&quot;&#39;")},
        {"control bytes", MK_STR_INIT("a\n\x01\x7F"), MK_STR_INIT("a" BAD BAD BAD)},
        {"UTF-8 stays", MK_STR_INIT("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x90\x92"),
         MK_STR_INIT("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x90\x92")},
        {"a lone continuation", MK_STR_INIT("a\x80z"), MK_STR_INIT("a" BAD "z")},
        {"a sequence cut off by markup", MK_STR_INIT("\xE2\x82<"), MK_STR_INIT(BAD BAD "&lt;")},
        {"a sequence cut off by the end", MK_STR_INIT("\xF0\x9F\x90"), MK_STR_INIT(BAD BAD BAD)},
        {"overlong forms", MK_STR_INIT("\xC0\xAF\xE0\x80\xAF\xF0\x80\x80\xAF"),
         MK_STR_INIT(BAD BAD BAD BAD BAD BAD BAD BAD BAD)},
        {"a surrogate", MK_STR_INIT("\xED\xA0\x80"), MK_STR_INIT(BAD BAD BAD)},
        {"above U+10FFFF", MK_STR_INIT("\xF4\x90\x80\x80\xF5"), MK_STR_INIT(BAD BAD BAD BAD BAD)},
        {"U+10FFFF", MK_STR_INIT("\xF4\x8F\xBF\xBF"), MK_STR_INIT("\xF4\x8F\xBF\xBF")},
    };

    (void)state;
    CHECK(rows, TEXT_HTML_GROWTH, text_html);
}

static void json_is_one_string(void **state)
{
    static const struct row rows[] = {
        {"plain", MK_STR_INIT("a b<'"), MK_STR_INIT("a b<'")},
        {"quotes", MK_STR_INIT("\"\\"), MK_STR_INIT("\\\"\\\\")},
        {"control bytes", MK_STR_INIT("\n\x1F\x7F"), MK_STR_INIT("\\u000A\\u001F\\u007F")},
        {"UTF-8 stays", MK_STR_INIT("\xC3\xA9"), MK_STR_INIT("\xC3\xA9")},
        {"invalid bytes", MK_STR_INIT("\xFF\"\xC3"), MK_STR_INIT("\\uFFFD\\\"\\uFFFD")},
    };

    (void)state;
    CHECK(rows, TEXT_JSON_GROWTH, text_json);
}

static void json_of_bytes_has_each_byte(void **state)
{
    struct guard out = guard_open(1);
    char *dst = guard_end(&out, TEXT_JSON_GROWTH);

    (void)state;
    for (unsigned c = 0; c < 256; c++) {
        char want[8];

        (void)snprintf(want, sizeof(want), "\\u00%02X", c);
        assert_int_equal(text_json_byte(dst, (unsigned char)c), TEXT_JSON_GROWTH);
        assert_memory_equal(dst, want, TEXT_JSON_GROWTH);
    }
    guard_close(&out);
}

static void a_line_stays_one_line(void **state)
{
    struct guard out = guard_open(1);

    (void)state;
    for (unsigned c = 0; c < 256; c++) {
        bool is_plain = c >= ' ' && c < 0x7f, is_quote = c == '"' || c == '\\';
        size_t len = is_quote ? 2 : is_plain ? 1 : TEXT_LINE_GROWTH;
        char *dst = guard_end(&out, len), want[8];

        (void)snprintf(want, sizeof(want), is_quote ? "\\%c" : is_plain ? "%c" : "\\x%02x", c);
        assert_int_equal(text_line_byte(dst, (unsigned char)c), len);
        assert_memory_equal(dst, want, len);
    }
    guard_close(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(html_has_no_markup_of_a_name),
        cmocka_unit_test(json_is_one_string),
        cmocka_unit_test(json_of_bytes_has_each_byte),
        cmocka_unit_test(a_line_stays_one_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
