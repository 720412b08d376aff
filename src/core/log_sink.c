/* SPDX-License-Identifier: Apache-2.0 */
#include "core/log_sink_int.h"

#include "base/code.h"
#include "base/limits.h"
#include "core/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* ---- descriptors ---- */

/* One write that does not wait. Pipes know it since Linux 6.4, terminals do not. */
static ssize_t write_nowait(int fd, const char *bytes, size_t len)
{
#if defined(SYS_pwritev2) && defined(RWF_NOWAIT)
    const struct iovec piece = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = len};

    return syscall(SYS_pwritev2, fd, &piece, 1L, -1L, -1L, (long)RWF_NOWAIT);
#else
    (void)fd;
    (void)bytes;
    (void)len;
    errno = ENOSYS;
    return -1;
#endif
}

/* Opened once more it has flags of its own. @return bytes written, or -1 with errno; ENOENT and others: it cannot be opened. */
static ssize_t write_reopened(int fd, const char *bytes, size_t len, bool *opened)
{
    char name[32];
    int own, saved;
    ssize_t n;

    (void)snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    own = open(name, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    *opened = own >= 0;
    if (own < 0)
        return -1;
    n = write(own, bytes, len);
    saved = errno;
    mk_fd_close(&own);
    errno = saved;
    return n;
}

/* The last resort: somebody else may still fill the pipe in between. */
static ssize_t write_polled(int fd, const char *bytes, size_t len)
{
    struct pollfd ready = {.fd = fd, .events = POLLOUT};

    if (poll(&ready, 1, 0) == 1)
        return write(fd, bytes, len);
    errno = EAGAIN;
    return -1;
}

static ssize_t write_device(int fd, const char *bytes, size_t len)
{
    ssize_t n = write_nowait(fd, bytes, len);
    bool opened;

    if (n >= 0 || (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINVAL))
        return n;
    n = write_reopened(fd, bytes, len, &opened);
    return opened ? n : write_polled(fd, bytes, len);
}

ssize_t mk_log_write_now(int fd, const char *bytes, size_t len)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return -1;
    if (S_ISREG(st.st_mode))
        return write(fd, bytes, len);
    if (S_ISSOCK(st.st_mode))
        return send(fd, bytes, len, MSG_DONTWAIT | MSG_NOSIGNAL);
    return write_device(fd, bytes, len);
}

/* ---- syslog ---- */

MK_AT_START static int connect_syslog(const char *path, int type)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), saved;

    if (fd < 0 || strlen(path) >= sizeof(un.sun_path))
        return fd;
    memcpy(un.sun_path, path, strlen(path));
    if (connect(fd, (const struct sockaddr *)&un, sizeof(un)) == 0)
        return fd;
    saved = errno;
    mk_fd_close(&fd);
    errno = saved;
    return -1;
}

/* RFC 3164, as the C library writes it; its own syslog() waits for a daemon that does not keep up. */
static size_t format_syslog(char *line, size_t size, int priority, const char *text)
{
    time_t now = time(NULL);
    struct tm tm;
    char stamp[32];
    int len;

    localtime_r(&now, &tm);
    if (strftime(stamp, sizeof(stamp), "%h %e %T", &tm) == 0)
        stamp[0] = '\0';
    len = snprintf(line, size, "<%d>%s %s[%d]: %s", priority, stamp, program_invocation_short_name,
                   (int)getpid(), text);
    if (len < 0)
        return 0;
    return (size_t)len < size ? (size_t)len : size - 1;
}

bool mk_log_syslog_now(int *fd, const char *path, int priority, const char *text)
{
    char line[MK_LIMIT_LOG_LINE + 128];
    size_t len = format_syslog(line, sizeof(line), priority, text);

    for (int tries = 0; tries < 2; tries++) { /* the daemon may have been started again */
        if (*fd < 0) {
            *fd = connect_syslog(path, SOCK_DGRAM);
            if (*fd < 0 && errno == EPROTOTYPE)
                *fd = connect_syslog(path, SOCK_STREAM);
        }
        if (*fd < 0)
            return false;
        /* With its NUL: that is what separates lines on a stream, and daemons cut it off. */
        if (send(*fd, line, len + 1, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
            return true;
        if (errno == EAGAIN || errno == ENOBUFS)
            return false;
        mk_fd_close(fd);
    }
    return false;
}
