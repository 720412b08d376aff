/* SPDX-License-Identifier: Apache-2.0 */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

enum { TEXT_SIZE = 16384, PATH_SIZE = 512 };

ssize_t source_read(int dir, const char *name, char *text, size_t size)
{
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
    size_t len = 0;
    ssize_t got = 0;
    int err;

    if (fd < 0)
        return -1;
    while (len < size - 1 && (got = read(fd, text + len, size - 1 - len)) > 0)
        len += (size_t)got;
    err = errno;
    (void)close(fd);
    errno = err;
    text[len] = '\0';
    return got < 0 ? -1 : (ssize_t)len;
}

const char *source_text(int dir, const char *name, ...)
{
    static char text[TEXT_SIZE];
    char path[PATH_SIZE];
    va_list words;
    ssize_t len;

    va_start(words, name);
    (void)vsnprintf(path, sizeof(path), name, words);
    va_end(words);
    len = source_read(dir, path, text, sizeof(text));
    if (len == 0)
        errno = ENODATA;
    return len > 0 ? text : NULL;
}

DIR *source_folder(int dir, const char *name)
{
    int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);

    if (fd >= 0 && !folder)
        (void)close(fd);
    return folder;
}
