/* SPDX-License-Identifier: Apache-2.0 */
#include "listing_test.h"

#include "template.h"

static void texts_are_cut_at_tags(void **state)
{
    static const struct {
        const char *text, *pieces; /* joined by | */
        int tags;
    } rows[] = {
        {"", "", 0},
        {"plain", "plain", 0},
        {"%_target_name_%", "%_target_name_%", 1},
        {"a %_target_name_% b", "a |%_target_name_%| b", 1},
        {"%_target_url_%%_target_name_%", "%_target_url_%|%_target_name_%", 2},
        {"%_target_url_%_target_name_%", "%_target_url_%|_target_name_%", 1},
        {"100%_", "100%_", 0},
        {"%_%", "%_%", 0},
        {"%__%", "%__%", 0},
        {"%_ note_%", "%_ note_%", 0},
        {"%_NOTE_%", "%_NOTE_%", 0},
        {"%_note%", "%_note%", 0},
        {"%_note_", "%_note_", 0},
        {"%%_note_%%", "%|%_note_%|%", 1},
        {"%_%_note_%", "%_|%_note_%", 1},
        {"%_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa_%",
         "%_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa_%", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t len = strlen(rows[i].text);
        char *exact = malloc(len ? len : 1), joined[256] = "";
        struct dirlisting_piece pieces[8];
        struct dirlisting_template t;
        struct dirlisting_fault fault;
        int tags = 0;

        assert_non_null(exact);
        memcpy(exact, rows[i].text, len);
        ssize_t count = dirlisting_template_check((struct mk_str){exact, len},
                                                  DIRLISTING_PAGE | DIRLISTING_ENTRY, &fault);

        dirlisting_template_cut(&t, (struct mk_str){exact, len}, pieces);
        assert_int_equal(count, t.count);
        for (size_t n = 0; n < t.count; n++) {
            strcat(joined, n > 0 ? "|" : "");
            strncat(joined, t.pieces[n].text.p, t.pieces[n].text.len);
            tags += t.pieces[n].tag != DIRLISTING_TEXT;
        }
        assert_string_equal(joined, rows[i].pieces);
        assert_int_equal(tags, rows[i].tags);
        free(exact);
    }
}

static void faults_tell_the_place(void **state)
{
    static const struct {
        const char *text;
        unsigned places;
        bool known;
        unsigned line, column;
        const char *tag, *line_text;
    } rows[] = {
        {"%_nonsense_%", DIRLISTING_PAGE, false, 1, 1, "%_nonsense_%", "%_nonsense_%"},
        {"a\n<b>%_tagret_name_%</b>\r\nc", DIRLISTING_PAGE | DIRLISTING_ENTRY, false, 2, 4,
         "%_tagret_name_%", "<b>%_tagret_name_%</b>"},
        {"%_note_%\n\n %_target_name_%", DIRLISTING_PAGE, true, 3, 2, "%_target_name_%",
         " %_target_name_%"},
        {"%_json_name_%", DIRLISTING_PAGE | DIRLISTING_ENTRY, false, 1, 1, "%_json_name_%",
         "%_json_name_%"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct dirlisting_fault f = {0};

        assert_int_equal(dirlisting_template_check(mk_str_from(rows[i].text), rows[i].places, &f),
                         MK_E_INVALID);
        assert_int_equal(f.known, rows[i].known);
        assert_int_equal(f.line, rows[i].line);
        assert_int_equal(f.column, rows[i].column);
        assert_int_equal(f.tag.len, strlen(rows[i].tag));
        assert_memory_equal(f.tag.p, rows[i].tag, f.tag.len);
        assert_int_equal(f.line_text.len, strlen(rows[i].line_text));
        assert_memory_equal(f.line_text.p, rows[i].line_text, f.line_text.len);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_cut_at_tags),
        cmocka_unit_test(faults_tell_the_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
