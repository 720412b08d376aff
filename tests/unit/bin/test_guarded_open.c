/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "guarded_open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder with: file, twice/ (0755) and open/ (0777, so others could change it). */
struct place {
    char dir[32];
    int home; /* where we were */
};

enum { NOBODY = 65534 };

static void write_file(const char *name)
{
    int fd = open(name, O_WRONLY | O_CREAT, 0644);

    assert_true(fd >= 0);
    close(fd);
}

static int enter_place(void **state)
{
    static struct place place;

    strcpy(place.dir, "/tmp/mk-guarded-XXXXXX");
    assert_non_null(mkdtemp(place.dir));
    place.home = open(".", O_RDONLY | O_DIRECTORY);
    assert_int_equal(chdir(place.dir), 0);
    assert_int_equal(mkdir("ours", 0755) | mkdir("open", 0755), 0);
    assert_int_equal(chmod("open", 0777), 0);
    write_file("file");
    write_file("ours/file");
    write_file("open/file");
    *state = &place;
    return 0;
}

static int leave_place(void **state)
{
    struct place *place = *state;
    char command[64];

    assert_int_equal(fchdir(place->home), 0);
    close(place->home);
    (void)snprintf(command, sizeof(command), "rm -rf %s", place->dir);
    return system(command);
}

/* @return 0 or the errno of opening name; absolute, so that every directory on the way is looked at. */
static int try(void **state, const char *name, int flags)
{
    const struct place *place = *state;
    char path[128];
    int fd;

    (void)snprintf(path, sizeof(path), "%s/%s", place->dir, name);
    fd = mk_guarded_open(path, flags, 0640, NULL);
    if (fd < 0)
        return errno;
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    close(fd);
    return 0;
}

enum { LOG = O_WRONLY | O_APPEND | O_CREAT };

