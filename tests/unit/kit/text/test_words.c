/* SPDX-License-Identifier: Apache-2.0 */
#include "../../http/guard.h"

#include "words.h"

/* Each text ends at an inaccessible page. */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct mk_str absent = {NULL, 0};

static void test_words_are_cut_off_one_by_one(void **state)
{
    static const struct {
        struct mk_str text;
        const char *words[4];
    } rows[] = {
        {MK_STR_INIT(""), {NULL}},
        {MK_STR_INIT(" \t "), {NULL}},
        {MK_STR_INIT("a"), {"a"}},
        {MK_STR_INIT("  a\t\tbc  "), {"a", "bc"}},
        {MK_STR_INIT("one two,three \"four"), {"one", "two,three", "\"four"}},
        {MK_STR_INIT("a\nb"), {"a\nb"}},
    };
    struct guard g = guard_open(1);

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mk_str rest = guard_str(&g, rows[i].text), word;

        for (unsigned n = 0; rows[i].words[n]; n++) {
            word = text_next_word(&rest);
            assert_true(text_is(word, mk_str_from(rows[i].words[n])));
            assert_true(rest.len == 0 || !text_is_blank(*rest.p));
        }
        word = text_next_word(&rest);
        assert_null(word.p);
        assert_int_equal(word.len, 0);
        assert_int_equal(rest.len, 0);
    }
    guard_close(&g);
}

static void test_an_absent_text_has_no_words(void **state)
{
    struct mk_str rest = absent;

    (void)state;
    assert_null(text_next_word(&rest).p);
    rest = absent;
    assert_int_equal(text_cut(&rest, '&').len, 0);
    assert_int_equal(text_trim(absent).len, 0);
    assert_true(text_is(absent, MK_STR("")));
    assert_true(text_is_word(MK_STR(""), absent));
    assert_true(text_begins(absent, absent));
    assert_false(text_begins(absent, MK_STR("a")));
}

static void test_blanks_around_a_text_go(void **state)
{
    struct guard g = guard_open(1);

    (void)state;
    assert_true(text_is(text_trim(guard_str(&g, MK_STR(" \ta b\t "))), MK_STR("a b")));
    assert_true(text_is(text_trim(guard_str(&g, MK_STR("a"))), MK_STR("a")));
    assert_int_equal(text_trim(guard_str(&g, MK_STR("  \t"))).len, 0);
    guard_close(&g);
}

static void test_a_text_is_cut_at_a_character(void **state)
{
    struct guard g = guard_open(1);
    struct mk_str rest = guard_str(&g, MK_STR("a=1&&b"));

    (void)state;
    assert_true(text_is(text_cut(&rest, '&'), MK_STR("a=1")));
    assert_true(text_is(text_cut(&rest, '&'), MK_STR("")));
    assert_true(text_is(text_cut(&rest, '&'), MK_STR("b")));
    assert_int_equal(rest.len, 0);
    rest = guard_str(&g, MK_STR("a&"));
    assert_true(text_is(text_cut(&rest, '&'), MK_STR("a")));
    assert_int_equal(rest.len, 0);
    guard_close(&g);
}

static void test_only_ascii_letters_have_cases(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++) {
        bool is_upper = c >= 'A' && c <= 'Z';

        assert_int_equal(text_lower((char)c), (char)(is_upper ? c + 'a' - 'A' : c));
    }
    assert_true(text_is_word(MK_STR("tlsV1.3"), MK_STR("TLSv1.3")));
    assert_false(text_is_word(MK_STR("[a"), MK_STR("{a")));
    assert_false(text_is_word(MK_STR("\xC9"), MK_STR("\xE9")));
    assert_false(text_is(MK_STR("A"), MK_STR("a")));
}

static void test_a_beginning_ends_where_the_text_may(void **state)
{
    struct guard g = guard_open(1);

    (void)state;
    assert_true(text_begins(guard_str(&g, MK_STR("HTTP://")), MK_STR("http://")));
    assert_false(text_begins(guard_str(&g, MK_STR("http:/")), MK_STR("http://")));
    assert_true(text_begins(guard_str(&g, MK_STR("basic x")), MK_STR("Basic ")));
    assert_false(text_is_word(guard_str(&g, MK_STR("onn")), MK_STR("on")));
    guard_close(&g);
}

static void test_a_copy_in_lower_case_is_terminated(void **state)
{
    struct guard g = guard_open(1);
    char *dst = guard_end(&g, 5);

    (void)state;
    text_lower_copy(dst, MK_STR("A-\xC9z"));
    assert_string_equal(dst, "a-\xC9z");
    text_lower_copy(guard_end(&g, 1), absent);
    guard_close(&g);
}

static void orders_for_the_server_in_front_are_known(void **state)
{
    static const struct {
        const char *name;
        bool is_order;
    } rows[] = {
        {"X-Accel-Redirect", true},
        {"x-accel-buffering", true},
        {"X-SENDFILE", true},
        {"X-LIGHTTPD-send-file", true},
        {"X-Accel", false},
        {"X-Sendfiles", false},
        {"X-", false},
        {"Location", false},
        {"", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(text_is_front_order(mk_str_from(rows[i].name)), rows[i].is_order);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_for_the_server_in_front_are_known),
        cmocka_unit_test(test_words_are_cut_off_one_by_one),
        cmocka_unit_test(test_an_absent_text_has_no_words),
        cmocka_unit_test(test_blanks_around_a_text_go),
        cmocka_unit_test(test_a_text_is_cut_at_a_character),
        cmocka_unit_test(test_only_ascii_letters_have_cases),
        cmocka_unit_test(test_a_beginning_ends_where_the_text_may),
        cmocka_unit_test(test_a_copy_in_lower_case_is_terminated),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
