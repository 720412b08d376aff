/* SPDX-License-Identifier: Apache-2.0 */
#include "listing_test.h"

#include "text.h"

struct row {
    const char *sentence;
    struct mk_str in, out;
};

/* Each in memory of exactly the promised size, which ASan watches. */
static void check(const struct row *rows, size_t count, size_t growth,
                  size_t (*fn)(char *dst, struct mk_str s))
{
    for (size_t i = 0; i < count; i++) {
        char *in = malloc(rows[i].in.len ? rows[i].in.len : 1);
        char *out = malloc(rows[i].in.len * growth + 1);
        size_t len;

        assert_non_null(in);
        assert_non_null(out);
        memcpy(in, rows[i].in.p, rows[i].in.len);
        len = fn(out, (struct mk_str){in, rows[i].in.len});
        if (len != rows[i].out.len || memcmp(out, rows[i].out.p, len) != 0)
            fail_msg("%s: gave %.*s", rows[i].sentence, (int)len, out);
        assert_true(len <= rows[i].in.len * growth);
        free(in);
        free(out);
    }
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
    CHECK(rows, DIRLISTING_HTML_GROWTH, dirlisting_html);
}

static void json_is_one_string(void **state)
{
    static const struct row rows[] = {
        {"plain", MK_STR_INIT("a b<'"), MK_STR_INIT("a b<'")},
        {"quotes", MK_STR_INIT("\"\\"), MK_STR_INIT("\\\"\\\\")},
        {"control bytes", MK_STR_INIT("\n\x1F\x7F"), MK_STR_INIT("\\u000a\\u001f\\u007f")},
        {"UTF-8 stays", MK_STR_INIT("\xC3\xA9"), MK_STR_INIT("\xC3\xA9")},
        {"invalid bytes", MK_STR_INIT("\xFF\"\xC3"), MK_STR_INIT("\\ufffd\\\"\\ufffd")},
    };

    (void)state;
    CHECK(rows, DIRLISTING_JSON_GROWTH, dirlisting_json);
}

static void urls_keep_every_byte(void **state)
{
    static const struct row rows[] = {
        {"unreserved", MK_STR_INIT("aZ09-._~"), MK_STR_INIT("aZ09-._~")},
        {"what means something in a URL", MK_STR_INIT("%?#&;/\\"),
         MK_STR_INIT("%25%3F%23%26%3B%2F%5C")},
        {"no scheme", MK_STR_INIT("javascript:x"), MK_STR_INIT("javascript%3Ax")},
        {"any byte", MK_STR_INIT("\x01\n \xFF\"<"), MK_STR_INIT("%01%0A%20%FF%22%3C")},
    };

    (void)state;
    CHECK(rows, DIRLISTING_URL_GROWTH, dirlisting_url);
}

static void sizes_are_for_people(void **state)
{
    static const struct {
        int64_t bytes;
        const char *text;
    } rows[] = {
        {0, "0 B"},
        {1, "1 B"},
        {1023, "1023 B"},
        {1024, "1.0 KiB"},
        {1536, "1.5 KiB"},
        {10188, "9.9 KiB"},
        {10189, "10 KiB"},
        {1023 * 1024, "1023 KiB"},
        {1024 * 1024 - 1, "1.0 MiB"},
        {INT64_C(5) << 30, "5.0 GiB"},
        {INT64_MAX, "8.0 EiB"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[DIRLISTING_SIZE_MAX];
        size_t len = dirlisting_size(text, rows[i].bytes);

        assert_string_equal(text, rows[i].text);
        assert_int_equal(len, strlen(text));
    }
}

static void times_are_iso_in_utc(void **state)
{
    static const struct {
        int64_t seconds;
        const char *text;
    } rows[] = {
        {0, "1970-01-01T00:00:00Z"},
        {951782400, "2000-02-29T00:00:00Z"},
        {1795283216, "2026-11-21T17:46:56Z"},
        {-1, "1969-12-31T23:59:59Z"},
        {253402300799, "9999-12-31T23:59:59Z"},
        {253402300800, ""},
        {INT64_MAX, ""},
        {INT64_MIN, ""},
    };

    (void)state;
    setenv("TZ", "America/New_York", 1);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[DIRLISTING_TIME_MAX] = "";
        size_t len = dirlisting_time(text, rows[i].seconds, 'T');

        assert_string_equal(text, rows[i].text);
        assert_int_equal(len, strlen(rows[i].text));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(html_has_no_markup_of_a_name), cmocka_unit_test(json_is_one_string),
        cmocka_unit_test(urls_keep_every_byte),         cmocka_unit_test(sizes_are_for_people),
        cmocka_unit_test(times_are_iso_in_utc),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
