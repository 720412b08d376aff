/* SPDX-License-Identifier: Apache-2.0 */
#include "core/fd.h"

#include "base/code.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <sys/stat.h>
#include <unistd.h>

void mk_fd_close(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

static int set_flag(int fd, int level, int name, int value)
{
    return setsockopt(fd, level, name, &value, sizeof(value));
}

MK_AT_START static int open_socket(const struct mk_addr *addr)
{
    int fd = socket(addr->sa.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd >= 0 && addr->sa.sa_family == AF_INET6)
        (void)set_flag(fd, IPPROTO_IPV6, IPV6_V6ONLY,
                       !IN6_IS_ADDR_UNSPECIFIED(&addr->in6.sin6_addr));
    return fd;
}

void mk_fd_share_port(int fd)
{
    (void)set_flag(fd, SOL_SOCKET, SO_REUSEPORT, 1);
}

MK_AT_START int mk_fd_remove_stale(const struct mk_addr *addr)
{
    const char *path = addr->un.sun_path;
    struct stat st;
    int fd, err = 0;

    if (addr->sa.sa_family != AF_UNIX || lstat(path, &st) < 0 || !S_ISSOCK(st.st_mode))
        return 0;
    fd = open_socket(addr);
    if (fd < 0)
        return 0;
    if (connect(fd, &addr->sa, addr->len) < 0 &&
        (errno == EACCES || (errno == ECONNREFUSED && unlink(path) < 0)))
        err = mk_error_from_errno(errno);
    mk_fd_close(&fd);
    return err == MK_E_ACCESS ? err : 0;
}

/* Without IPv6 in the kernel "every address" is every IPv4 address. */
static bool fall_back_to_v4(const struct mk_addr *addr, struct mk_addr *v4)
{
    if (errno != EAFNOSUPPORT || addr->sa.sa_family != AF_INET6 ||
        !IN6_IS_ADDR_UNSPECIFIED(&addr->in6.sin6_addr))
        return false;
    *v4 = (struct mk_addr){.len = sizeof(v4->in)};
    v4->in.sin_family = AF_INET;
    v4->in.sin_port = addr->in6.sin6_port;
    return true;
}

MK_AT_START void mk_fd_fall_back(struct mk_addr *addr)
{
    struct mk_addr v4;
    int fd = open_socket(addr);

    if (fd < 0 && fall_back_to_v4(addr, &v4))
        *addr = v4;
    mk_fd_close(&fd);
}

/* Linux makes the file with the mode of the socket, so there is no moment with a wider one. */
MK_AT_START int mk_fd_bind_file(const struct mk_addr *addr, mode_t mode)
{
    int fd = open_socket(addr), err;

    if (fd < 0)
        return mk_error_from_errno(errno);
    if (mk_fd_remove_stale(addr) < 0)
        errno = EACCES;
    else if (fchmod(fd, mode) == 0 && bind(fd, &addr->sa, addr->len) == 0)
        return fd;
    err = errno;
    mk_fd_close(&fd);
    errno = err;
    return mk_error_from_errno(err);
}

MK_AT_START int mk_fd_bind(const struct mk_addr *addr, bool reuse_port)
{
    struct mk_addr v4;
    int fd = open_socket(addr), err;

    if (fd < 0)
        return fall_back_to_v4(addr, &v4) ? mk_fd_bind(&v4, reuse_port)
                                          : mk_error_from_errno(errno);
    if (addr->sa.sa_family == AF_UNIX) {
        if (mk_fd_remove_stale(addr) < 0) {
            errno = EACCES;
            goto fail;
        }
    } else if (set_flag(fd, SOL_SOCKET, SO_REUSEADDR, 1) < 0 ||
               (reuse_port && set_flag(fd, SOL_SOCKET, SO_REUSEPORT, 1) < 0)) {
        goto fail;
    }
    if (bind(fd, &addr->sa, addr->len) < 0)
        goto fail;
    return fd;

fail:
    err = errno;
    mk_fd_close(&fd);
    errno = err;
    return mk_error_from_errno(err);
}

int mk_fd_listen(int fd, const struct mk_addr *addr, const struct mk_listen_options *options)
{
    if (addr->sa.sa_family != AF_UNIX) {
        (void)set_flag(fd, IPPROTO_TCP, TCP_NODELAY, 1);
        (void)set_flag(fd, IPPROTO_TCP, TCP_DEFER_ACCEPT, MK_FD_DEFER_S);
        if (options->fast_open > 0) /* a kernel without it serves all the same */
            (void)set_flag(fd, IPPROTO_TCP, TCP_FASTOPEN, options->fast_open);
    }
    return listen(fd, options->backlog) < 0 ? mk_error_from_errno(errno) : 0;
}