static void test_opens_plain_files(void **state)
{
    struct stat st;

    assert_int_equal(try(state, "file", O_RDONLY), 0);
    assert_int_equal(try(state, "./ours/..//ours/./file", O_RDONLY), 0);
    assert_int_equal(try(state, "open/file", O_RDONLY), 0);
    assert_int_equal(try(state, "ours/new.log", LOG), 0);
    assert_int_equal(stat("ours/new.log", &st), 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    assert_int_equal(try(state, "none", O_RDONLY), ENOENT);
    assert_int_equal(try(state, "none/file", LOG), ENOENT);
    assert_int_equal(try(state, "file/file", O_RDONLY), ENOTDIR);
    assert_int_equal(mk_guarded_open("file", O_RDONLY, 0, NULL) >= 0, 1);
    assert_int_equal(mk_guarded_open("", O_RDONLY, 0, NULL), -1);
}

static void test_refuses_what_is_no_file(void **state)
{
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_int_equal(try(state, "fifo", O_RDONLY), EACCES); /* and does not wait for a writer */
    assert_int_equal(try(state, "fifo", LOG), ENXIO);
    assert_int_equal(try(state, "ours", O_RDONLY), EACCES);
    assert_int_equal(try(state, "ours/", O_RDONLY), EACCES);
    assert_int_equal(try(state, "ours", LOG), EISDIR);
    assert_int_equal(mk_guarded_open("/dev/null", O_RDONLY, 0, NULL), -1);
    assert_int_equal(errno, EACCES);
}

static void test_directories_only_when_asked_for(void **state)
{
    assert_int_equal(try(state, "ours", O_RDONLY | O_DIRECTORY), 0);
    assert_int_equal(try(state, "file", O_RDONLY | O_DIRECTORY), ENOTDIR);
    assert_int_equal(symlink("ours", "link"), 0);
    assert_int_equal(try(state, "link", O_RDONLY | O_DIRECTORY), 0);
}

static void test_follows_links_that_we_made(void **state)
{
    assert_int_equal(symlink("../file", "ours/link"), 0);
    assert_int_equal(symlink("ours", "way"), 0);
    assert_int_equal(symlink("loop", "loop"), 0);
    assert_int_equal(symlink("/etc/hostname", "ours/far"), 0);
    assert_int_equal(try(state, "ours/link", O_RDONLY), 0);
    assert_int_equal(try(state, "way/link", O_RDONLY), 0);
    assert_int_equal(try(state, "way/new.log", LOG), 0);
    assert_int_equal(try(state, "ours/far", O_RDONLY), 0);
    assert_int_equal(try(state, "loop", O_RDONLY), ELOOP);
}

static void test_log_is_never_a_link(void **state)
{
    assert_int_equal(symlink("file", "ours/link"), 0);
    assert_int_equal(symlink("nothing", "ours/dangling"), 0);
    assert_int_equal(try(state, "ours/link", LOG), ELOOP);
    assert_int_equal(try(state, "ours/dangling", LOG), ELOOP);
    assert_int_equal(access("ours/nothing", F_OK), -1);
}

static void test_planted_link_is_not_followed(void **state)
{
    if (geteuid() != 0)
        skip();
    assert_int_equal(symlink("../file", "open/link"), 0);
    assert_int_equal(symlink("../ours", "open/way"), 0);
    assert_int_equal(lchown("open/link", NOBODY, NOBODY) | lchown("open/way", NOBODY, NOBODY), 0);
    assert_int_equal(try(state, "open/link", O_RDONLY), ELOOP);
    assert_int_equal(try(state, "open/way/file", O_RDONLY), ELOOP);
    assert_int_equal(try(state, "open/way/new.log", LOG), ELOOP);
    /* The owner of a directory can do the same without it being open to all. */
    assert_int_equal(chmod("open", 0700) | chown("open", NOBODY, NOBODY), 0);
    assert_int_equal(try(state, "open/link", O_RDONLY), ELOOP);
}

static void test_second_name_is_refused_where_others_may_write(void **state)
{
    assert_int_equal(link("file", "open/second"), 0);
    assert_int_equal(link("file", "ours/second"), 0);
    assert_int_equal(try(state, "open/second", O_RDONLY), EACCES);
    assert_int_equal(try(state, "open/second", LOG), EACCES);
    assert_int_equal(try(state, "ours/second", O_RDONLY),
                     0); /* others may write /tmp, but not touch ours in it */
    assert_int_equal(mk_guarded_open("ours/second", O_RDONLY, 0, NULL) >= 0, 1);
}

static void test_tells_who_can_change_the_way(void **state)
{
    bool trusted;

    (void)state;
    assert_true(mk_guarded_open("ours", O_RDONLY | O_DIRECTORY, 0, &trusted) >= 0);
    assert_true(trusted);
    assert_true(mk_guarded_open("open", O_RDONLY | O_DIRECTORY, 0, &trusted) >= 0);
    assert_false(trusted);
    assert_true(mk_guarded_open("/tmp", O_RDONLY | O_DIRECTORY, 0, &trusted) >= 0);
    assert_false(trusted);
    assert_true(mk_guarded_open("/usr/bin", O_RDONLY | O_DIRECTORY, 0, &trusted) >= 0);
    assert_true(trusted);
}

static void test_long_names(void **state)
{
    char path[5000];

    (void)state;
    memset(path, 'x', sizeof(path) - 1);
    path[sizeof(path) - 1] = '\0';
    assert_int_equal(mk_guarded_open(path, O_RDONLY, 0, NULL), -1);
    assert_int_equal(errno, ENAMETOOLONG);
    path[300] = '\0';
    assert_int_equal(mk_guarded_open(path, LOG, 0, NULL), -1);
    assert_int_equal(errno, ENAMETOOLONG);
    for (size_t i = 0; i < 4000; i += 2)
        memcpy(path + i, "./", 2);
    strcpy(path + 4000, "file");
    assert_int_equal(mk_guarded_open(path, O_RDONLY, 0, NULL), -1);
    assert_int_equal(errno, ENAMETOOLONG);
}

#define IN_PLACE(name) cmocka_unit_test_setup_teardown(name, enter_place, leave_place)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_PLACE(test_opens_plain_files),
        IN_PLACE(test_refuses_what_is_no_file),
        IN_PLACE(test_directories_only_when_asked_for),
        IN_PLACE(test_follows_links_that_we_made),
        IN_PLACE(test_log_is_never_a_link),
        IN_PLACE(test_planted_link_is_not_followed),
        IN_PLACE(test_second_name_is_refused_where_others_may_write),
        IN_PLACE(test_tells_who_can_change_the_way),
        IN_PLACE(test_long_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
