/* SPDX-License-Identifier: Apache-2.0 */
#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

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
