/* SPDX-License-Identifier: Apache-2.0 */
#include "areas.h"

#include "base/limits.h"
#include "http/range.h"

static const struct {
    const char *sentence, *rfc;
    struct mk_str in;
    uint64_t size;
    int ret;
    const char *ranges;
} rows[] = {
    {"one range", "RFC 9110 14.1.2", MK_STR_INIT("bytes=0-499"), 1000, 1, "0-499"},
    {"one byte", "RFC 9110 14.1.2", MK_STR_INIT("bytes=0-0"), 1000, 1, "0-0"},
    {"an open range", "RFC 9110 14.1.2", MK_STR_INIT("bytes=500-"), 1000, 1, "500-999"},
    {"the last byte", "RFC 9110 14.1.2", MK_STR_INIT("bytes=999-"), 1000, 1, "999-999"},
    {"a suffix", "RFC 9110 14.1.2", MK_STR_INIT("bytes=-1"), 1000, 1, "999-999"},
    {"a suffix longer than the file", "RFC 9110 14.1.2", MK_STR_INIT("bytes=-5000"), 1000, 1,
     "0-999"},
    {"the end is clamped", "RFC 9110 14.1.2", MK_STR_INIT("bytes=900-5000"), 1000, 1, "900-999"},
    {"an end above 64 bits", "RFC 9110 14.1.2", MK_STR_INIT("bytes=900-99999999999999999999999"),
     1000, 1, "900-999"},
    {"a suffix above 64 bits", "RFC 9110 14.1.2", MK_STR_INIT("bytes=-99999999999999999999999"),
     1000, 1, "0-999"},
    {"the unit in any case", "RFC 9110 14.1", MK_STR_INIT("BYTES=1-2"), 1000, 1, "1-2"},
    {"several ranges", "RFC 9110 14.1.2", MK_STR_INIT("bytes=0-0,5-6,-1"), 1000, 3,
     "0-0 5-6 999-999"},
    {"blanks and empty members", "RFC 9110 5.6.1.2", MK_STR_INIT("bytes= , 0-0 ,\t5-6, "), 1000, 2,
     "0-0 5-6"},
    {"the order asked for is kept", "RFC 9110 15.3.7.2", MK_STR_INIT("bytes=500-600,0-10"), 1000, 2,
     "500-600 0-10"},
    {"overlapping ranges are merged", "RFC 9110 15.3.7.2", MK_STR_INIT("bytes=0-10,5-20"), 1000, 1,
     "0-20"},
    {"adjoining ranges are merged", "RFC 9110 15.3.7.2", MK_STR_INIT("bytes=0-10,11-20"), 1000, 1,
     "0-20"},
    {"equal ranges are merged", "RFC 9110 15.3.7.2", MK_STR_INIT("bytes=7-9,7-9"), 1000, 1, "7-9"},
    {"a later range joins two", "RFC 9110 15.3.7.2", MK_STR_INIT("bytes=0-10,20-30,11-19"), 1000, 1,
     "0-30"},
    {"a later range widens one already passed", "RFC 9110 15.3.7.2",
     MK_STR_INIT("bytes=50-60,0-10,20-30,5-49"), 1000, 1, "0-60"},
    {"unsatisfiable ones are dropped", "RFC 9110 14.1.2", MK_STR_INIT("bytes=2000-3000,1-2,-0"),
     1000, 1, "1-2"},
    {"offsets above 32 bits", "RFC 9110 14.1.2", MK_STR_INIT("bytes=5000000000-5000000001"),
     6000000000, 1, "5000000000-5000000001"},
    {"the largest size there is", "RFC 9110 14.1.2", MK_STR_INIT("bytes=18446744073709551614-"),
     UINT64_MAX, 1, "18446744073709551614-18446744073709551614"},
    {"behind the end", "RFC 9110 15.5.17", MK_STR_INIT("bytes=1000-"), 1000, MK_E_INVALID, ""},
    {"a start above 64 bits", "RFC 9110 15.5.17", MK_STR_INIT("bytes=99999999999999999999-"), 1000,
     MK_E_INVALID, ""},
    {"a suffix of nothing", "RFC 9110 14.1.2", MK_STR_INIT("bytes=-0"), 1000, MK_E_INVALID, ""},
    {"a range of an empty file", "RFC 9110 15.5.17", MK_STR_INIT("bytes=0-"), 0, MK_E_INVALID, ""},
    {"a suffix of an empty file is all of it", "RFC 9110 14.1.2", MK_STR_INIT("bytes=-5"), 0, 0,
     ""},
    {"another unit", "RFC 9110 14.2", MK_STR_INIT("lines=0-1"), 1000, 0, ""},
    {"no unit", "RFC 9110 14.2", MK_STR_INIT("0-1"), 1000, 0, ""},
    {"a blank before the sign", "RFC 9110 14.1.2", MK_STR_INIT("bytes =0-1"), 1000, 0, ""},
    {"nothing", "RFC 9110 14.1.2", MK_STR_INIT(""), 1000, 0, ""},
    {"no range", "RFC 9110 14.1.2", MK_STR_INIT("bytes="), 1000, 0, ""},
    {"only commas", "RFC 9110 14.1.2", MK_STR_INIT("bytes=,,"), 1000, 0, ""},
    {"only a dash", "RFC 9110 14.1.2", MK_STR_INIT("bytes=-"), 1000, 0, ""},
    {"no dash", "RFC 9110 14.1.2", MK_STR_INIT("bytes=5"), 1000, 0, ""},
    {"the end before the start", "RFC 9110 14.1.2", MK_STR_INIT("bytes=5-4"), 1000, 0, ""},
    {"letters", "RFC 9110 14.1.2", MK_STR_INIT("bytes=a-b"), 1000, 0, ""},
    {"a sign", "RFC 9110 14.1.2", MK_STR_INIT("bytes=+1-2"), 1000, 0, ""},
    {"a blank inside", "RFC 9110 14.1.2", MK_STR_INIT("bytes=1 - 2"), 1000, 0, ""},
    {"a third number", "RFC 9110 14.1.2", MK_STR_INIT("bytes=1-2-3"), 1000, 0, ""},
    {"one bad range spoils all", "RFC 9110 14.1.2", MK_STR_INIT("bytes=0-1,x"), 1000, 0, ""},
    {"more than are sent", "RFC 9110 14.2", MK_STR_INIT("bytes=0-0,2-2,4-4,6-6,8-8"), 1000, 0, ""},
    {"as many as are sent", "RFC 9110 14.2", MK_STR_INIT("bytes=0-0,2-2,4-4,6-6"), 1000, 4,
     "0-0 2-2 4-4 6-6"},
};

