/* SPDX-License-Identifier: Apache-2.0 */
#include "core_test.h"

#include "core/fd.h"
#include "core/file.h"

#include <fcntl.h>
#include <unistd.h>

static char dir[] = "/tmp/mk-file-XXXXXX";
static int root = -1;

static void at(char path[128], const char *name)
{
    (void)snprintf(path, 128, "%s/%s", dir, name);
}

static void write_file(const char *name, const char *text)
{
    char path[128];
    FILE *file;

    at(path, name);
    file = fopen(path, "we");
    assert_non_null(file);
    (void)fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static int set_up(void **state)
{
    struct mk_file_facts facts;
    char path[128];

    (void)state;
    assert_non_null(mkdtemp(dir));
    at(path, "root");
    assert_int_equal(mkdir(path, 0755), 0);
    at(path, "root/sub");
    assert_int_equal(mkdir(path, 0755), 0);
    write_file("outside", "secret");
    write_file("root/a", "aaa");
    write_file("root/sub/b", "bb");
    at(path, "root/link");
    assert_int_equal(symlink("a", path), 0);
    at(path, "root/out");
    assert_int_equal(symlink("../outside", path), 0);
    at(path, "root/dirlink");
    assert_int_equal(symlink("sub", path), 0);
    at(path, "root/broken");
    assert_int_equal(symlink("nowhere", path), 0);
    at(path, "root/circle");
    assert_int_equal(symlink("circle", path), 0);
    at(path, "root/fifo");
    assert_int_equal(mkfifo(path, 0644), 0);
    at(path, "root");
    root = mk_file_open_root(path, &facts);
    assert_true(root >= 0);
    assert_true(S_ISDIR(facts.mode));
    return 0;
}

static int tear_down(void **state)
{
    static const char *const names[] = {"root/fifo", "root/circle", "root/broken", "root/dirlink",
                                        "root/out",  "root/link",   "root/sub/b",  "root/a",
                                        "outside",   "root/sub",    "root"};

    (void)state;
    mk_fd_close(&root);
    for (size_t i = 0; i < MK_ARRAY_LEN(names); i++) {
        char path[128];

        at(path, names[i]);
        (void)remove(path);
    }
    return rmdir(dir);
}

/* The same with and without openat2, and as in a kernel that has it and one that has not. */
static void opens_only_what_is_beneath(void **state)
{
    static const struct {
        const char *sentence, *path;
        int closed, open; /* without and with symbolic links: a size, or an error */
    } rows[] = {
        {"a file", "a", 3, 3},
        {"a file in a directory", "sub/b", 2, 2},
        {"a doubled slash", "sub//b", 2, 2},
        {"nothing there", "c", MK_E_NOENT, MK_E_NOENT},
        {"nothing there either", "sub/c/d", MK_E_NOENT, MK_E_NOENT},
        {"a file is no directory", "a/b", MK_E_NOENT, MK_E_NOENT},
        {"a link", "link", MK_E_ACCESS, 3},
        {"a link that leads outside", "out", MK_E_ACCESS, 6},
        {"through a linked directory", "dirlink/b", MK_E_ACCESS, 2},
        {"a link that leads nowhere", "broken", MK_E_ACCESS, MK_E_NOENT},
        {"a link to itself", "circle", MK_E_ACCESS, MK_E_ACCESS},
        {"a name longer than any",
         "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
         "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
         "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
         "xxxxxxxxxxxxxxxx",
         MK_E_NOENT, MK_E_NOENT},
    };
    struct mk_file_facts facts;

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows); i++) {
        for (int way = 0; way < 3; way++) {
            bool symlinks = way == 2, openat2 = way == 1 && mk_file_has_openat2();
            int fd = mk_file_open_beneath(root, rows[i].path, symlinks, openat2, &facts),
                want = symlinks ? rows[i].open : rows[i].closed;

            if (want >= 0 ? fd < 0 || facts.size != (uint64_t)want : fd != want)
                fail_msg("%s, way %d: %d", rows[i].sentence, way, fd);
            mk_fd_close(&fd);
        }
    }
}

static void the_root_itself_and_directories_are_opened(void **state)
{
    static const char *const paths[] = {"", "sub", "sub/"};
    struct mk_file_facts facts;

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(paths); i++) {
        for (int way = 0; way < 3; way++) {
            int fd = mk_file_open_beneath(root, paths[i], way == 2,
                                          way == 1 && mk_file_has_openat2(), &facts);

            if (fd < 0 || !S_ISDIR(facts.mode))
                fail_msg("\"%s\", way %d: %d", paths[i], way, fd);
            mk_fd_close(&fd);
        }
    }
}

static void a_fifo_does_not_block(void **state)
{
    struct mk_file_facts facts;
    int fd = mk_file_open_beneath(root, "fifo", false, mk_file_has_openat2(), &facts);

    (void)state;
    assert_true(fd >= 0);
    assert_true(S_ISFIFO(facts.mode));
    mk_fd_close(&fd);
}

static void a_root_is_a_directory(void **state)
{
    struct mk_file_facts facts;
    char path[128];

    (void)state;
    at(path, "outside");
    assert_int_equal(mk_file_open_root(path, &facts), MK_E_NOENT);
    at(path, "missing");
    assert_int_equal(mk_file_open_root(path, &facts), MK_E_NOENT);
}

static void a_change_is_seen(void **state)
{
    struct mk_file_facts before, after, other;
    int fd = mk_file_open_beneath(root, "a", false, false, &before);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(mk_file_facts_of(fd, &after), 0);
    assert_true(mk_file_is_same(&before, &after));
    (void)usleep(20000); /* beyond the grain of the file system's clock */
    write_file("root/a", "AAA");
    assert_int_equal(mk_file_facts_of(fd, &after), 0);
    assert_false(mk_file_is_same(&before, &after));
    mk_fd_close(&fd);
    fd = mk_file_open_beneath(root, "sub/b", false, false, &other);
    assert_false(mk_file_is_same(&after, &other));
    mk_fd_close(&fd);
    assert_true(mk_file_facts_of(-1, &after) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opens_only_what_is_beneath),
        cmocka_unit_test(the_root_itself_and_directories_are_opened),
        cmocka_unit_test(a_fifo_does_not_block),
        cmocka_unit_test(a_root_is_a_directory),
        cmocka_unit_test(a_change_is_seen),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
