/* SPDX-License-Identifier: Apache-2.0 */
#include "areas.h"

#include "http/date.h"

#include <time.h>

enum { NOW = 1763683200 }; /* 2025-11-21 */

static void formats(void **state)
{
    static const struct {
        const char *sentence;
        int64_t t;
        const char *text;
    } rows[] = {
        {"the example of RFC 9110 5.6.7", 784111777, "Sun, 06 Nov 1994 08:49:37 GMT"},
        {"the epoch", 0, "Thu, 01 Jan 1970 00:00:00 GMT"},
        {"a second before it", -1, "Wed, 31 Dec 1969 23:59:59 GMT"},
        {"a leap day", 1709164800, "Thu, 29 Feb 2024 00:00:00 GMT"},
        {"the leap day of a century", 951782400, "Tue, 29 Feb 2000 00:00:00 GMT"},
        {"behind 31 bits", 2147483648, "Tue, 19 Jan 2038 03:14:08 GMT"},
        {"behind 32 bits", 4294967296, "Sun, 07 Feb 2106 06:28:16 GMT"},
        {"the last there is", 253402300799, "Fri, 31 Dec 9999 23:59:59 GMT"},
        {"above it", 253402300800, "Fri, 31 Dec 9999 23:59:59 GMT"},
        {"far above it", INT64_MAX, "Fri, 31 Dec 9999 23:59:59 GMT"},
        {"the first there is", -62167219200, "Sat, 01 Jan 0000 00:00:00 GMT"},
        {"far below it", INT64_MIN, "Sat, 01 Jan 0000 00:00:00 GMT"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *dst = guard_end(&in_area, MK_DATE_LEN);

        mk_date_format(dst, rows[i].t);
        if (memcmp(dst, rows[i].text, MK_DATE_LEN) != 0)
            fail_msg("%s: gave %.29s", rows[i].sentence, dst);
    }
}

static const struct {
    const char *sentence;
    struct mk_str in;
    int err;
    int64_t t;
} parses[] = {
    {"IMF-fixdate", MK_STR_INIT("Sun, 06 Nov 1994 08:49:37 GMT"), 0, 784111777},
    {"rfc850", MK_STR_INIT("Sunday, 06-Nov-94 08:49:37 GMT"), 0, 784111777},
    {"asctime", MK_STR_INIT("Sun Nov  6 08:49:37 1994"), 0, 784111777},
    {"asctime with two digits", MK_STR_INIT("Wed Nov 16 08:49:37 1994"), 0, 784975777},
    {"rfc850 fifty years ahead", MK_STR_INIT("Thursday, 21-Nov-75 00:00:00 GMT"), 0, 3341520000},
    {"rfc850 fifty-one years ahead is past", MK_STR_INIT("Sunday, 21-Nov-76 00:00:00 GMT"), 0,
     217382400},
    {"a wrong day name", MK_STR_INIT("Mon, 06 Nov 1994 08:49:37 GMT"), 0, 784111777},
    {"a leap second", MK_STR_INIT("Sat, 31 Dec 2016 23:59:60 GMT"), 0, 1483228800},
    {"a leap day", MK_STR_INIT("Thu, 29 Feb 2024 00:00:00 GMT"), 0, 1709164800},
    {"year 0", MK_STR_INIT("Sat, 01 Jan 0000 00:00:00 GMT"), 0, -62167219200},
    {"no leap day", MK_STR_INIT("Wed, 29 Feb 2023 00:00:00 GMT"), MK_E_BAD, 0},
    {"no leap day in 1900", MK_STR_INIT("Thu, 29 Feb 1900 00:00:00 GMT"), MK_E_BAD, 0},
    {"day 0", MK_STR_INIT("Sun, 00 Nov 1994 08:49:37 GMT"), MK_E_BAD, 0},
    {"day 31 of November", MK_STR_INIT("Sun, 31 Nov 1994 08:49:37 GMT"), MK_E_BAD, 0},
    {"hour 24", MK_STR_INIT("Sun, 06 Nov 1994 24:00:00 GMT"), MK_E_BAD, 0},
    {"minute 60", MK_STR_INIT("Sun, 06 Nov 1994 08:60:00 GMT"), MK_E_BAD, 0},
    {"second 61", MK_STR_INIT("Sun, 06 Nov 1994 08:49:61 GMT"), MK_E_BAD, 0},
    {"another zone", MK_STR_INIT("Sun, 06 Nov 1994 08:49:37 CET"), MK_E_BAD, 0},
    {"no zone", MK_STR_INIT("Sun, 06 Nov 1994 08:49:37"), MK_E_BAD, 0},
    {"more behind it", MK_STR_INIT("Sun, 06 Nov 1994 08:49:37 GMT "), MK_E_BAD, 0},
    {"a length as some browsers sent it", MK_STR_INIT("Sun, 06 Nov 1994 08:49:37 GMT; length=1"),
     MK_E_BAD, 0},
    {"one digit of the day", MK_STR_INIT("Sun, 6 Nov 1994 08:49:37 GMT"), MK_E_BAD, 0},
    {"lower case", MK_STR_INIT("sun, 06 nov 1994 08:49:37 gmt"), MK_E_BAD, 0},
    {"a name that is no month", MK_STR_INIT("Sun, 06 Noo 1994 08:49:37 GMT"), MK_E_BAD, 0},
    {"a month between two names", MK_STR_INIT("Sun, 06 anF 1994 08:49:37 GMT"), MK_E_BAD, 0},
    {"a day name cut short", MK_STR_INIT("Sund, 06-Nov-94 08:49:37 GMT"), MK_E_BAD, 0},
    {"the wrong ending of a day name", MK_STR_INIT("Wedday, 06-Nov-94 08:49:37 GMT"), MK_E_BAD, 0},
    {"a sign", MK_STR_INIT("Sun, +6 Nov 1994 08:49:37 GMT"), MK_E_BAD, 0},
    {"a number", MK_STR_INIT("784111777"), MK_E_BAD, 0},
    {"nothing", MK_STR_INIT(""), MK_E_BAD, 0},
};

static void parses_three_forms(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(parses) / sizeof(parses[0]); i++) {
        int64_t t = 0;
        int err = mk_date_parse(guard_str(&in_area, parses[i].in), NOW, &t);

        if (err != parses[i].err || (err == 0 && t != parses[i].t))
            fail_msg("%s (RFC 9110 5.6.7): gave %d, %lld", parses[i].sentence, err, (long long)t);
    }
}

