/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kit/text/utc.h"

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
        char text[TEXT_UTC_MAX] = "";
        size_t len = text_utc(text, rows[i].seconds, 'T');

        assert_string_equal(text, rows[i].text);
        assert_int_equal(len, strlen(rows[i].text));
    }
}

static void another_byte_may_stand_between(void **state)
{
    char text[TEXT_UTC_MAX];

    (void)state;
    assert_int_equal(text_utc(text, 0, ' '), 20);
    assert_string_equal(text, "1970-01-01 00:00:00Z");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_iso_in_utc),
        cmocka_unit_test(another_byte_may_stand_between),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
