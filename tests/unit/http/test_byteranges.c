/* SPDX-License-Identifier: Apache-2.0 */
#include "areas.h"

#include "http/byteranges.h"

#include <stdio.h>

static const struct mk_range ranges[] = {{0, 0}, {5, 9}, {UINT64_MAX - 2, UINT64_MAX - 1}};

/* All separators, with | behind each. */
static void write_all(struct mk_byteranges *b, char *all, uint64_t *length)
{
    char *text = guard_end(&out_area, mk_byteranges_room(b));
    struct mk_str separators[4];

    *length = mk_byteranges_write(b, text, separators, 0xabc);
    for (int i = 0; i <= b->count; i++)
        all += sprintf(all, "%.*s|", (int)separators[i].len, separators[i].p);
}

static void separators_are_those_of_the_rfc(void **state)
{
    static const char wanted[] = "\r\n--monkey0000000000000abc\r\nContent-Type: text/plain\r\n"
                                 "Content-Range: bytes 0-0/1000\r\n\r\n|"
                                 "\r\n--monkey0000000000000abc\r\nContent-Type: text/plain\r\n"
                                 "Content-Range: bytes 5-9/1000\r\n\r\n|"
                                 "\r\n--monkey0000000000000abc--\r\n|";
    struct mk_byteranges b = {ranges, 2, 1000, MK_STR("text/plain"), ""};
    char all[1024];
    uint64_t length;

    (void)state;
    write_all(&b, all, &length);
    assert_string_equal(all, wanted);
    assert_string_equal(b.content_type, "multipart/byteranges; boundary=monkey0000000000000abc");
    assert_int_equal(length, sizeof(wanted) - 1 - 3 + 6);
}

static void a_whole_without_a_type_has_parts_without_one(void **state)
{
    struct mk_byteranges b = {ranges, 1, 10, {NULL, 0}, ""};
    char all[1024];
    uint64_t length;

    (void)state;
    write_all(&b, all, &length);
    assert_string_equal(all, "\r\n--monkey0000000000000abc\r\nContent-Range: bytes 0-0/10\r\n\r\n|"
                             "\r\n--monkey0000000000000abc--\r\n|");
}

static void the_largest_numbers_have_room(void **state)
{
    struct mk_byteranges b = {ranges, 3, UINT64_MAX, MK_STR("a/b"), ""};
    char all[1024];
    uint64_t length;

    (void)state;
    write_all(&b, all, &length);
    assert_non_null(strstr(
        all, "bytes 18446744073709551613-18446744073709551614/18446744073709551615\r\n\r\n|"));
    assert_int_equal(length, strlen(all) - 4 + 1 + 5 + 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(separators_are_those_of_the_rfc),
        cmocka_unit_test(a_whole_without_a_type_has_parts_without_one),
        cmocka_unit_test(the_largest_numbers_have_room),
    };

    return cmocka_run_group_tests(tests, open_areas, close_areas);
}