static void no_prefix_is_a_date(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        for (size_t len = 0; len < parses[i].in.len; len++) {
            int64_t t;
            struct mk_str s = {parses[i].in.p, len};

            assert_int_equal(mk_date_parse(guard_str(&in_area, s), NOW, &t), MK_E_BAD);
        }
    }
}

/** The C library is the other opinion: a time in each of many days over the whole range. */
static void agrees_with_the_c_library(void **state)
{
    (void)state;
    for (int64_t t = -62167219200; t < 253402300800; t += 86400 * 13 + 4567) {
        char dst[MK_DATE_LEN], text[64];
        struct tm tm;
        time_t clock = (time_t)t;
        int64_t back;

        if (clock != t)
            continue;
        gmtime_r(&clock, &tm);
        assert_int_equal(strftime(text, sizeof(text), "%a, %d %b %Y %H:%M:%S GMT", &tm) > 0, 1);
        mk_date_format(dst, t);
        if (tm.tm_year + 1900 >= 1000) /* strftime does not pad the year */
            assert_memory_equal(dst, text, MK_DATE_LEN);
        assert_int_equal(mk_date_parse((struct mk_str){dst, MK_DATE_LEN}, NOW, &back), 0);
        assert_int_equal(back, t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats),
        cmocka_unit_test(parses_three_forms),
        cmocka_unit_test(no_prefix_is_a_date),
        cmocka_unit_test(agrees_with_the_c_library),
    };

    return cmocka_run_group_tests(tests, open_areas, close_areas);
}
