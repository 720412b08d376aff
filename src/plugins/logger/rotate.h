/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LOGGER_ROTATE_H
#define LOGGER_ROTATE_H

#include <monkey/types.h>

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

/* Log files that are renamed when they are full or a day is over: FILE to FILE.1, FILE.1 to FILE.2 and so on. */

enum {
    LOGGER_ROTATE_MIN = 64 << 10,  /* bytes of a file */
    LOGGER_ROTATE_COUNT_MAX = 100, /* files that are kept */
    LOGGER_ROTATE_AGAIN_S = 60,    /* after one that failed */
};

struct logger_rotation {
    off_t size;     /* a file has at most so many bytes; 0: no limit */
    bool daily;     /* at the first line of a day of local time */
    unsigned count; /* files kept beside the one that is written; 0: files are not rotated */
    int (*open)(void *arg, const char *path); /* @return a descriptor, or an enum mk_error */
    void *arg;
};

/** @return the local midnight after that time. */
time_t logger_rotate_midnight(time_t after);

/**
 * Rename the files of a log, and open a new one.
 * @param path  of the file that is written now
 * @return its descriptor; or -1: nothing has changed for the file that is written, and errno says why.
 */
int logger_rotate(const struct logger_rotation *r, const char *path) MK_MUST_USE;

#endif
