/* SPDX-License-Identifier: Apache-2.0 */
#include "duda_test.h"

#include "objects/plain/monkey_text.h"

static void searches(void **state)
{
    static const struct {
        const char *hay, *needle;
        int sensitive, len, at;
    } rows[] = {
        {"one two", "two", MK_STR_SENSITIVE, -1, 4},
        {"one TWO", "two", MK_STR_SENSITIVE, -1, -1},
        {"one TWO", "two", MK_STR_INSENSITIVE, -1, 4},
        {"one two", "two", MK_STR_SENSITIVE, 7, 4},
        {"one two", "two", MK_STR_SENSITIVE, 6, -1},
        {"one two", "two", MK_STR_SENSITIVE, 99, 4},
        {"one", "one two", MK_STR_SENSITIVE, -1, -1},
        {"", "a", MK_STR_SENSITIVE, -1, -1},
        {"a", "", MK_STR_SENSITIVE, -1, 0},
        {NULL, "a", MK_STR_SENSITIVE, -1, -1},
        {"a", NULL, MK_STR_SENSITIVE, -1, -1},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        assert_int_equal(
            mk_duda_str_search_n(rows[i].hay, rows[i].needle, rows[i].sensitive, rows[i].len),
            rows[i].at);
        if (rows[i].len < 0)
            assert_int_equal(mk_duda_str_search(rows[i].hay, rows[i].needle, rows[i].sensitive),
                             rows[i].at);
    }
    assert_int_equal(mk_duda_str_char_search("abc", 'c', -1), 2);
    assert_int_equal(mk_duda_str_char_search("abc", 'c', 2), -1);
    assert_int_equal(mk_duda_str_char_search("abc", 'c', 50), 2);
    assert_int_equal(mk_duda_str_char_search(NULL, 'c', 2), -1);
}

static void copies_parts(void **state)
{
    static const struct {
        const char *text;
        int from, to;
        const char *copy;
    } rows[] = {
        {"abcdef", 1, 3, "bc"},  {"abcdef", 0, 6, "abcdef"}, {"abcdef", 4, 99, "ef"},
        {"abcdef", 6, 6, ""},    {"abcdef", 7, 9, NULL},     {"abcdef", 3, 1, NULL},
        {"abcdef", -1, 2, NULL}, {NULL, 0, 1, NULL},
    };

    (void)state;
    for (size_t i = 0; i < NUMBER_OF(rows); i++) {
        char *copy = mk_duda_str_copy_substr(rows[i].text, rows[i].from, rows[i].to);

        if (rows[i].copy)
            assert_string_equal(copy, rows[i].copy);
        else
            assert_null(copy);
        free(copy);
    }
    assert_null(mk_duda_str_dup(NULL));
}

static void builds(void **state)
{
    unsigned long len = 0;
    char *text = NULL, *same = mk_duda_str_build(&text, &len, "%s-%d", "a", 7);

    (void)state;
    assert_ptr_equal(text, same);
    assert_string_equal(text, "a-7");
    assert_int_equal(len, 3);
    free(text);
    text = mk_duda_str_dup("copy");
    assert_string_equal(text, "copy");
    free(text);
}

static void splits(void **state)
{
    struct mk_list *list = mk_duda_str_split_line("  one\ttwo   three\r\n"), *at;
    char shown[64] = "";

    (void)state;
    mk_list_foreach(at, list)
    {
        const struct mk_string_line *line = mk_list_entry(at, struct mk_string_line, _head);

        assert_int_equal(line->len, strlen(line->val));
        (void)snprintf(shown + strlen(shown), sizeof(shown) - strlen(shown), "%s|", line->val);
    }
    assert_string_equal(shown, "one|two|three|");
    mk_duda_str_split_free(list);
    list = mk_duda_str_split_line("   ");
    assert_int_equal(mk_list_is_empty(list), 0);
    mk_duda_str_split_free(list);
    assert_null(mk_duda_str_split_line(NULL));
    mk_duda_str_split_free(NULL);
}

static void pointers_are_not_terminated(void **state)
{
    char bytes[] = {'a', 'b', 'c'}, room[24], text[] = "text";
    mk_pointer p = {.data = bytes, .len = 2}, number = {.data = room};
    char *copy = mk_duda_pointer_to_buf(p);

    (void)state;
    assert_string_equal(copy, "ab");
    free(copy);
    mk_duda_pointer_set(&p, text);
    assert_int_equal(p.len, 4);
    mk_duda_pointer_print(p);
    mk_duda_pointer_set(&p, NULL);
    assert_int_equal(p.len, 0);
    mk_duda_pointer_print(p);
    copy = mk_duda_pointer_to_buf(p);
    assert_string_equal(copy, "");
    free(copy);
    assert_int_equal(mk_duda_str_itop(UINT64_MAX, &number), 0);
    assert_string_equal(room, "18446744073709551615\r\n");
    assert_int_equal(number.len, 22);
    number.data = NULL;
    assert_int_equal(mk_duda_str_itop(1, &number), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(searches),
        cmocka_unit_test(copies_parts),
        cmocka_unit_test(builds),
        cmocka_unit_test(splits),
        cmocka_unit_test(pointers_are_not_terminated),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
