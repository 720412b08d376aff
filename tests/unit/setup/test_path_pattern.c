/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include "setup/path_pattern.h"

#include <monkey/settings.h>

struct scene {
    struct mk_arena arena;
    struct mk_faults faults;
    struct mk_setup setup;
};

static void begin(struct scene *s)
{
    mk_arena_init(&s->arena, NULL, 0, SIZE_MAX);
    mk_faults_init(&s->faults, &s->arena);
    s->setup = (struct mk_setup){.arena = &s->arena, .faults = &s->faults};
}

/* The text is not terminated, as a word of a line. @return what of mk_path_pattern came of it */
static int make(struct scene *s, const char *text, bool is_glob, const struct mk_pattern **pattern)
{
    const size_t len = strlen(text);
    char *copy = mk_arena_alloc(&s->arena, len + 1);

    memcpy(copy, text, len);
    copy[len] = '$';
    return mk_path_pattern(&s->setup, NULL, "Key", (struct mk_str){copy, len}, is_glob, pattern);
}

static void patterns_match_whole_paths_or_names(void **state)
{
    static const struct {
        const char *text, *path;
        bool matches;
    } rows[] = {
        {"*", "/", true},
        {"*", "/a/b", true},
        {"*.css", "/a.css", true},
        {"*.css", "/x/A.CSS", true},
        {"*.css", "/a.cssx", false},
        {"*.css", "/a.css/b", false},
        {"*.css", "/x/a.css/", true}, /* applications answer it as without the slash */
        {"*.css", "/x/a.css//", true},
        {"*.css", "/a.css/b/", false},
        {"/a/*.pdf", "/a/b/c.pdf/", true},
        {"/a/*.pdf", "/a/b/c.pdf/x", false},
        {"/a/*/", "/a/b/", true},
        {"/a/*/", "/a/b", false},
        {"a*c", "/abbc", true},
        {"a*c", "/xabbc", false},
        {"a*c", "/a/c", false},
        {"*a*b*", "/xxaxxbxx", true},
        {"*a*b*", "/xxbxxaxx", false},
        {"**a**", "/a", true},
        {"a?c*", "/abc", true},
        {"a?c*", "/ac", false},
        {"a?c*", "/a/c", false},
        {"/a/*", "/a/b/c", true},
        {"/a/*", "/a/", true},
        {"/a/*", "/a", false},
        {"/a/*", "/x/a/b", false},
        {"/a?b/*", "/a/b/", true},
        {"*/b", "/a/b", true},
        {"/a.b+c){d}^|/*", "/a.b+c){d}^|/x", true},
        {"/a.b*", "/axb", false},
        {"/a\\*", "/a\\b", true},
        {"^/a[0-9]+$", "/a12", true},
        {"^/a", "/A", true},
        {"^/a$", "/x/a", false},
    };
    struct scene s;

    (void)state;
    begin(&s);
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        const struct mk_pattern *pattern;

        assert_int_equal(make(&s, rows[i].text, false, &pattern), 0);
        assert_non_null(pattern);
        if (mk_pattern_is_of(pattern, mk_str_from(rows[i].path)) != rows[i].matches)
            fail_msg("'%s' on '%s'", rows[i].text, rows[i].path);
    }
    assert_int_equal(s.faults.warnings, 0);
    mk_arena_fini(&s.arena);
}

static void a_glob_without_a_star_is_one_of_a_single_file(void **state)
{
    const struct mk_pattern *pattern;
    struct scene s;

    (void)state;
    begin(&s);
    assert_int_equal(make(&s, "a.c", true, &pattern), 0);
    assert_true(mk_pattern_is_of(pattern, MK_STR("/x/a.c")));
    assert_true(mk_pattern_is_of(pattern, MK_STR("/x/a.c/")));
    assert_false(mk_pattern_is_of(pattern, MK_STR("/x/abc")));
    assert_int_equal(make(&s, "/x/?.c", true, &pattern), 0);
    assert_true(mk_pattern_is_of(pattern, MK_STR("/x/a.c")));
    assert_false(mk_pattern_is_of(pattern, MK_STR("/a.c")));
    mk_arena_fini(&s.arena);
}

static void other_texts_are_plain(void **state)
{
    static const char *const texts[] = {"/",    "/a", "admin", "/a.b",  "..\\", "..\\..\\", "~",
                                        "~$",   "$",  "'",     "/a(b)", "/a|b", "/a[b]",    "/.x",
                                        "/a+b", "\"", "\\",    "/x\\y", "(",    "/$x",      "."};
    const struct mk_pattern *pattern;
    struct scene s;

    (void)state;
    begin(&s);
    for (size_t i = 0; i < MK_ARRAY_LEN(texts); i++) {
        if (make(&s, texts[i], false, &pattern) != 0 || pattern)
            fail_msg("'%s'", texts[i]);
    }
    assert_int_equal(s.faults.warnings, 0);
    mk_arena_fini(&s.arena);
}

static void texts_of_other_notations_are_refused(void **state)
{
    static const char *const texts[] = {
        "\\.php$", "/x\\.php", "/info.php$", "/admin/$", "/(a|b)",    "/v[0-9]/x", "/[^/]",
        "/a/.*",   ".*",       "/.+",        "(.*)",     "/id/\\d+",  "\\w",       "\"/a\"",
        "'/a'",    "a/*",      "^(",         "/x/*$",    "[a-z].txt", "a(.*)",     "/x[a-z].*",
    };
    const struct mk_pattern *pattern;
    struct scene s;

    (void)state;
    begin(&s);
    for (size_t i = 0; i < MK_ARRAY_LEN(texts); i++) {
        if (make(&s, texts[i], false, &pattern) != MK_E_INVALID || pattern)
            fail_msg("'%s'", texts[i]);
        assert_int_equal(s.faults.count, i + 1);
    }
    mk_arena_fini(&s.arena);
}

static void escapes_and_queries_are_doubtful(void **state)
{
    static const char *const texts[] = {"/caf%C3%A9", "/%61*", "/a?b=c", "%2e"};
    static const char *const fine[] = {"/100%", "/%x", "%"};
    const struct mk_pattern *pattern;
    struct scene s;

    (void)state;
    begin(&s);
    for (size_t i = 0; i < MK_ARRAY_LEN(texts); i++) {
        assert_int_equal(make(&s, texts[i], false, &pattern), 0);
        assert_int_equal(s.faults.warnings, i + 1);
    }
    for (size_t i = 0; i < MK_ARRAY_LEN(fine); i++)
        assert_int_equal(make(&s, fine[i], false, &pattern), 0);
    assert_int_equal(s.faults.warnings, MK_ARRAY_LEN(texts));
    assert_int_equal(s.faults.count, 0);
    mk_arena_fini(&s.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(patterns_match_whole_paths_or_names),
        cmocka_unit_test(a_glob_without_a_star_is_one_of_a_single_file),
        cmocka_unit_test(other_texts_are_plain),
        cmocka_unit_test(texts_of_other_notations_are_refused),
        cmocka_unit_test(escapes_and_queries_are_doubtful),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
