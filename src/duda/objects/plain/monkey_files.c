/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/plain/monkey_files.h"

#include <stdbool.h>

static ssize_t read_all(int fd, char *dst, size_t len)
{
    size_t got = 0;

    while (got < len) {
        ssize_t n = read(fd, dst + got, len - got);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        got += (size_t)n;
    }
    return (ssize_t)got;
}

static char *read_file(int fd)
{
    struct stat st;
    char *text;
    ssize_t n;

    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > MK_DUDA_FILE_MAX)
        return NULL;
    text = malloc((size_t)st.st_size + 1);
    n = text ? read_all(fd, text, (size_t)st.st_size) : -1;
    if (n < 0) {
        free(text);
        return NULL;
    }
    text[n] = 0;
    return text;
}

char *mk_duda_file_to_buffer(const char *path)
{
    /* a fifo must not hold up the worker until somebody writes to it */
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    char *text;

    if (fd < 0)
        return NULL;
    text = read_file(fd);
    (void)close(fd);
    return text;
}

int mk_duda_file_get_info(const char *path, struct file_info *info)
{
    struct stat st, own;

    if (!info)
        return -1;
    *info = (struct file_info){0};
    if (!path || lstat(path, &own) < 0 || stat(path, &st) < 0)
        return -1;
    info->size = st.st_size;
    info->last_modification = st.st_mtime;
    info->flags_read_only = O_RDONLY;
    info->exists = MK_TRUE;
    info->is_file = S_ISREG(st.st_mode);
    info->is_link = S_ISLNK(own.st_mode);
    info->is_directory = S_ISDIR(st.st_mode);
    info->exec_access = faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
    info->read_access = faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0;
    return 0;
}
