/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/limits.h"

#include <monkey/inspect.h>

/* What the last reload found, for whoever asks later than the log was written. */

enum { LINE = 1023 }; /* and its line feed: a divisor of the bound */

static struct fixture fix;
static char text[MK_LIMIT_RELOAD_REPORT + 1];

static int set_up(void **state)
{
    (void)state;
    dir_make(fix.dir);
    fixture_open(&fix, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fixture_close(&fix);
    dir_remove(fix.dir);
    return 0;
}

static size_t report(void)
{
    memset(text, 0, sizeof(text));
    return mk_server_reload_report(fix.server, text, sizeof(text));
}

static void lines_stand_one_after_the_other(void **state)
{
    (void)state;
    mk_reload_begin(fix.server);
    assert_int_equal(report(), 0);
    mk_reload_report_line(fix.server, true, MK_STR("one"));
    mk_reload_report_line(fix.server, true, MK_STR(""));
    mk_reload_report_line(fix.server, true, MK_STR("two"));
    assert_int_equal(report(), 9);
    assert_string_equal(text, "one\n\ntwo\n");
}

static void a_reload_forgets_the_one_before(void **state)
{
    (void)state;
    mk_reload_report_line(fix.server, true, MK_STR("old"));
    mk_reload_begin(fix.server);
    mk_reload_report_line(fix.server, true, MK_STR("new"));
    (void)report();
    assert_string_equal(text, "new\n");
}

static void who_has_little_room_gets_the_first_bytes(void **state)
{
    char little[4] = "---";

    (void)state;
    mk_reload_begin(fix.server);
    mk_reload_report_line(fix.server, true, MK_STR("some words"));
    assert_int_equal(mk_server_reload_report(fix.server, little, 2), 2);
    assert_string_equal(little, "so-");
}

/* A line that has no room is left out; shorter ones after it are not. */
static void the_text_is_bounded(void **state)
{
    char line[LINE];

    (void)state;
    memset(line, 'x', sizeof(line));
    mk_reload_begin(fix.server);
    for (size_t i = 1; i < MK_LIMIT_RELOAD_REPORT / (LINE + 1); i++)
        mk_reload_report_line(fix.server, true, (struct mk_str){line, LINE});
    mk_reload_report_line(fix.server, true, (struct mk_str){line, LINE - 2});
    assert_int_equal(report(), MK_LIMIT_RELOAD_REPORT - 2);
    mk_reload_report_line(fix.server, true, MK_STR("ab"));
    assert_int_equal(report(), MK_LIMIT_RELOAD_REPORT - 2);
    mk_reload_report_line(fix.server, true, MK_STR("a"));
    mk_reload_report_line(fix.server, true, MK_STR(""));
    assert_int_equal(report(), MK_LIMIT_RELOAD_REPORT);
    assert_string_equal(text + MK_LIMIT_RELOAD_REPORT - 3, "\na\n");
}

static void without_memory_only_the_log_has_it(void **state)
{
    (void)state;
    mk_reload_begin(fix.server);
    mk_reload_report_line(fix.server, true, MK_STR("kept"));
    mk_heap_fail_after(0);
    mk_reload_report_line(fix.server, true, MK_STR("lost"));
    mk_heap_fail_after(-1);
    (void)report();
    assert_string_equal(text, "kept\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_stand_one_after_the_other),
        cmocka_unit_test(a_reload_forgets_the_one_before),
        cmocka_unit_test(who_has_little_room_gets_the_first_bytes),
        cmocka_unit_test(the_text_is_bounded),
        cmocka_unit_test(without_memory_only_the_log_has_it),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
