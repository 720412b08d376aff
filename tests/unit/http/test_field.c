/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/str.h"
#include "http/field.h"

static const struct row {
    struct mk_str text;
    bool is_name, is_value;
} rows[] = {
    {MK_STR_INIT("X-A"), true, true},       {MK_STR_INIT("!#$%&'*+-.^_`|~09azAZ"), true, true},
    {MK_STR_INIT(""), false, true},         {{NULL, 0}, false, true},
    {MK_STR_INIT("a b\tc"), false, true},   {MK_STR_INIT("a:"), false, true},
    {MK_STR_INIT("\x80\xff"), false, true}, {MK_STR_INIT("a\r\nb"), false, false},
    {MK_STR_INIT("a\n"), false, false},     {MK_STR_INIT("a\r"), false, false},
    {MK_STR_INIT("a\0b"), false, false},    {MK_STR_INIT("\x7f"), false, false},
    {MK_STR_INIT("\x1f"), false, false},
};

static void names_and_values_are_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (mk_field_is_name(rows[i].text) != rows[i].is_name ||
            mk_field_is_value(rows[i].text) != rows[i].is_value)
            fail_msg("row %zu", i);
    }
}

static const struct lines {
    struct mk_str text;
    unsigned count; /* of the valid lines at its front */
    bool ends;      /* is that all? */
} sections[] = {
    {MK_STR_INIT(""), 0, true},
    {MK_STR_INIT("A: b\r\n"), 1, true},
    {MK_STR_INIT("A:\r\nB:c\r\n"), 2, true},
    {MK_STR_INIT("A: b\r\nB: c"), 1, false},
    {MK_STR_INIT("A: b\n"), 0, false},
    {MK_STR_INIT("\r\n"), 0, false},
    {MK_STR_INIT("\n"), 0, false},
    {MK_STR_INIT(":\r\n"), 0, false},
    {MK_STR_INIT("A\r\n"), 0, false},
    {MK_STR_INIT("A : b\r\n"), 0, false},
    {MK_STR_INIT("A: b\rc\r\n"), 0, false},
    {MK_STR_INIT("A: b\r\n c: d\r\n"), 1, false}, /* no folding: RFC 9112 section 5.2 */
    {MK_STR_INIT("A: b\r\n\r\nB: c\r\n"), 1, false},
};

static void sections_are_cut_into_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
        char *copy = malloc(sections[i].text.len + 1); /* at its exact end for the sanitizer */
        struct mk_str rest = {copy, sections[i].text.len}, line, name, value;
        unsigned count = 0;

        assert_non_null(copy);
        memcpy(copy, sections[i].text.p, rest.len);
        while (mk_field_next_line(&rest, &line, &name, &value))
            count++;
        if (count != sections[i].count || (rest.len == 0) != sections[i].ends)
            fail_msg("section %zu: %u lines, %zu left", i, count, rest.len);
        free(copy);
    }
}

static void values_come_without_blanks(void **state)
{
    struct mk_str rest = MK_STR("Name: \t a b \t\r\n"), line, name, value;

    (void)state;
    assert_true(mk_field_next_line(&rest, &line, &name, &value));
    assert_true(mk_str_eq(name, MK_STR("Name")));
    assert_true(mk_str_eq(value, MK_STR("a b")));
    assert_int_equal(line.len, 15);
}

static void lines_of_a_name_are_dropped(void **state)
{
    static const struct {
        const char *before, *after;
    } heads[] = {
        {"S: 1\r\n", "S: 1\r\n"},
        {"", ""},
        {"A: 1\r\n", ""},
        {"A: 1\r\nA: 2\r\nB: 3\r\n", "B: 3\r\n"},
        {"S\r\na: 1\r\nB: 2\r\nA:3\r\nAB: 4\r\n", "S\r\nB: 2\r\nAB: 4\r\n"},
        {"S\r\nAB: 1\r\nC: A: 2\r\n", "S\r\nAB: 1\r\nC: A: 2\r\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        char buf[64];
        char *end = buf + strlen(heads[i].before);

        memcpy(buf, heads[i].before, (size_t)(end - buf));
        end = mk_field_drop(buf, end, MK_STR("A"));
        assert_int_equal(end - buf, strlen(heads[i].after));
        assert_memory_equal(buf, heads[i].after, (size_t)(end - buf));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_values_are_told),
        cmocka_unit_test(sections_are_cut_into_lines),
        cmocka_unit_test(values_come_without_blanks),
        cmocka_unit_test(lines_of_a_name_are_dropped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
