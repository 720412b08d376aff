/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_DIRLISTING_TEST_H
#define TESTS_DIRLISTING_TEST_H

/* What the tests of the listing need: cmocka, and a directory of their own. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

#include <monkey/types.h>

struct place {
    char path[64];
    int fd;
};

static inline int place_open(void **state)
{
    struct place *place = calloc(1, sizeof(*place));

    assert_non_null(place);
    strcpy(place->path, "/tmp/monkey-dirlisting-XXXXXX");
    assert_non_null(mkdtemp(place->path));
    place->fd = open(place->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(place->fd >= 0);
    *state = place;
    return 0;
}

static inline int place_remove_one(const char *path, const struct stat *st, int type,
                                   struct FTW *walk)
{
    (void)st, (void)type, (void)walk;
    return remove(path);
}

static inline int place_close(void **state)
{
    struct place *place = *state;

    close(place->fd);
    assert_int_equal(nftw(place->path, place_remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
    free(place);
    return 0;
}

/** A file of so many bytes, last changed then. */
static inline void place_file(const struct place *place, const char *name, off_t size, time_t time)
{
    struct timespec times[2] = {{.tv_sec = time}, {.tv_sec = time}};
    int fd = openat(place->fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, size), 0);
    assert_int_equal(futimens(fd, times), 0);
    close(fd);
}

static inline void place_directory(const struct place *place, const char *name)
{
    assert_int_equal(mkdirat(place->fd, name, 0755), 0);
}

#endif
