/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "exchange/front.h"

/* Which files and paths backends may name. */

static struct mk_str beneath(char *room, const char *text, const char *root)
{
    return proxy_front_beneath(room, mk_str_from(text), root);
}

static void test_names_beneath_a_folder(void **state)
{
    static const struct {
        const char *text, *root, *path;
    } rows[] = {
        {"/srv/a", "/srv", "/a"},
        {"/srv/a/b.pdf", "/srv", "/a/b.pdf"},
        {"/srv/a/b.pdf", "/srv/a/", "/b.pdf"},
        {"a", "/srv", "/a"},
        {"a/b", "/srv", "/a/b"},
        {"a%20b%C3%A9", "/srv", "/a b\xC3\xA9"},
        {"a%2fb", "/srv", "/a/b"},   /* as it is decoded */
        {"a%252e", "/srv", "/a%2e"}, /* once */
        {"..a/b..", "/srv", "/..a/b.."},
        {"/a", "/", "/a"},
    };
    char room[100];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct mk_str path = beneath(room, rows[i].text, rows[i].root);

        assert_non_null(path.p);
        assert_string_equal(path.p, rows[i].path);
        assert_int_equal(path.len, strlen(rows[i].path));
    }
}

static void test_what_is_not_beneath_it(void **state)
{
    static const char *const texts[] = {
        "",
        "/",
        "/srv",
        "/srv/",
        "/srva/b",
        "/etc/passwd",
        "../a",
        "a/../b",
        "a/..",
        "..",
        "%2e%2e/a",
        ".%2E/a",
        "a/%2e%2e",
        "/srv/../a",
        "/srv/./a",
        "./a",
        "a//b",
        "//srv/a",
        "/srv//a",
        "a/",
        "a%00",
        "a%0a",
        "a%7f",
        "a%",
        "a%2",
        "a%zz",
        "%2fetc/a",
        "a\tb",
        "%2Fsrv%2F..%2Fa",
    };
    char room[100];

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (beneath(room, texts[i], "/srv").p)
            fail_msg("%s", texts[i]);
    }
}

/* "%2fsrv/a" says where it is as "/srv/a" does. */
static void test_an_encoded_slash_in_front(void **state)
{
    char room[100];

    (void)state;
    assert_string_equal(beneath(room, "%2fsrv/a", "/srv").p, "/a");
}

static void test_links(void **state)
{
    char folder[] = "/tmp/front_path.XXXXXX", name[PATH_MAX], real[PATH_MAX];
    static const struct {
        const char *path, *leads; /* leads NULL: refused */
    } rows[] = {
        {"/root/file", "/file"},    {"/root/inside", "/file"}, {"/root/out", NULL},
        {"/root/folder/out", NULL}, {"/root/up/secret", NULL}, {"/root/none", "/none"},
    };

    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(mkdir("root", 0700) | mkdir("root/folder", 0700) | mkdir("rootless", 0700), 0);
    fclose(fopen("root/file", "w"));
    fclose(fopen("secret", "w"));
    assert_int_equal(symlink("file", "root/inside") | symlink("../secret", "root/out") |
                         symlink("/etc/passwd", "root/folder/out") | symlink("..", "root/up"),
                     0);
    (void)snprintf(name, sizeof(name), "%s/root", folder);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct mk_str path = mk_str_from(rows[i].path + strlen("/root"));
        const char *why = proxy_front_follow(real, name, &path);

        assert_int_equal(why == NULL, rows[i].leads != NULL);
        if (!why)
            assert_string_equal(path.p, rows[i].leads);
    }
    assert_int_equal(unlink("root/file") | unlink("root/inside") | unlink("root/out") |
                         unlink("root/folder/out") | unlink("root/up") | unlink("secret") |
                         rmdir("root/folder") | rmdir("root") | rmdir("rootless") | rmdir(folder),
                     0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_beneath_a_folder),
        cmocka_unit_test(test_what_is_not_beneath_it),
        cmocka_unit_test(test_an_encoded_slash_in_front),
        cmocka_unit_test(test_links),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
