/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "outcome.h"

#include "base/invariant.h"
#include "base/heap.h"
#include "base/limits.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Each test works in an empty directory of its own, the brackets in whose name are no glob. */
static char home[] = "/tmp/mk-conf-[x]-XXXXXX";
static int home_fd;

static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st;
    (void)flag;
    (void)ftw;
    return remove(path);
}

static int enter(void **state)
{
    (void)state;
    memset(home + sizeof(home) - 7, 'X', 6);
    if (!mkdtemp(home))
        return -1;
    home_fd = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return home_fd < 0 ? -1 : 0;
}

static int leave(void **state)
{
    (void)state;
    (void)close(home_fd);
    return nftw(home, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void put(const char *name, const char *text)
{
    int fd = openat(home_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    (void)close(fd);
}

static void put_dir(const char *name)
{
    assert_int_equal(mkdirat(home_fd, name, 0700), 0);
}

static const char *in_home(struct outcome *o, const char *name)
{
    return mk_arena_printf(&o->arena, "%s/%s", home, name);
}

static void read_main(const char *tree, const char *faults)
{
    struct outcome o;

    outcome_init(&o);
    assert_int_equal(mk_conf_read_file(&o.tree, &o.faults, in_home(&o, "main"), NULL, NULL), 0);
    assert_string_equal(outcome_tree(&o), tree);
    if (faults)
        assert_string_equal(outcome_faults(&o), faults);
    outcome_fini(&o);
}

static void test_included_sections_stand_in_place(void **state)
{
    (void)state;
    put_dir("sub");
    put("main", "[A]\n Key 1\n @INCLUDE sub/b\n Key 2\n@INCLUDE sub/b\n Key 3\n[C]\n");
    put("sub/b", "[B]\n\tKey b\n\t@include c"); /* its own indentation, seen from its own place */
    put("sub/c", "[D]\n  Key d");
    read_main("A{Key=1;Key=2;Key=3;}B{Key=b;}D{Key=d;}B{Key=b;}D{Key=d;}C{}", "");
}

static void test_included_file_needs_a_head(void **state)
{
    (void)state;
    put("main", "[A]\n Key 1\n @INCLUDE b\n");
    put("b", " Key 2\n[B]\n Key 3\n");
    read_main("A{Key=1;}B{Key=3;}",
              "b:1:2 \"Key\" comes before any section; expected a [SECTION] first\n");
}

static void test_glob_takes_files_by_name(void **state)
{
    (void)state;
    put_dir("sub");
    put("main", "@INCLUDE sub/*\n@INCLUDE sub/[bc].co?f\n");
    put("sub/b.conf", "[B]\n");
    put("sub/C.conf", "[C]\n");
    put("sub/a.conf", "[A]\n");
    put("sub/a.conf~", "[BACKUP]\n");
    put("sub/.hidden", "[HIDDEN]\n");
    read_main("C{}A{}B{}B{}", "");
}

static void test_glob_that_matches_nothing_is_a_warning(void **state)
{
    (void)state;
    put("main", "@INCLUDE *.conf\n@INCLUDE none/*.conf\n[A]\n");
    read_main("A{}", "main:1:10 warning: no file matches \"*.conf\"\n"
                     "main:2:10 warning: no file matches \"none/*.conf\"\n");
}

static void test_unreadable_glob_is_a_fault(void **state)
{
    (void)state;
    if (geteuid() == 0)
        skip(); /* root may search everything */
    put_dir("sub");
    assert_int_equal(fchmodat(home_fd, "sub", 0, 0), 0);
    put("main", "@INCLUDE sub/*\n");
    read_main("", "main:1:10 cannot search for \"sub/*\"; expected a readable directory\n");
    assert_int_equal(fchmodat(home_fd, "sub", 0700, 0), 0);
}

static void assert_one_fault(const char *middle)
{
    struct outcome o;

    outcome_init(&o);
    assert_int_equal(mk_conf_read_file(&o.tree, &o.faults, in_home(&o, "main"), NULL, NULL), 0);
    assert_int_equal(o.faults.count, 1);
    if (!strstr(o.faults.first->message, middle))
        fail_msg("\"%s\" lacks \"%s\"", o.faults.first->message, middle);
    outcome_fini(&o);
}

static void test_files_that_cannot_be_read(void **state)
{
    (void)state;
    assert_one_fault("there is no such file");
    put("main", "@INCLUDE no.conf\n[A]\n");
    read_main("A{}", NULL);
    assert_one_fault("/no.conf\": there is no such file");
    put("main", "@INCLUDE main/x\n[A]\n");
    assert_one_fault("/main/x\": there is no such file");
    put("main", "@INCLUDE .\n[A]\n");
    assert_one_fault("is a directory, expected a file");
    put("main", "@INCLUDE fifo\n[A]\n");
    assert_int_equal(mkfifoat(home_fd, "fifo", 0600), 0);
    assert_one_fault("it is not a file");
    put("main", "@INCLUDE secret\n[A]\n");
    put("secret", "[S]\n");
    assert_int_equal(fchmodat(home_fd, "secret", 0, 0), 0);
    if (geteuid() != 0)
        assert_one_fault("permission denied");
    put("main", "@INCLUDE /dev/null\n[A]\n");
    read_main("A{}", "");
}

/* Holes read as NUL bytes, of which one long line is made. */
static void set_length(const char *name, off_t length)
{
    int fd = openat(home_fd, name, O_WRONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, length), 0);
    (void)close(fd);
}

static void test_file_limit(void **state)
{
    (void)state;
    put("main", "[A]\n");
    set_length("main", MK_LIMIT_CONF_FILE);
    assert_one_fault("line of 4194300 bytes; expected at most 8192");
    set_length("main", MK_LIMIT_CONF_FILE + 1);
    assert_one_fault("it is larger than 4 MB");
}

static void test_circles(void **state)
{
    (void)state;
    put("main", "[A]\n@INCLUDE b\n Key 1\n");
    put("b", "@INCLUDE link\n[B]\n");
    assert_int_equal(symlinkat("main", home_fd, "link"), 0);
    read_main("A{Key=1;}B{}", NULL);
    assert_one_fault("@INCLUDE leads back to this file");
    put("main", "@INCLUDE ma*\n");
    assert_one_fault("@INCLUDE leads back to this file");
}

static void test_depth(void **state)
{
    char name[16], text[32];

    (void)state;
    put("main", "@INCLUDE 1\n");
    for (int i = 1; i <= MK_LIMIT_CONF_DEPTH; i++) {
        (void)snprintf(name, sizeof(name), "%d", i);
        (void)snprintf(text, sizeof(text), "@INCLUDE %d\n[S%d]\n", i + 1, i);
        put(name, text);
    }
    read_main("S15{}S14{}S13{}S12{}S11{}S10{}S9{}S8{}S7{}S6{}S5{}S4{}S3{}S2{}S1{}",
              "15:1:10 @INCLUDE inside 16 files; expected fewer\n");
}

static void test_number_of_files(void **state)
{
    struct outcome o;
    size_t seen = MK_LIMIT_CONF_FILES - 1;

    (void)state;
    put("main", "@INCLUDE b\n@INCLUDE b\n[A]\n");
    put("b", "[B]\n");
    outcome_init(&o);
    assert_int_equal(mk_conf_read_file(&o.tree, &o.faults, in_home(&o, "main"), NULL, &seen), 0);
    assert_string_equal(outcome_tree(&o), "A{}");
    assert_non_null(strstr(o.faults.first->message, "a configuration has at most 4096 files"));
    assert_int_equal(o.faults.count, 1); /* for all that are not read */
    outcome_fini(&o);
}

static int refuse(void *arg, const char *path)
{
    (void)path;
    *(int *)arg += 1;
    return MK_E_NOFD;
}

static void test_host_opens_files(void **state)
{
    int calls = 0;
    const struct mk_conf_host host = {refuse, &calls};
    struct outcome o;

    (void)state;
    outcome_init(&o);
    assert_int_equal(
        mk_conf_read_text(&o.tree, &o.faults, MK_STR("@INCLUDE a\n@INCLUDE b"), "t", home, &host),
        0);
    assert_int_equal(calls, 2);
    assert_int_equal(o.faults.count, 2);
    assert_non_null(strstr(o.faults.first->message, "/a\": out of file descriptors"));
    outcome_fini(&o);
}

static void test_each_allocation_fails_once(void **state)
{
    long live = mk_heap_live();

    (void)state;
    put("main", "[A]\n Key 1\n @INCLUDE b\n @INCLUDE c*\n Key\n");
    put("b", "[B]\n Key 1\n  Key 2\n");
    put("c1", "[C]\n");
    put("c2", "[C]\n");
    for (int by_heap = 0; by_heap < 2; by_heap++) {
        int result = MK_E_NOMEM;

        for (long n = 0; result != 0; n++) {
            struct outcome o;
            char path[64];

            (void)snprintf(path, sizeof(path), "%s/main", home);
            outcome_init(&o);
            if (by_heap)
                mk_heap_fail_after(n);
            else
                o.arena.max = (size_t)n * 16;
            result = mk_conf_read_file(&o.tree, &o.faults, path, NULL, NULL);
            mk_heap_fail_after(-1);
            assert_true(result == 0 || result == MK_E_NOMEM);
            if (o.faults.no_memory)
                result = MK_E_NOMEM;
            outcome_fini(&o);
            assert_true(mk_heap_live() == live);
        }
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_included_sections_stand_in_place),
        TEST(test_included_file_needs_a_head),
        TEST(test_glob_takes_files_by_name),
        TEST(test_glob_that_matches_nothing_is_a_warning),
        TEST(test_unreadable_glob_is_a_fault),
        TEST(test_files_that_cannot_be_read),
        TEST(test_file_limit),
        TEST(test_circles),
        TEST(test_depth),
        TEST(test_number_of_files),
        TEST(test_host_opens_files),
        TEST(test_each_allocation_fails_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
