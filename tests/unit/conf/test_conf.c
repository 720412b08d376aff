/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "outcome.h"

#include "base/invariant.h"
#include "base/heap.h"
#include "base/limits.h"

#include <stdio.h>

static void test_text(void **state)
{
    static const struct {
        const char *text, *tree, *faults, *why;
    } rows[] = {
        {"", "", "", "an empty text"},
        {"[A]\n    Key a value\n    Other b\n[B]\n    Key\n", "A{Key=a value;Other=b;}B{Key=;}", "",
         "the usual"},
        {"[A]\r\n\tKey v\r\n", "A{Key=v;}", "", "CRLF and tabs"},
        {"\xef\xbb\xbf[A]\n Key v", "A{Key=v;}", "", "a byte order mark, no final newline"},
        {"# c\n[A]\n# c\n  # c\n    Key v#v\n", "A{Key=v#v;}", "", "comments"},
        {"[A]\n Key v # c\n Other #c\n Third v \t#\n", "A{Key=v;Other=;Third=v;}",
         "t:2:8 a comment needs a line of its own; write \\# for a # that belongs to the value\n"
         "t:3:8 a comment needs a line of its own; write \\# for a # that belongs to the value\n"
         "t:4:11 a comment needs a line of its own; write \\# for a # that belongs to the value\n",
         "comments behind values"},
        {"[A]\n Key 'a # b' c\n Key \"#\" d\n Key don't\n",
         "A{Key='a # b' c;Key=\"#\" d;Key=don't;}", "", "quotes"},
        {"[A]\n Key 'a' # b\n Key don't # b\n", "A{Key='a';Key=don't;}",
         "t:2:10 a comment needs a line of its own; write \\# for a # that belongs to the value\n"
         "t:3:12 a comment needs a line of its own; write \\# for a # that belongs to the value\n",
         "behind quotes"},
        {"[A]\n Key \\# a \\#b c\\# \\x\n", "A{Key=# a #b c\\# \\x;}", "", "a # of the value"},
        {"[A]\n\n  \n\t\n    Key v\n", "A{Key=v;}", "", "blank lines fix no indentation"},
        {"[ A b ]  \n Key v\n", "A b{Key=v;}", "", "blanks inside and behind a head"},
        {"[A]\n Key v\n Key w\n[A]\n Key x\n", "A{Key=v;Key=w;}A{Key=x;}", "",
         "repeated keys and sections keep their order"},
        {"[A]\n    Key v\n  Key w\n", "A{Key=v;Key=w;}",
         "t:3:3 indented by 2 spaces; expected 4 spaces as in line 2\n", "less indentation"},
        {"[A]\n  Key v\n\tKey w\n", "A{Key=v;Key=w;}",
         "t:3:2 indented by 1 tab; expected 2 spaces as in line 2\n", "a tab among spaces"},
        {"[A]\n \tKey v\n \tKey w\n\tKey x\n", "A{Key=v;Key=w;Key=x;}",
         "t:4:2 indented by 1 tab; expected a mixture of tabs and spaces as in line 2\n",
         "any indentation will do, but the same"},
        {"[A]\n Key v\nKey w\n", "A{Key=v;Key=w;}",
         "t:3:1 \"Key\" is not indented; expected a [SECTION], a # comment or an indented key\n",
         "a key in column 0"},
        {"  Key v\n  Key w\n[A]\n  Key x\n", "A{Key=x;}",
         "t:1:3 \"Key\" comes before any section; expected a [SECTION] first\n",
         "keys before any section are one fault"},
        {"[A\n Key v\n", "A{Key=v;}", "t:1:3 section head without end; expected \"]\"\n",
         "a head without bracket still heads"},
        {"[A] # c\n Key v\n", "A{Key=v;}",
         "t:1:5 text after a section head; expected nothing after \"]\"\n", "text behind a head"},
        {"[A]\n Key v\n  [B] x\n Key w\n", "A{Key=v;}B{Key=w;}",
         "t:3:3 indented section head; expected it in the first column\n"
         "t:3:7 text after a section head; expected nothing after \"]\"\n",
         "an indented head"},
        {"[]\n Key v\n[ ]\n Key w\n[A]\n Key x", "A{Key=x;}",
         "t:1:1 empty section name; expected a name such as [SERVER]\n"
         "t:3:1 empty section name; expected a name such as [SERVER]\n",
         "empty names, and silence about what follows them"},
        {"[", "",
         "t:1:2 section head without end; expected \"]\"\n"
         "t:1:1 empty section name; expected a name such as [SERVER]\n",
         "half a head and nothing else"},
        {"[A]\n Key \x01v\n Key w\n", "A{Key=w;}", "t:2:6 control byte 0x01; expected text\n",
         "a control byte"},
        {"[A]\n Key v\rw\n", "A{}", "t:2:7 control byte 0x0d; expected text\n", "a lone CR"},
        {"[A\x7f]\n Key v\n", "", "t:1:3 control byte 0x7f; expected text\n",
         "a bad head takes its keys along"},
        {"[A]\n Key gr\xc3\xbc\xc3\x9f\n", "A{Key=gr\xc3\xbc\xc3\x9f;}", "", "UTF-8 is text"},
        {"@INCLUDE x\n", "", "t:1:10 @INCLUDE is not possible here; expected settings only\n",
         "no directory to include from"},
        {"@include\n", "", "t:1:9 @INCLUDE of nothing; expected a path\n", "an include of nothing"},
        {"[A]\n @SET a\n", "A{}", "t:2:2 unknown directive \"@SET\"; expected @INCLUDE\n",
         "another directive"},
    };

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        struct outcome o;

        print_message("%s\n", rows[i].why);
        outcome_init(&o);
        assert_int_equal(
            mk_conf_read_text(&o.tree, &o.faults, mk_str_from(rows[i].text), "t", NULL, NULL), 0);
        assert_string_equal(outcome_tree(&o), rows[i].tree);
        assert_string_equal(outcome_faults(&o), rows[i].faults);
        outcome_fini(&o);
    }
}