static void parses(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct mk_range ranges[4];
        char text[256] = "";
        size_t n = 0;
        int ret = mk_range_parse(guard_str(&in_area, rows[i].in), rows[i].size, ranges, 4);

        for (int k = 0; k < ret; k++)
            n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%llu-%llu", k ? " " : "",
                                  (unsigned long long)ranges[k].first,
                                  (unsigned long long)ranges[k].last);
        if (ret != rows[i].ret || strcmp(text, rows[i].ranges) != 0)
            fail_msg("%s (%s): gave %d, '%s'", rows[i].sentence, rows[i].rfc, ret, text);
    }
}

/** n times the same range. */
static int ask(int n)
{
    char text[4096] = "bytes=";
    struct mk_range range;
    size_t len = strlen(text);

    for (int i = 0; i < n; i++)
        len += (size_t)snprintf(text + len, sizeof(text) - len, "0-1,");
    return mk_range_parse(mk_str_from(text), 10, &range, 1);
}

static void ignores_too_many(void **state)
{
    (void)state;
    assert_int_equal(ask(MK_LIMIT_RANGES_ASKED), 1);
    assert_int_equal(ask(MK_LIMIT_RANGES_ASKED + 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parses),
        cmocka_unit_test(ignores_too_many),
    };

    return cmocka_run_group_tests(tests, open_areas, close_areas);
}
