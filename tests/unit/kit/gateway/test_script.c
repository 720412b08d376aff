/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake.h"
#include "script.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const folders[] = {"/",           "/cgi-bin", "/cgi-bin/sub", "/upload",
                                      "/folder.php", "/.git",    "/.well-known", NULL};
static const char *const files[] = {"/index.php",         "/cgi-bin/env",     "/cgi-bin/sub/deep",
                                    "/folder.php/in.php", "/upload/evil.jpg", "/.git/hook.php",
                                    "/.well-known/x.php", "/cgi-bin/.hidden", NULL};

static void test_splits(void **state)
{
    static const struct {
        const char *pattern, *path;
        int found;
        const char *name, *info;
    } rows[] = {
        {".php", "/index.php", GATEWAY_SCRIPT, "/index.php", ""},
        {".php", "/index.php/a/b", GATEWAY_SCRIPT, "/index.php", "/a/b"},
        {".php", "/index.php/", GATEWAY_SCRIPT, "/index.php", "/"},
        {".php", "/index.php/../x", GATEWAY_SCRIPT, "/index.php", "/../x"},
        {"/cgi-bin/", "/cgi-bin/env/a//b", GATEWAY_SCRIPT, "/cgi-bin/env", "/a//b"},
        {"/cgi-bin/", "/cgi-bin/sub/deep/x", GATEWAY_SCRIPT, "/cgi-bin/sub/deep", "/x"},
        /* what is not there runs nothing, and neither does what the pattern is not about */
        {".php", "/upload/evil.jpg/x.php", MK_E_NOENT, "", ""},
        {".php", "/upload/evil.jpg/x.php/index.php", MK_E_NOENT, "", ""},
        {".php", "/upload/evil.jpg/.php", MK_E_NOENT, "", ""},
        {".php", "/upload/none/x.php", MK_E_NOENT, "", ""},
        {".php", "/none.php", MK_E_NOENT, "", ""},
        {".php", "/none.php/index.php", MK_E_NOENT, "", ""},
        {"/cgi-bin/", "/cgi-bin/none/env", MK_E_NOENT, "", ""},
        /* folders */
        {"/cgi-bin/", "/cgi-bin/", GATEWAY_DIRECTORY, "", ""},
        {"/cgi-bin/", "/cgi-bin/sub", GATEWAY_DIRECTORY, "", ""},
        {"/cgi-bin/", "/cgi-bin/sub/", GATEWAY_DIRECTORY, "", ""},
        {".php", "/folder.php", GATEWAY_DIRECTORY, "", ""},
        {".php", "/folder.php/in.php/x", GATEWAY_SCRIPT, "/folder.php/in.php", "/x"},
        {NULL, "/", GATEWAY_DIRECTORY, "", ""},
        /* hidden names */
        {".php", "/.git/hook.php", MK_E_NOENT, "", ""},
        {"/cgi-bin/", "/cgi-bin/.hidden", MK_E_NOENT, "", ""},
        {".php", "/.well-known/x.php", GATEWAY_SCRIPT, "/.well-known/x.php", ""},
        {".php", "/index.php/.git", GATEWAY_SCRIPT, "/index.php", "/.git"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mk_request r = {
            .facts = {.path = mk_str_from(rows[i].path), .document_root = "/srv/"},
            .pattern = rows[i].pattern,
            .folders = folders,
            .files = files};
        struct gateway_script s;

        if (gateway_script_find(&s, &r) != rows[i].found)
            fail_msg("row %zu %s: %d", i, rows[i].path, gateway_script_find(&s, &r));
        if (!fake_is(s.name, rows[i].name) || !fake_is(s.info, rows[i].info))
            fail_msg("row %zu %s: %.*s and %.*s", i, rows[i].path, (int)s.name.len, s.name.p,
                     (int)s.info.len, s.info.p);
        fake_end(&r);
    }
}

static void test_names_of_files(void **state)
{
    struct mk_request r = {
        .facts = {.path = mk_str_from("/cgi-bin/env/a/b"), .document_root = "/srv/w"},
        .folders = folders,
        .files = files};
    struct gateway_script s;

    (void)state;
    assert_int_equal(gateway_script_find(&s, &r), GATEWAY_SCRIPT);
    assert_string_equal(s.filename, "/srv/w/cgi-bin/env");
    assert_string_equal(s.translated, "/srv/w/a/b");
    assert_int_equal(gateway_script_mount(&s, &r, 4, "/usr/lib/x"), 0);
    assert_string_equal(s.filename, "/usr/lib/x");
    assert_true(fake_is(s.name, "/cgi") && fake_is(s.info, "-bin/env/a/b"));
    fake_end(&r);
}

static void test_long_paths_cost_what_there_is(void **state)
{
    char path[4095];
    struct mk_request r = {.facts = {.path = {path, sizeof(path)}, .document_root = "/srv"},
                           .folders = folders,
                           .files = files};
    struct gateway_script s;
    unsigned asked = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(path); i++)
        path[i] = i % 2 ? 'a' : '/';
    assert_int_equal(gateway_script_find(&s, &r), MK_E_NOENT);
    assert_int_equal(r.opened, 1);
    r.pattern = "no part has this";
    r.asked = &asked;
    assert_int_equal(gateway_script_find(&s, &r), MK_E_NOENT);
    assert_int_equal(r.opened, 2);
    assert_true(asked < 12);
    fake_end(&r);
}

static void test_statuses(void **state)
{
    (void)state;
    assert_int_equal(gateway_script_status(MK_E_NOENT), 404);
    assert_int_equal(gateway_script_status(MK_E_ACCESS), 403);
    assert_int_equal(gateway_script_status(MK_E_NOMEM), 503);
    assert_int_equal(gateway_script_status(MK_E_NOFD), 503);
    assert_int_equal(gateway_script_status(MK_E_SYS), 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_splits),
        cmocka_unit_test(test_names_of_files),
        cmocka_unit_test(test_long_paths_cost_what_there_is),
        cmocka_unit_test(test_statuses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
