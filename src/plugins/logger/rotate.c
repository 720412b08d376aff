/* SPDX-License-Identifier: Apache-2.0 */
#include "rotate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { NUMBER_TEXT = 8 }; /* ".100" */

time_t logger_rotate_midnight(time_t after)
{
    struct tm tm;
    time_t midnight;

    if (!localtime_r(&after, &tm))
        return after + 86400;
    tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
    tm.tm_mday++;
    tm.tm_isdst = -1;
    midnight = mktime(&tm);
    return midnight > after ? midnight : after + 86400;
}

/* @return 0, also without such a file; or -1 with errno. */
static int move(const char *from, const char *to)
{
    return rename(from, to) == 0 || errno == ENOENT ? 0 : -1;
}

static void write_name(char *dst, size_t size, const char *path, unsigned number)
{
    if (number == 0)
        (void)snprintf(dst, size, "%s", path);
    else
        (void)snprintf(dst, size, "%s.%u", path, number);
}

/* The last one is overwritten. */
static int move_all(const struct logger_rotation *r, const char *path, char *from, char *to,
                    size_t size)
{
    for (unsigned n = r->count; n > 0; n--) {
        write_name(from, size, path, n - 1);
        write_name(to, size, path, n);
        if (move(from, to) < 0)
            return -1;
    }
    return 0;
}

int logger_rotate(const struct logger_rotation *r, const char *path)
{
    const size_t size = strlen(path) + NUMBER_TEXT;
    char *names = malloc(2 * size);
    int fd = -1, err;

    if (!names)
        return -1;
    if (move_all(r, path, names, names + size, size) == 0) {
        fd = r->open(r->arg, path);
        if (fd < 0) {
            if (fd != MK_E_SYS)
                errno = fd == MK_E_ACCESS ? EACCES : fd == MK_E_NOFD ? EMFILE : EIO;
            err = errno;
            (void)rename(names + size, path); /* FILE.1, to go on in it */
            errno = err;
            fd = -1;
        }
    }
    err = errno;
    free(names);
    errno = err;
    return fd;
}
