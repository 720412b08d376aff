/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "settings/field.h"

#include "base/invariant.h"

struct row {
    const char *text;
    int result;
    int64_t value;
    const char *why;
};

static void test_reads_sizes(void **state)
{
    static const struct row rows[] = {
        {"0", 0, 0, "nothing is a size"},
        {"500", 0, 500, "bare bytes"},
        {"1500B", 0, 1500, "bytes by name"},
        {"32K", 0, 32768, "K is 1024"},
        {"8m", 0, 8388608, "any case"},
        {"2G", 0, 2147483648, "above 31 bits"},
        {"8589934591G", 0, INT64_C(0x7fffffffc0000000), "the largest in G"},
        {"8589934592G", MK_E_LIMIT, 0, "one more overflows"},
        {"99999999999999999999", MK_E_LIMIT, 0, "more digits than 64 bits"},
        {"", MK_E_BAD, 0, "empty"},
        {"K", MK_E_BAD, 0, "a unit without number"},
        {"-1", MK_E_BAD, 0, "no sign"},
        {"+1", MK_E_BAD, 0, "no sign"},
        {"1.5M", MK_E_BAD, 0, "no fraction"},
        {"8 M", MK_E_BAD, 0, "no blank"},
        {"8MB", MK_E_BAD, 0, "no second letter"},
        {"8T", MK_E_BAD, 0, "no such unit"},
        {"0x10", MK_E_BAD, 0, "decimal only"},
    };

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        int64_t value = 0;

        print_message("size \"%s\": %s\n", rows[i].text, rows[i].why);
        assert_int_equal(mk_read_size(mk_str_from(rows[i].text), 0, &value), rows[i].result);
        assert_true(value == rows[i].value);
    }
}

static void test_bare_size_counts_its_unit(void **state)
{
    int64_t value = 0;

    (void)state;
    assert_int_equal(mk_read_size(MK_STR("32"), 1024, &value), 0);
    assert_int_equal(value, 32768);
    assert_int_equal(mk_read_size(MK_STR("2M"), 1024, &value), 0);
    assert_int_equal(value, 2 << 20);
}

static void test_reads_times(void **state)
{
    static const struct row rows[] = {
        {"15", 0, 15000, "bare seconds"},
        {"500ms", 0, 500, "milliseconds"},
        {"2s", 0, 2000, "seconds"},
        {"2m", 0, 120000, "minutes"},
        {"1H", 0, 3600000, "any case"},
        {"1d", 0, 86400000, "days"},
        {"0", 0, 0, "zero"},
        {"106751991167d", 0, INT64_C(106751991167) * 86400000, "the largest in days"},
        {"106751991168d", MK_E_LIMIT, 0, "one more overflows"},
        {"1w", MK_E_BAD, 0, "no such unit"},
        {"1mss", MK_E_BAD, 0, "a letter too many"},
        {"ms", MK_E_BAD, 0, "a unit without number"},
        {"", MK_E_BAD, 0, "empty"},
    };

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        int64_t value = 0;

        print_message("time \"%s\": %s\n", rows[i].text, rows[i].why);
        assert_int_equal(mk_read_time(mk_str_from(rows[i].text), &value), rows[i].result);
        assert_true(value == rows[i].value);
    }
}

static void test_reads_booleans(void **state)
{
    static const struct row rows[] = {
        {"on", 0, 1, ""},       {"OFF", 0, 0, ""},        {"Yes", 0, 1, ""},
        {"no", 0, 0, ""},       {"true", 0, 1, ""},       {"False", 0, 0, ""},
        {"1", MK_E_BAD, 0, ""}, {"onn", MK_E_BAD, 0, ""}, {"", MK_E_BAD, 0, ""},
        {"o", MK_E_BAD, 0, ""},
    };

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        bool value = rows[i].value == 0;

        assert_int_equal(mk_read_bool(mk_str_from(rows[i].text), &value), rows[i].result);
        assert_int_equal(value, rows[i].result == 0 ? rows[i].value : 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_sizes),
        cmocka_unit_test(test_bare_size_counts_its_unit),
        cmocka_unit_test(test_reads_times),
        cmocka_unit_test(test_reads_booleans),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
