/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "pidfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/mk-pidfile-XXXXXX";

static int enter(void **state)
{
    (void)state;
    return mkdtemp(dir) ? chdir(dir) : -1;
}

static int leave(void **state)
{
    (void)state;
    return chdir("/") || rmdir(dir);
}

static int pid_in(const char *path)
{
    FILE *file = fopen(path, "r");
    int pid = -1;

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%d\n", &pid), 1);
    assert_int_equal(fgetc(file), EOF);
    fclose(file);
    return pid;
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void test_no_file_is_fine(void **state)
{
    struct mk_pidfile file;

    (void)state;
    assert_int_equal(mk_pidfile_take(&file, NULL), 0);
    mk_pidfile_remove(&file);
}

static void test_has_our_pid_until_removed(void **state)
{
    struct mk_pidfile file, second;

    (void)state;
    write_text("stale", "1234567890\n");
    assert_int_equal(mk_pidfile_take(&file, "stale"), 0);
    assert_int_equal(pid_in("stale"), getpid());
    assert_int_equal(mk_pidfile_take(&second, "stale"), -1);
    assert_int_equal(pid_in("stale"), getpid());
    mk_pidfile_remove(&file);
    assert_int_equal(access("stale", F_OK), -1);
    mk_pidfile_remove(&file); /* once more does no harm */
}

static void test_leaves_a_file_that_is_not_ours(void **state)
{
    struct mk_pidfile file;

    (void)state;
    assert_int_equal(mk_pidfile_take(&file, "moved"), 0);
    assert_int_equal(rename("moved", "away"), 0);
    write_text("moved", "7\n");
    mk_pidfile_remove(&file);
    assert_int_equal(pid_in("moved"), 7);
    assert_int_equal(unlink("moved") | unlink("away"), 0);
}

static void test_refuses_what_is_no_plain_file(void **state)
{
    struct mk_pidfile file;

    (void)state;
    write_text("target", "keep me\n");
    assert_int_equal(symlink("target", "link") | mkfifo("fifo", 0600), 0);
    assert_int_equal(mk_pidfile_take(&file, "link"), -1);
    assert_int_equal(mk_pidfile_take(&file, "fifo"), -1);
    assert_int_equal(mk_pidfile_take(&file, "."), -1);
    assert_int_equal(mk_pidfile_take(&file, "none/file"), -1);
    assert_int_equal(mk_pidfile_take(&file, "/dev/null"), -1);
    assert_int_equal(unlink("link") | unlink("fifo") | unlink("target"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_file_is_fine),
        cmocka_unit_test(test_has_our_pid_until_removed),
        cmocka_unit_test(test_leaves_a_file_that_is_not_ours),
        cmocka_unit_test(test_refuses_what_is_no_plain_file),
    };

    return cmocka_run_group_tests(tests, enter, leave);
}
