/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/unnamed/unnamed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int unnamed_open(const char *dir)
{
    char path[4096];
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL && errno != ENOENT))
        return fd;
    if ((size_t)snprintf(path, sizeof(path), "%s/.monkey-XXXXXX", dir) >= sizeof(path))
        return -1;
    fd = mkostemp(path, O_CLOEXEC); /* a file system without O_TMPFILE */
    if (fd >= 0)
        (void)unlink(path);
    return fd;
}

bool unnamed_write(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, bytes, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes += n;
        len -= (size_t)n;
    }
    return true;
}
