/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "settings/fault.h"

#include "base/invariant.h"
#include "base/limits.h"

static void test_text_of_a_fault(void **state)
{
    static const struct {
        struct mk_origin at;
        const char *text, *why;
    } rows[] = {
        {{"a.conf", 12, 5, MK_STR_INIT("    Tiemout 15")},
         "a.conf:12:5: error: wrong\n    Tiemout 15\n    ^\n",
         "place, message, line, caret"},
        {{"a.conf", 1, 2, MK_STR_INIT("\tKey\x01\xff z")},
         "a.conf:1:2: error: wrong\n Key\\x01\\xff z\n ^\n",
         "a tab is one column, the rest is escaped"},
        {{"a.conf", 1, 4,
          MK_STR_INIT("\x01"
                      "b c")},
         "a.conf:1:4: error: wrong\n\\x01b c\n      ^\n",
         "the caret counts what the escapes take"},
        {{"a.conf", 1, 99, MK_STR_INIT("Key")},
         "a.conf:1:99: error: wrong\nKey\n   ^\n",
         "a column behind the line"},
        {{"a.conf", 3, 0, MK_STR_INIT("Key")}, "a.conf:3: error: wrong\nKey\n", "no column"},
        {{"command line", 0, 0, {NULL, 0}}, "command line: error: wrong\n", "no line"},
        {{"a\nb", 0, 0, {NULL, 0}}, "a\\x0ab: error: wrong\n", "a file name in a bad mood"},
        {{NULL, 0, 0, {NULL, 0}}, "error: wrong\n", "no place"},
    };

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        struct mk_fault fault = {.at = rows[i].at, .message = "wrong"};
        struct mk_arena arena;

        print_message("%s\n", rows[i].why);
        mk_arena_init(&arena, NULL, 0, SIZE_MAX);
        assert_string_equal(mk_fault_text(&fault, &arena), rows[i].text);
        mk_arena_fini(&arena);
    }
}

static void test_long_line_is_clipped_round_the_column(void **state)
{
    char line[1000];
    struct mk_fault fault = {.at = {"f", 1, 501, {line, sizeof(line)}}, .message = "wrong"};
    struct mk_arena arena;
    const char *text;

    (void)state;
    memset(line, 'a', sizeof(line));
    line[500] = 'X';
    mk_arena_init(&arena, NULL, 0, SIZE_MAX);
    text = mk_fault_text(&fault, &arena);
    assert_non_null(text);
    text = strchr(text, '\n') + 1;
    assert_true(strlen(text) < 200);
    assert_memory_equal(text, "...a", 4);
    assert_ptr_equal(strchr(text, 'X') - text, strchr(text, '^') - strchr(text, '\n') - 1);
    assert_memory_equal(strchr(text, '\n') - 3, "...", 3);
    mk_arena_fini(&arena);
}

static void test_faults_beyond_the_limit_are_counted_only(void **state)
{
    struct mk_arena arena;
    struct mk_faults faults;
    size_t kept = 0;

    (void)state;
    mk_arena_init(&arena, NULL, 0, SIZE_MAX);
    mk_faults_init(&faults, &arena);
    mk_fault_warn(&faults, NULL, "mind %s", "this");
    for (int i = 0; i < MK_LIMIT_CONF_FAULTS + 5; i++)
        mk_fault_add(&faults, NULL, "fault %d", i);
    for (const struct mk_fault *f = faults.first; f; f = f->next)
        kept++;
    assert_int_equal(kept, MK_LIMIT_CONF_FAULTS);
    assert_int_equal(faults.count, MK_LIMIT_CONF_FAULTS + 5);
    assert_int_equal(faults.warnings, 1);
    assert_true(faults.first->is_warning);
    assert_string_equal(mk_fault_text(faults.first, &arena), "warning: mind this\n");
    assert_false(faults.no_memory);
    mk_arena_fini(&arena);
}

static void test_a_fault_without_memory_still_counts(void **state)
{
    struct mk_arena arena;
    struct mk_faults faults;

    (void)state;
    mk_arena_init(&arena, NULL, 0, 0);
    mk_faults_init(&faults, &arena);
    mk_fault_add(&faults, NULL, "lost");
    assert_int_equal(faults.count, 1);
    assert_true(faults.no_memory);
    mk_arena_fini(&arena);
}

/* A message that fills the text of an error to its last byte, and one that is a byte longer. */
static void test_text_of_a_fault_is_bounded(void **state)
{
    const size_t room = MK_LIMIT_FAULT_TEXT - strlen("error: \n");
    struct mk_fault fault = {.message = NULL};
    struct mk_arena arena;

    (void)state;
    mk_arena_init(&arena, NULL, 0, SIZE_MAX);
    for (size_t len = room; len <= room + 1; len++) {
        char *message = mk_arena_zalloc(&arena, len + 1), *text;

        assert_non_null(message);
        memset(message, 'x', len);
        fault.message = message;
        text = mk_fault_text(&fault, &arena);
        assert_int_equal(text != NULL, len == room);
        if (text)
            assert_int_equal(strlen(text), MK_LIMIT_FAULT_TEXT);
    }
    mk_arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_of_a_fault),
        cmocka_unit_test(test_long_line_is_clipped_round_the_column),
        cmocka_unit_test(test_faults_beyond_the_limit_are_counted_only),
        cmocka_unit_test(test_a_fault_without_memory_still_counts),
        cmocka_unit_test(test_text_of_a_fault_is_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
