/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "http/uri_reading.h"

enum { P = MK_READING_PARAMETERS, B = MK_READING_BACKSLASH, E = MK_READING_ENDS };

static const struct {
    const char *path;
    unsigned readings;
} found[] = {
    {"/", 0},          {"/a/b.html", 0},     {"/.well-known/..a/", 0},
    {"/a b/c", 0},     {"/a;b", P},          {"/a\\b", B},
    {"/a./b", E},      {"/a/b.", E},         {"/a ", E},
    {"/a\t/", E},      {"/a.;b", P | E},     {"/a.\\b", B | E},
    {"/..;/x", P | E}, {"/...", E},          {"/;\\ ", P | B | E},
    {"/a,b=c&d", 0},   {"/a.b;c\\d", P | B},
};

static const struct {
    const char *path;
    unsigned readings;
    const char *read;
} reads[] = {
    {"/", 7, "/"},
    {"/a/b/", 7, "/a/b/"},
    {"/admin;v=1/x", P, "/admin/x"},
    {"/admin;v=1/x", B | E, "/admin;v=1/x"},
    {"/a/..;/admin/x", P, "/admin/x"},
    {"/a/..;v=..;/admin", P, "/admin"},
    {"/a/.;/admin", P, "/a/admin"},
    {"/a/;x/admin", P, "/a/admin"},
    {"/a/..\\admin/x", B, "/admin/x"},
    {"/a\\..\\admin\\x", B, "/admin/x"},
    {"/\\\\admin\\", B, "/admin/"},
    {"/admin /x", E, "/admin/x"},
    {"/admin./x", E, "/admin/x"},
    {"/admin. . ./x", E, "/admin/x"},
    {"/admin\t", E, "/admin"},
    {"/a/.. /admin", E, "/admin"},
    {"/a/. /admin", E, "/a/admin"},
    {"/a/.../admin", E, "/a/admin"},
    {"/admin.;x", P | E, "/admin"},
    {"/admin.;x", P, "/admin."},
    {"/admin;\\..\\x/y", P, "/admin/y"},
    {"/admin;\\..\\x/y", P | B, "/x/y"},
    {"/..;/..;/admin", P, "/admin"},
    {"/a/..;", P, "/"},
    {"/a/b/..;", P, "/a/"},
    {"/a;", P, "/a"},
    {"/;", P, "/"},
};

static void finds_what_may_be_read_otherwise(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++) {
        print_message("%s\n", found[i].path);
        assert_int_equal(mk_uri_readings((struct mk_str){found[i].path, strlen(found[i].path)}),
                         found[i].readings);
    }
}

static void reads_as_others_do(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
        struct mk_str path = {reads[i].path, strlen(reads[i].path)};
        char *dst = malloc(path.len); /* exact, for the sanitizer */
        size_t len;

        print_message("%s as %u\n", reads[i].path, reads[i].readings);
        assert_non_null(dst);
        len = mk_uri_read(path, reads[i].readings, dst);
        assert_int_equal(len, strlen(reads[i].read));
        assert_memory_equal(dst, reads[i].read, len);
        free(dst);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_may_be_read_otherwise),
        cmocka_unit_test(reads_as_others_do),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
