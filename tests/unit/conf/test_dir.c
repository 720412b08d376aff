/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/invariant.h"
#include "base/heap.h"
#include "conf/conf.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const files[] = {"b.conf",  "a.conf",    "B.conf",    "plain",
                                    ".hidden", "old.conf~", "a.conf.bak"};

static char home[] = "/tmp/mk-dir-XXXXXX";

static int enter(void **state)
{
    int fd;

    (void)state;
    if (!mkdtemp(home) || chdir(home) < 0 || mkdir("sub.conf", 0700) < 0 ||
        symlink("a.conf", "link.conf") < 0 || symlink("nowhere", "lost.conf") < 0 ||
        symlink("sub.conf", "sublink.conf") < 0)
        return -1;
    for (size_t i = 0; i < MK_ARRAY_LEN(files); i++) {
        fd = open(files[i], O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        if (fd < 0)
            return -1;
        (void)close(fd);
    }
    return 0;
}

static int leave(void **state)
{
    static const char *const others[] = {"link.conf", "lost.conf", "sublink.conf"};

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(files); i++)
        (void)unlink(files[i]);
    for (size_t i = 0; i < MK_ARRAY_LEN(others); i++)
        (void)unlink(others[i]);
    return rmdir("sub.conf") < 0 || chdir("/") < 0 || rmdir(home) < 0 ? -1 : 0;
}

static void test_lists_files_that_count(void **state)
{
    /* a dangling link is listed, so that reading it says what is wrong; so is a folder of such a name */
    static const char *const all[] = {"./B.conf",    "./a.conf",    "./a.conf.bak", "./b.conf",
                                      "./link.conf", "./lost.conf", "./plain"};
    static const char *const conf[] = {"./B.conf",    "./a.conf",   "./b.conf",      "./link.conf",
                                       "./lost.conf", "./sub.conf", "./sublink.conf"};
    struct mk_arena arena;
    const char *const *paths;

    (void)state;
    mk_arena_init(&arena, NULL, 0, SIZE_MAX);
    assert_int_equal(mk_conf_list_dir(&arena, ".", NULL, &paths), MK_ARRAY_LEN(all));
    for (size_t i = 0; i < MK_ARRAY_LEN(all); i++)
        assert_string_equal(paths[i], all[i]);
    assert_null(paths[MK_ARRAY_LEN(all)]);
    assert_int_equal(mk_conf_list_dir(&arena, ".", ".conf", &paths), MK_ARRAY_LEN(conf));
    for (size_t i = 0; i < MK_ARRAY_LEN(conf); i++)
        assert_string_equal(paths[i], conf[i]);
    assert_int_equal(mk_conf_list_dir(&arena, "sub.conf", NULL, &paths), 0);
    assert_null(paths[0]);
    mk_arena_fini(&arena);
}

static void test_no_such_directory(void **state)
{
    struct mk_arena arena;
    const char *const *paths;

    (void)state;
    mk_arena_init(&arena, NULL, 0, SIZE_MAX);
    assert_int_equal(mk_conf_list_dir(&arena, "none", NULL, &paths), MK_E_NOENT);
    assert_int_equal(mk_conf_list_dir(&arena, "plain", NULL, &paths), MK_E_NOENT);
    if (geteuid() != 0) {
        assert_int_equal(chmod("sub.conf", 0), 0);
        assert_int_equal(mk_conf_list_dir(&arena, "sub.conf", NULL, &paths), MK_E_ACCESS);
    }
    mk_arena_fini(&arena);
}

static void test_each_allocation_fails_once(void **state)
{
    int n = MK_E_NOMEM;

    (void)state;
    for (size_t max = 0; n < 0; max += 16) {
        struct mk_arena arena;
        const char *const *paths;

        mk_arena_init(&arena, NULL, 0, max);
        n = mk_conf_list_dir(&arena, ".", NULL, &paths);
        assert_true(n > 0 || n == MK_E_NOMEM);
        mk_arena_fini(&arena);
    }
    assert_int_equal(mk_heap_live(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists_files_that_count),
        cmocka_unit_test(test_no_such_directory),
        cmocka_unit_test(test_each_allocation_fails_once),
    };

    return cmocka_run_group_tests(tests, enter, leave);
}
