/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/str.h"
#include "server/matcher.h"

static const char *const paths[] = {
    "/",          "/a",        "/A.PHP",      "/a.php",   "/x/a.php/y", "/aphp",
    "/cgi-bin/x", "/CGI-BIN/", "/x/cgi-bin/", "/a+b",     "/a.b",       "/axb",
    "/$",         "/a$",       "/^a",         "/ab",      "/abab",      "/a\\b",
    "/a-b_c",     "/aaaaab",   "/\xc3\xa9",   "/a.php?x", "/a/",        "/.php",
};

static const struct {
    const char *sentence, *pattern;
    enum mk_matcher_kind kind;
} patterns[] = {
    {"a literal anywhere", "cgi-bin", MK_MATCH_CONTAINS},
    {"at the start", "^/cgi-bin/", MK_MATCH_PREFIX},
    {"at the end", "\\.php$", MK_MATCH_SUFFIX},
    {"the whole", "^/a\\.php$", MK_MATCH_EXACT},
    {"everything", "^", MK_MATCH_PREFIX},
    {"everything, too", "$", MK_MATCH_SUFFIX},
    {"in capitals", "^/CGI-Bin/", MK_MATCH_PREFIX},
    {"escaped plus", "a\\+b", MK_MATCH_CONTAINS},
    {"escaped dollar at the end", "a\\$", MK_MATCH_CONTAINS},
    {"escaped caret at the start", "\\^a", MK_MATCH_CONTAINS},
    {"escaped backslash", "a\\\\b", MK_MATCH_CONTAINS},
    {"escapes that need none", "a\\-b\\_c", MK_MATCH_CONTAINS},
    {"bytes above ASCII", "\xc3\xa9", MK_MATCH_CONTAINS},
    {"any character", "^/a.b$", MK_MATCH_REGEX},
    {"repetition", "^/(ab)+$", MK_MATCH_REGEX},
    {"choice", "\\.(php|html)$", MK_MATCH_REGEX},
    {"a set", "^/[^/]*\\.php$", MK_MATCH_REGEX},
    {"a bound", "a{3,}", MK_MATCH_REGEX},
    {"an escape with a meaning of its own", "\\bphp", MK_MATCH_REGEX},
};

static void literals_match_as_the_engine_does(void **state)
{
    struct mk_arena arena;

    (void)state;
    mk_arena_init(&arena, NULL, 0, SIZE_MAX);
    for (size_t i = 0; i < MK_ARRAY_LEN(patterns); i++) {
        struct mk_matcher m;
        const char *why = NULL;
        regex_t plain, own;

        assert_int_equal(mk_matcher_init(&m, mk_str_from(patterns[i].pattern), &arena, &why), 0);
        if (m.kind != patterns[i].kind)
            fail_msg("%s: kind %d", patterns[i].sentence, m.kind);
        assert_int_equal(regcomp(&plain, patterns[i].pattern, REG_EXTENDED | REG_ICASE | REG_NOSUB),
                         0);
        if (m.kind == MK_MATCH_REGEX)
            assert_int_equal(mk_matcher_compile(&m, &own), 0);
        for (size_t j = 0; j < MK_ARRAY_LEN(paths); j++) {
            bool expected = regexec(&plain, paths[j], 0, NULL, 0) == 0;

            if (mk_matcher_matches(&m, &own, mk_str_from(paths[j])) != expected)
                fail_msg("%s: %s on %s", patterns[i].sentence, patterns[i].pattern, paths[j]);
        }
        if (m.kind == MK_MATCH_REGEX)
            regfree(&own);
        regfree(&plain);
    }
    mk_arena_fini(&arena);
}

static void bad_patterns_are_refused_with_a_reason(void **state)
{
    static const struct {
        const char *sentence, *pattern;
    } rows[] = {
        {"a parenthesis that is not closed", "^/(a"},
        {"a set that is not closed", "[a"},
        {"a bound upside down", "a{3,1}"},
        {"a backslash at the end", "a\\"},
        {"a back-reference: its cost has no bound", "(a)\\1"},
        {"a back-reference behind an escaped backslash", "(a)\\\\\\2"},
    };
    struct mk_arena arena;

    (void)state;
    mk_arena_init(&arena, NULL, 0, SIZE_MAX);
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        struct mk_matcher m;
        const char *why = NULL;

        if (mk_matcher_init(&m, mk_str_from(rows[i].pattern), &arena, &why) != MK_E_INVALID)
            fail_msg("%s", rows[i].sentence);
        assert_true(why && *why);
    }
    mk_arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literals_match_as_the_engine_does),
        cmocka_unit_test(bad_patterns_are_refused_with_a_reason),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
