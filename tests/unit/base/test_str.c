/* SPDX-License-Identifier: Apache-2.0 */
#include "base_test.h"

#include "base/str.h"

#define S(text) mk_str_from(text)

static void compares(void **state)
{
    (void)state;
    assert_true(mk_str_eq(S("abc"), S("abc")));
    assert_false(mk_str_eq(S("abc"), S("abd")));
    assert_false(mk_str_eq(S("abc"), S("ab")));
    assert_true(mk_str_eq(S(""), S(NULL)));
    assert_true(mk_str_ieq(S("aZ[{09"), S("Az[{09")));
    assert_false(mk_str_ieq(S("a["), S("a{"))); /* they differ in the bit that is case in letters */
    assert_false(mk_str_ieq(S("@"), S("`")));
    assert_false(mk_str_ieq(S("\xc4"), S("\xe4"))); /* no locale: only ASCII has case */
    assert_false(mk_str_ieq(S("a"), S("ab")));
    assert_true(mk_str_has_prefix(S("abc"), S("ab")));
    assert_false(mk_str_has_prefix(S("a"), S("ab")));
    assert_true(mk_str_has_suffix(S("abc"), S("bc")));
    assert_false(mk_str_has_suffix(S("c"), S("bc")));
}

static void cuts(void **state)
{
    (void)state;
    assert_true(mk_str_eq(mk_str_skip(S("abc"), 1), S("bc")));
    assert_int_equal(mk_str_skip(S("abc"), 3).len, 0);
    assert_int_equal(mk_str_skip(S("abc"), 9).len, 0);
    assert_null(mk_str_skip(S(NULL), 9).p);
    assert_true(mk_str_eq(mk_str_trim(S(" \ta b\t ")), S("a b")));
    assert_int_equal(mk_str_trim(S(" \t ")).len, 0);
    assert_true(mk_str_eq(mk_str_trim(S("\na\r")), S("\na\r"))); /* blanks only */
}

static void splits_words(void **state)
{
    struct mk_str rest = S("  ab\tc  "), word;

    (void)state;
    assert_true(mk_str_next_word(&rest, &word));
    assert_true(mk_str_eq(word, S("ab")));
    assert_true(mk_str_next_word(&rest, &word));
    assert_true(mk_str_eq(word, S("c")));
    assert_false(mk_str_next_word(&rest, &word));
    rest = S("");
    assert_false(mk_str_next_word(&rest, &word));
}

static void reads_numbers(void **state)
{
    static const struct {
        const char *text;
        uint64_t max;
        int err;
        uint64_t value;
    } rows[] = {
        {"0", 9, 0, 0},
        {"9", 9, 0, 9},
        {"10", 9, MK_E_LIMIT, 0},
        {"00042", 100, 0, 42},
        {"18446744073709551615", UINT64_MAX, 0, UINT64_MAX},
        {"18446744073709551616", UINT64_MAX - 1, MK_E_LIMIT, 0},
        {"99999999999999999999999999", UINT64_MAX - 1, MK_E_LIMIT, 0},
        {"99999999999999999999999999x", UINT64_MAX - 1, MK_E_BAD, 0},
        {"", 9, MK_E_BAD, 0},
        {"+1", 9, MK_E_BAD, 0},
        {"-1", 9, MK_E_BAD, 0},
        {" 1", 9, MK_E_BAD, 0},
        {"1 ", 9, MK_E_BAD, 0},
        {"0x1", 9, MK_E_BAD, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint64_t value = 0;

        if (mk_str_to_u64(S(rows[i].text), rows[i].max, &value) != rows[i].err ||
            value != rows[i].value)
            fail_msg("'%s'", rows[i].text);
    }
}

static void writes_numbers(void **state)
{
    static const uint64_t rows[] = {0, 9, 10, 12345, UINT32_MAX, UINT64_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char dst[20], text[32];
        int len = snprintf(text, sizeof(text), "%llu", (unsigned long long)rows[i]);

        assert_int_equal(mk_u64_to_dec(dst, rows[i]), len);
        assert_memory_equal(dst, text, (size_t)len);
    }
}

static void hashes(void **state)
{
    (void)state;
    assert_int_equal(mk_str_hash(S("abc"), 1), mk_str_hash(S("abc"), 1));
    assert_int_not_equal(mk_str_hash(S("abc"), 1), mk_str_hash(S("abc"), 2));
    assert_int_not_equal(mk_str_hash(S("abc"), 1), mk_str_hash(S("acb"), 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(compares),       cmocka_unit_test(cuts),
        cmocka_unit_test(splits_words),   cmocka_unit_test(reads_numbers),
        cmocka_unit_test(writes_numbers), cmocka_unit_test(hashes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