static void test_nul_bytes(void **state)
{
    struct outcome o;

    (void)state;
    outcome_init(&o);
    assert_int_equal(mk_conf_read_text(&o.tree, &o.faults,
                                       MK_STR("[A]\n Key a\0b\n Key c\0\n Key d"), "t", NULL, NULL),
                     0);
    assert_string_equal(outcome_tree(&o), "A{Key=d;}");
    assert_string_equal(outcome_faults(&o), "t:2:7 control byte 0x00; expected text\n"
                                            "t:3:7 control byte 0x00; expected text\n");
    outcome_fini(&o);
}

static void test_binary_file_is_given_up(void **state)
{
    char text[200];
    struct outcome o;

    (void)state;
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = i % 2 ? '\n' : '\x02';
    outcome_init(&o);
    assert_int_equal(
        mk_conf_read_text(&o.tree, &o.faults, (struct mk_str){text, sizeof(text)}, "t", NULL, NULL),
        0);
    assert_int_equal(o.faults.count, 10);
    assert_string_equal(o.faults.last->message,
                        "control byte 0x02; expected text (the rest of this file is not read)");
    outcome_fini(&o);
}

static void test_line_limit(void **state)
{
    static char text[MK_LIMIT_CONF_LINE + 32];
    struct outcome o;

    (void)state;
    for (size_t len = MK_LIMIT_CONF_LINE; len <= MK_LIMIT_CONF_LINE + 1; len++) {
        int n = snprintf(text, sizeof(text), "[A]\n Key %0*d\n Key w\n", (int)len - 5, 0);

        outcome_init(&o);
        assert_int_equal(mk_conf_read_text(&o.tree, &o.faults, (struct mk_str){text, (size_t)n},
                                           "t", NULL, NULL),
                         0);
        if (len == MK_LIMIT_CONF_LINE)
            assert_string_equal(outcome_faults(&o), "");
        else
            assert_string_equal(outcome_faults(&o),
                                "t:2:8193 line of 8193 bytes; expected at most 8192\n");
        assert_string_equal(o.tree.first->last->value.p, "w");
        assert_non_null(mk_fault_text(&(struct mk_fault){.message = ""}, &o.arena));
        outcome_fini(&o);
    }
}

static const struct mk_str hearty =
    MK_STR_INIT("[A]\n Key v\n  Key w\n[B\n Key x\n[]\n Key y\n\x01\n@X\n");

/* Reading must not depend on where a text ends: neither crash nor look behind it. */
static void test_text_cut_at_each_byte(void **state)
{
    (void)state;
    for (size_t len = 0; len <= hearty.len; len++) {
        char *exact = mk_heap_alloc(len ? len : 1);
        struct outcome o;

        assert_non_null(exact);
        memcpy(exact, hearty.p, len);
        outcome_init(&o);
        assert_int_equal(
            mk_conf_read_text(&o.tree, &o.faults, (struct mk_str){exact, len}, "t", NULL, NULL), 0);
        outcome_fini(&o);
        mk_heap_free(exact);
    }
}

static void test_origins(void **state)
{
    const struct mk_setting *s;
    struct outcome o;

    (void)state;
    outcome_init(&o);
    assert_int_equal(mk_conf_read_text(&o.tree, &o.faults, MK_STR("\n[A]\n    Key  value\n"),
                                       "name", NULL, NULL),
                     0);
    s = o.tree.first->first;
    assert_string_equal(s->key_at.file, "name");
    assert_int_equal(o.tree.first->at.line, 2);
    assert_int_equal(o.tree.first->at.column, 1);
    assert_int_equal(s->key_at.line, 3);
    assert_int_equal(s->key_at.column, 5);
    assert_int_equal(s->value_at.column, 10);
    assert_int_equal(s->value_at.text.len, 14);
    outcome_fini(&o);
}

static void test_memory_fails_at_each_piece(void **state)
{
    long live = mk_heap_live();
    int result = MK_E_NOMEM;

    (void)state;
    for (size_t max = 0; result != 0; max += 16) {
        struct outcome o;

        outcome_init(&o);
        o.arena.max = max;
        result = mk_conf_read_text(&o.tree, &o.faults, hearty, "t", "dir", NULL);
        assert_true(result == 0 || result == MK_E_NOMEM);
        if (o.faults.no_memory)
            result = MK_E_NOMEM;
        outcome_fini(&o);
        assert_true(mk_heap_live() == live);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_nul_bytes),
        cmocka_unit_test(test_binary_file_is_given_up),
        cmocka_unit_test(test_line_limit),
        cmocka_unit_test(test_text_cut_at_each_byte),
        cmocka_unit_test(test_origins),
        cmocka_unit_test(test_memory_fails_at_each_piece),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
