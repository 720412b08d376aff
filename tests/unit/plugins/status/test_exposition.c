/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "exposition.h"

#include <math.h>
#include <stdio.h>

static struct page page;
static struct exposition e;

static void expect(const char *text)
{
    status_exposition_end(&e);
    page_bytes(&page, (struct mk_str){"", 1});
    assert_false(page.failed);
    assert_string_equal(page.p, text);
    page_free(&page);
}

static void begin(enum exposition_format format)
{
    status_exposition_begin(&e, &page, format);
}

static void put(const char *name, enum exposition_type type, double value)
{
    const struct exposition_sample s = {
        .name = name, .help = "Help.", .type = type, .value = value};

    status_exposition_put(&e, &s);
}

static void put_label(const char *label, struct mk_str value)
{
    const struct exposition_sample s = {
        .name = "m", .help = "Help.", .labels = {{label, value}}, .nlabels = 1, .value = 1};

    status_exposition_put(&e, &s);
}

/* ---- hostile texts ---- */

static void test_values_of_labels_are_escaped(void **state)
{
    static const struct {
        struct mk_str value;
        const char *text;
    } rows[] = {
        {MK_STR_INIT(""), ""},
        {MK_STR_INIT("plain"), "plain"},
        {MK_STR_INIT("a\"} 1\nb{c=\""), "a\\\"} 1\\nb{c=\\\""},
        {MK_STR_INIT("\\"), "\\\\"},
        {MK_STR_INIT("\\n"), "\\\\n"},
        {MK_STR_INIT("\n"), "\\n"},
        {MK_STR_INIT("\r\t"), "\r\t"},
        {MK_STR_INIT("d\xC3\xA9j\xC3\xA0"), "d\xC3\xA9j\xC3\xA0"},
        {MK_STR_INIT("\xFF"), "\xEF\xBF\xBD"},
        {MK_STR_INIT("\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD"},                 /* overlong */
        {MK_STR_INIT("x\xE2\x82"), "x\xEF\xBF\xBD\xEF\xBF\xBD"},               /* cut off */
        {MK_STR_INIT("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"}, /* a surrogate */
    };
    char text[256];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        begin(EXPOSITION_PROMETHEUS);
        put_label("l", rows[i].value);
        (void)snprintf(text, sizeof(text), "# HELP m Help.\n# TYPE m gauge\nm{l=\"%s\"} 1\n",
                       rows[i].text);
        expect(text);
    }
}

static void test_every_byte_in_a_label_keeps_its_line(void **state)
{
    (void)state;
    for (unsigned byte = 0; byte < 256; byte++) {
        const char value[] = {'a', (char)byte, 'z'};
        unsigned lines = 0;

        begin(EXPOSITION_PROMETHEUS);
        put_label("l", (struct mk_str){value, 3});
        for (size_t i = 0; i < page.len; i++)
            lines += page.p[i] == '\n';
        assert_int_equal(lines, 3);
        assert_memory_equal(page.p + page.len - 6, "z\"} 1\n", 6);
        page_free(&page);
    }
}

static void test_help_is_escaped(void **state)
{
    const struct exposition_sample s = {.name = "m", .help = "a \"b\"\\\nc", .value = 1};

    (void)state;
    begin(EXPOSITION_PROMETHEUS);
    status_exposition_put(&e, &s);
    expect("# HELP m a \"b\"\\\\\\nc\n# TYPE m gauge\nm 1\n");
    begin(EXPOSITION_OPENMETRICS);
    status_exposition_put(&e, &s);
    expect("# HELP m a \\\"b\\\"\\\\\\nc\n# TYPE m gauge\nm 1\n# EOF\n");
}

/* ---- hostile names ---- */

static void test_what_has_no_name_is_left_out(void **state)
{
    static const char *const names[] = {"",   "1a",  "a b",      "a-b", "a\"",
                                        "a{", "a\n", "\xC3\xA9", "a.b"};
    static const char *const labels[] = {"", "1a", "a b", "a:b", "__name__", "a=", "\xC3\xA9"};
    char longest[EXPOSITION_NAME_MAX + 2] = "";

    (void)state;
    begin(EXPOSITION_PROMETHEUS);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        put(names[i], EXPOSITION_GAUGE, 1);
    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
        put_label(labels[i], MK_STR("v"));
    memset(longest, 'a', EXPOSITION_NAME_MAX + 1);
    put(longest, EXPOSITION_GAUGE, 1);
    assert_int_equal(e.left_out, 9 + 7 + 1);
    put("a:b_1", EXPOSITION_GAUGE, 1);
    expect("# HELP a:b_1 Help.\n# TYPE a:b_1 gauge\na:b_1 1\n");
}

static void test_a_label_twice_is_left_out(void **state)
{
    const struct exposition_sample s = {
        .name = "m", .labels = {{"a", MK_STR_INIT("1")}, {"a", MK_STR_INIT("2")}}, .nlabels = 2};

    (void)state;
    begin(EXPOSITION_PROMETHEUS);
    status_exposition_put(&e, &s);
    assert_int_equal(e.left_out, 1);
    expect("");
}

static void test_a_family_is_written_in_one_place(void **state)
{
    (void)state;
    begin(EXPOSITION_PROMETHEUS);
    put("a", EXPOSITION_GAUGE, 1);
    put("b", EXPOSITION_GAUGE, 2);
    put("a", EXPOSITION_GAUGE, 3);
    put("b_total", EXPOSITION_COUNTER, 4); /* OpenMetrics would call it b */
    assert_int_equal(e.left_out, 2);
    expect("# HELP a Help.\n# TYPE a gauge\na 1\n# HELP b Help.\n# TYPE b gauge\nb 2\n");
}

static void test_families_are_bounded(void **state)
{
    char name[16];

    (void)state;
    begin(EXPOSITION_PROMETHEUS);
    for (unsigned i = 0; i < EXPOSITION_FAMILIES + 3; i++) {
        (void)snprintf(name, sizeof(name), "m%u", i);
        put(name, EXPOSITION_GAUGE, 1);
    }
    assert_int_equal(e.left_out, 3);
    assert_false(page.failed);
    page_free(&page);
}

/* ---- formats ---- */

static void test_counters_of_openmetrics(void **state)
{
    (void)state;
    begin(EXPOSITION_OPENMETRICS);
    put("a_total", EXPOSITION_COUNTER, 1);
    put("b", EXPOSITION_COUNTER, 2);
    put("_total", EXPOSITION_COUNTER, 3);
    expect("# HELP a Help.\n# TYPE a counter\na_total 1\n"
           "# HELP b Help.\n# TYPE b unknown\nb 2\n"
           "# HELP _total Help.\n# TYPE _total unknown\n_total 3\n# EOF\n");
}

static void test_histograms(void **state)
{
    struct exposition_sample s = {.name = "h",
                                  .suffix = "_bucket",
                                  .help = "Help.",
                                  .type = EXPOSITION_HISTOGRAM,
                                  .labels = {{"le", MK_STR_INIT("+Inf")}},
                                  .nlabels = 1,
                                  .value = 2};

    (void)state;
    begin(EXPOSITION_PROMETHEUS);
    status_exposition_put(&e, &s);
    s.nlabels = 0;
    s.suffix = "_count";
    status_exposition_put(&e, &s);
    expect("# HELP h Help.\n# TYPE h histogram\nh_bucket{le=\"+Inf\"} 2\nh_count 2\n");
}

static void test_json(void **state)
{
    (void)state;
    begin(EXPOSITION_JSON);
    put("a", EXPOSITION_GAUGE, INFINITY);
    put_label("l", MK_STR("\"\\\n\xFF"));
    expect("[{\"name\": \"a\", \"labels\": {}, \"value\": null},\n"
           "{\"name\": \"m\", \"labels\": {\"l\": \"\\\"\\\\\\u000A\\uFFFD\"}, \"value\": 1}]");
    begin(EXPOSITION_JSON);
    expect("[]");
}

static void expect_number(double value, const char *text)
{
    status_exposition_number(&page, value, false);
    page_bytes(&page, (struct mk_str){"", 1});
    assert_string_equal(page.p, text);
    page_free(&page);
}

static void test_numbers(void **state)
{
    (void)state;
    expect_number(0, "0");
    expect_number(-1.5, "-1.5");
    expect_number(0.0625, "0.0625");
    expect_number(0.1, "0.1");
    expect_number(9007199254740991, "9007199254740991");
    expect_number(1e300, "1e+300");
    expect_number(1.25e-7, "1.25e-07");
    expect_number(INFINITY, "+Inf");
    expect_number(-INFINITY, "-Inf");
    expect_number(NAN, "NaN");
}

static void test_numbers_of_other_locales(void **state)
{
    static const struct {
        const char *text, *expected;
    } rows[] = {
        {"0,0625", "0.0625"},
        {"-1,25e-07", "-1.25e-07"},
        {"1\xD9\xAB"
         "5",
         "1.5"}, /* the Arabic separator */
        {"17", "17"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        status_exposition_put_digits(&page, rows[i].text);
        page_bytes(&page, (struct mk_str){"", 1});
        assert_string_equal(page.p, rows[i].expected);
        page_free(&page);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_of_labels_are_escaped),
        cmocka_unit_test(test_every_byte_in_a_label_keeps_its_line),
        cmocka_unit_test(test_help_is_escaped),
        cmocka_unit_test(test_what_has_no_name_is_left_out),
        cmocka_unit_test(test_a_label_twice_is_left_out),
        cmocka_unit_test(test_a_family_is_written_in_one_place),
        cmocka_unit_test(test_families_are_bounded),
        cmocka_unit_test(test_counters_of_openmetrics),
        cmocka_unit_test(test_histograms),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_numbers_of_other_locales),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
