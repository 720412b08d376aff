/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"
#include "setup/settings.h"

#include <monkey/variables.h>

static void pieces_are_text_or_variables(void **state)
{
    static const struct {
        const char *text, *piece, *rest;
        int which;
    } rows[] = {
        {"plain", "plain", "", MK_VARIABLE_TEXT},
        {"a$host", "a", "$host", MK_VARIABLE_TEXT},
        {"$host", "$host", "", MK_VARIABLE_HOST},
        {"$host:80", "$host", ":80", MK_VARIABLE_HOST},
        {"$host80", "$host", "80", MK_VARIABLE_HOST},
        {"$remote_addr$host", "$remote_addr", "$host", MK_VARIABLE_REMOTE_ADDR},
        {"$request_id", "$request_id", "", MK_VARIABLE_REQUEST_ID},
        {"$$host", "$", "host", MK_VARIABLE_TEXT},
        {"$hosts", "$hosts", "", MK_E_NOENT},
        {"$Host", "$Host", "", MK_E_NOENT},
        {"$a_very_long_name_of_a_variable", "$a_very_long_name_of_a_variable", "", MK_E_NOENT},
        {"${host}", "$", "{host}", MK_E_NOENT},
        {"$5", "$", "5", MK_E_NOENT},
        {"$", "$", "", MK_E_NOENT},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct mk_str rest = mk_str_from(rows[i].text), piece;

        if (mk_variable_next(&rest, &piece) != rows[i].which ||
            !mk_str_eq(piece, mk_str_from(rows[i].piece)) ||
            !mk_str_eq(rest, mk_str_from(rows[i].rest)))
            fail_msg("%s", rows[i].text);
    }
}

static void every_name_of_the_sentence_is_known(void **state)
{
    struct mk_str rest = MK_STR(MK_VARIABLES_TEXT), piece;
    bool has[MK_VARIABLE_COUNT] = {false};

    (void)state;
    while (rest.len > 0) {
        const int which = mk_variable_next(&rest, &piece);

        assert_true(which >= 0);
        has[which] = true;
    }
    for (int i = 0; i < MK_VARIABLE_COUNT; i++)
        if (!has[i])
            fail_msg("%d", i);
}

static void a_dollar_in_a_header_may_be_text(void **state)
{
    static const struct {
        const char *text;
        int which;
    } rows[] = {{"$5", MK_VARIABLE_TEXT},   {"$", MK_VARIABLE_TEXT},    {"$ 5", MK_VARIABLE_TEXT},
                {"${host}", MK_E_NOENT},    {"$nobody", MK_E_NOENT},    {"$$", MK_VARIABLE_TEXT},
                {"$uri", MK_VARIABLE_PATH}, {"$path", MK_VARIABLE_PATH}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct mk_str rest = mk_str_from(rows[i].text), piece;

        if (mk_header_next(&rest, &piece) != rows[i].which)
            fail_msg("%s", rows[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_text_or_variables),
        cmocka_unit_test(every_name_of_the_sentence_is_known),
        cmocka_unit_test(a_dollar_in_a_header_may_be_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
