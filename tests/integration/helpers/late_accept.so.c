/* SPDX-License-Identifier: Apache-2.0 */
/* Preloaded: accept4() waits a moment for a connection, so that one turn accepts all that a quick client opens. */
#define _GNU_SOURCE
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WAIT_MS = 300 };

int accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags)
{
    struct pollfd incoming = {.fd = fd, .events = POLLIN};

    (void)poll(&incoming, 1, WAIT_MS);
    return (int)syscall(SYS_accept4, fd, addr, len, flags);
}
