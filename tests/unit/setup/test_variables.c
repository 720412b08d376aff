/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/str.h"

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
        {"$remote_port", "$remote_port", "", MK_VARIABLE_REMOTE_PORT},
        {"$request_id", "$request_id", "", MK_VARIABLE_REQUEST_ID},
        {"$tls_version", "$tls_version", "", MK_VARIABLE_TLS_VERSION},
        {"$tls_client_subject", "$tls_client_subject", "", MK_VARIABLE_TLS_SUBJECT},
        {"$$host", "$", "host", MK_VARIABLE_TEXT},
        {"$1a", "$1", "a", MK_VARIABLE_GROUP},
        {"$10", "$1", "0", MK_VARIABLE_GROUP},
        {"${HOME}/x", "HOME", "/x", MK_VARIABLE_ENVIRONMENT},
        {"${_a9}", "_a9", "", MK_VARIABLE_ENVIRONMENT},
        {"${A-B}}", "A-B", "}", MK_VARIABLE_ENVIRONMENT},
        {"${}", "${", "${}", MK_E_NOENT},
        {"${HOME", "${", "${HOME", MK_E_NOENT},
        {"${", "${", "${", MK_E_NOENT},
        {"$hosts", "$hosts", "", MK_E_NOENT},
        {"$Host", "$Host", "", MK_E_NOENT},
        {"$a_very_long_name_of_a_variable", "$a_very_long_name_of_a_variable", "", MK_E_NOENT},
        {"$ ", "$", " ", MK_E_NOENT},
        {"$", "$", "", MK_E_NOENT},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct mk_str rest = mk_str_from(rows[i].text);
        struct mk_template_piece piece;

        mk_variable_next(&rest, &piece);
        if (piece.which != rows[i].which || !mk_str_eq(piece.text, mk_str_from(rows[i].piece)) ||
            !mk_str_eq(rest, mk_str_from(rows[i].rest)))
            fail_msg("%s", rows[i].text);
    }
}

static void every_variable_has_a_name(void **state)
{
    int which = 0, count = 0;

    (void)state;
    for (const char *name = NULL; (name = mk_variable_next_name(name, &which)) != NULL; count++) {
        const int found = mk_variable_find(mk_str_from(name));

        assert_true(found == which || which >= MK_VARIABLE_COUNT);
        assert_in_range(found, 1, MK_VARIABLE_COUNT - 1);
    }
    assert_int_equal(count + 1, MK_VARIABLE_NAMES);
    assert_int_equal(mk_variable_find(MK_STR("uri")), MK_VARIABLE_PATH);
    assert_int_equal(mk_variable_find(MK_STR("args")), MK_VARIABLE_QUERY);
    assert_int_equal(mk_variable_find(MK_STR("host")), MK_VARIABLE_HOST);
    assert_int_equal(mk_variable_find(MK_STR("tls_client_subject")), MK_VARIABLE_TLS_SUBJECT);
    assert_int_equal(mk_variable_find(MK_STR("")), MK_E_NOENT);
    assert_int_equal(mk_variable_find(MK_STR("hos")), MK_E_NOENT);
}

/* The pieces of a text, each in brackets. */
static const char *read_as(const char *text, unsigned flags)
{
    static char dst[256];
    struct mk_template_piece pieces[MK_TEMPLATE_MAX];
    struct mk_str wrong = {NULL, 0};
    size_t count, len = 0;

    if (mk_template_read(pieces, &count, mk_str_from(text), flags, &wrong) < 0) {
        (void)snprintf(dst, sizeof(dst), "wrong: %.*s", (int)wrong.len, wrong.p);
        return dst;
    }
    dst[0] = '\0';
    for (size_t i = 0; i < count && len < sizeof(dst); i++)
        len += (size_t)snprintf(dst + len, sizeof(dst) - len, "[%d %.*s]", pieces[i].which,
                                (int)pieces[i].text.len, pieces[i].text.p);
    return dst;
}

static void a_text_is_taken_apart(void **state)
{
    (void)state;
    assert_string_equal(read_as("", 0), "");
    assert_string_equal(read_as("a$host b$$", 0), "[0 a][4 $host][0  b][0 $]");
    assert_string_equal(read_as("${A}$host", 0), "[100 A][4 $host]");
    assert_string_equal(read_as("a$hosts", 0), "wrong: $hosts");
    assert_string_equal(read_as("$host$1", 0), "wrong: $1");
    assert_string_equal(read_as("$host$1", MK_TEMPLATE_GROUPS), "[4 $host][101 $1]");
    assert_string_equal(read_as("100 $", 0), "wrong: $");
}

static void a_dollar_may_be_a_price(void **state)
{
    static const struct {
        const char *text, *wanted;
    } rows[] = {{"$5", "[0 $5]"},         {"$", "[0 $]"},       {"$ 5", "[0 $][0  5]"},
                {"${host", "wrong: ${"},  {"$", "[0 $]"},       {"$nobody", "wrong: $nobody"},
                {"$$", "[0 $]"},          {"$uri", "[1 $uri]"}, {"$path", "[1 $path]"},
                {"${NAME}", "[100 NAME]"}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_string_equal(read_as(rows[i].text, MK_TEMPLATE_PRICES), rows[i].wanted);
}

static void pieces_are_bounded(void **state)
{
    char text[2 * (MK_TEMPLATE_MAX + 1)];
    struct mk_template_piece pieces[MK_TEMPLATE_MAX];
    struct mk_str wrong;
    size_t count;

    (void)state;
    for (size_t i = 0; i < sizeof(text); i += 2)
        memcpy(text + i, "$1", 2);
    assert_int_equal(mk_template_read(pieces, &count, (struct mk_str){text, sizeof(text) - 2},
                                      MK_TEMPLATE_GROUPS, &wrong),
                     0);
    assert_int_equal(count, MK_TEMPLATE_MAX);
    assert_int_equal(mk_template_read(pieces, &count, (struct mk_str){text, sizeof(text)},
                                      MK_TEMPLATE_GROUPS, &wrong),
                     MK_E_LIMIT);
}

static void what_requests_change_is_not_fixed(void **state)
{
    static const struct mk_template_piece pieces[] = {
        {MK_STR_INIT("a"), MK_VARIABLE_TEXT},
        {MK_STR_INIT("b"), MK_VARIABLE_ENVIRONMENT},
        {MK_STR_INIT("$host"), MK_VARIABLE_HOST},
    };

    (void)state;
    assert_true(mk_template_is_fixed(&(struct mk_template){pieces, 0}));
    assert_true(mk_template_is_fixed(&(struct mk_template){pieces, 2}));
    assert_false(mk_template_is_fixed(&(struct mk_template){pieces, 3}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_text_or_variables),
        cmocka_unit_test(every_variable_has_a_name),
        cmocka_unit_test(a_text_is_taken_apart),
        cmocka_unit_test(a_dollar_may_be_a_price),
        cmocka_unit_test(pieces_are_bounded),
        cmocka_unit_test(what_requests_change_is_not_fixed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
