/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "context.h"

#include <stdio.h>

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN "00f067aa0ba902b7"
#define ZEROS "00000000000000000000000000000000"

/* https://www.w3.org/TR/trace-context/ section 3.2 */
static void reads_what_the_standard_has(void **state)
{
    static const struct {
        const char *value;
        bool is_valid;
        unsigned flags;
    } rows[] = {
        {"00-" TRACE "-" SPAN "-01", true, 1},
        {"00-" TRACE "-" SPAN "-00", true, 0},
        {"00-" TRACE "-" SPAN "-fe", true, 0}, /* flags that have no meaning yet */
        {"00-" TRACE "-" SPAN "-ff", true, 1},
        {"01-" TRACE "-" SPAN "-01", true, 1}, /* a version to come */
        {"01-" TRACE "-" SPAN "-01-more", true, 1},
        {"01-" TRACE "-" SPAN "-01-", true, 1},
        {"01-" TRACE "-" SPAN "-01more", false, 0},
        {"00-" TRACE "-" SPAN "-01-more", false, 0},
        {"00-" TRACE "-" SPAN "-01-", false, 0},
        {"ff-" TRACE "-" SPAN "-01", false, 0},
        {"0-" TRACE "-" SPAN "-01", false, 0},
        {"0x-" TRACE "-" SPAN "-01", false, 0},
        {"00-" TRACE "-" SPAN "-1", false, 0},
        {"00-" TRACE "-" SPAN "-0g", false, 0},
        {"00-" TRACE "-" SPAN "-0A", false, 0},
        {"00-" TRACE "-" SPAN, false, 0},
        {"00-4BF92F3577B34DA6A3CE929D0E0E4736-" SPAN "-01", false, 0},
        {"00-" ZEROS "-" SPAN "-01", false, 0},
        {"00-" TRACE "-0000000000000000-01", false, 0},
        {"00-" TRACE "_" SPAN "-01", false, 0},
        {"00_" TRACE "-" SPAN "-01", false, 0},
        {"00-" TRACE "-" SPAN "_01", false, 0},
        {" 00-" TRACE "-" SPAN "-01", false, 0},
        {"00-" TRACE "-" SPAN "-01 ", false, 0},
        {"", false, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct trace_context c;

        if ((trace_context_read(&c, mk_str_from(rows[i].value)) == 0) != rows[i].is_valid)
            fail_msg("%s was %s", rows[i].value, rows[i].is_valid ? "refused" : "taken");
        if (!rows[i].is_valid)
            continue;
        assert_memory_equal(c.trace, TRACE, sizeof(c.trace));
        assert_memory_equal(c.span, SPAN, sizeof(c.span));
        assert_int_equal(c.flags, rows[i].flags);
    }
}

/* Cut at each byte it is none, and bytes behind the cut are not looked at. */
static void a_part_is_none(void **state)
{
    static const char whole[] = "00-" TRACE "-" SPAN "-01";
    struct trace_context c;

    (void)state;
    for (size_t len = 0; len < sizeof(whole) - 1; len++)
        assert_int_equal(trace_context_read(&c, (struct mk_str){whole, len}), MK_E_BAD);
}

static void versions_to_come_are_bounded(void **state)
{
    char text[TRACE_PARENT_MAX + 2];
    struct trace_context c;

    (void)state;
    memset(text, 'x', sizeof(text));
    memcpy(text, "01-" TRACE "-" SPAN "-01-", TRACE_PARENT_TEXT + 1);
    assert_int_equal(trace_context_read(&c, (struct mk_str){text, TRACE_PARENT_MAX}), 0);
    assert_int_equal(trace_context_read(&c, (struct mk_str){text, TRACE_PARENT_MAX + 1}), MK_E_BAD);
}

static void writes_what_it_reads(void **state)
{
    struct trace_context c = {.flags = TRACE_SAMPLED};
    char text[TRACE_PARENT_TEXT];

    (void)state;
    memcpy(c.trace, TRACE, sizeof(c.trace));
    memcpy(c.span, SPAN, sizeof(c.span));
    assert_int_equal(trace_context_write(text, &c), TRACE_PARENT_TEXT);
    assert_memory_equal(text, "00-" TRACE "-" SPAN "-01", TRACE_PARENT_TEXT);
}

static void ids_are_plain_and_bounded(void **state)
{
    static const char *const good[] = {
        "a", "7f3a-b.c_d~e", "Root=1-67891233-abcdef012345678912345678", "a+b/c==", "x:1@host"};
    static const char *const bad[] = {"",    " ",   "a b",  "a\"b",     "a<b", "a'b",
                                      "a,b", "a;b", "a\nb", "\xc3\xa4", "a&b", "$a"};
    char text[TRACE_NAME_MAX + 1];

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
        assert_true(trace_is_name(mk_str_from(good[i])));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(trace_is_name(mk_str_from(bad[i])));
    assert_false(trace_is_name((struct mk_str){"a\0b", 3}));
    memset(text, 'a', sizeof(text));
    assert_true(trace_is_name((struct mk_str){text, TRACE_NAME_MAX}));
    assert_false(trace_is_name((struct mk_str){text, TRACE_NAME_MAX + 1}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_the_standard_has),  cmocka_unit_test(a_part_is_none),
        cmocka_unit_test(versions_to_come_are_bounded), cmocka_unit_test(writes_what_it_reads),
        cmocka_unit_test(ids_are_plain_and_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
