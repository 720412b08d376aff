/* SPDX-License-Identifier: Apache-2.0 */
#include "systemd.h"

#include "report.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { FIRST_FD = 3 };

static struct sockaddr_un notify_addr;
static socklen_t notify_len; /* 0: nobody to notify */

/* The value of a decimal variable, or -1. */
static long number_of(const char *name)
{
    const char *text = getenv(name);
    char *end;
    unsigned long value;

    if (!text || *text < '0' || *text > '9')
        return -1;
    value = strtoul(text, &end, 10);
    return *end || value > INT_MAX ? -1 : (long)value;
}

static int int_option(int fd, int name)
{
    int value = -1;
    socklen_t len = sizeof(value);

    return getsockopt(fd, SOL_SOCKET, name, &value, &len) < 0 ? -1 : value;
}

static bool is_listening_stream(int fd)
{
    return int_option(fd, SO_TYPE) == SOCK_STREAM && int_option(fd, SO_ACCEPTCONN) == 1;
}

static void take_socket(struct mk_systemd_sockets *sockets, int fd)
{
    int flags = fcntl(fd, F_GETFL);

    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    (void)fcntl(fd, F_SETFL, flags | O_NONBLOCK); /* as systemd has it, accepting would wait */
    if (!is_listening_stream(fd))
        mk_report("descriptor %d from systemd is not a listening stream socket and is ignored", fd);
    else if (sockets->count == MK_SYSTEMD_SOCKETS_MAX)
        mk_report("descriptor %d from systemd is one too many and is ignored", fd);
    else
        sockets->fds[sockets->count++] = fd;
}

static void take_sockets(struct mk_systemd_sockets *sockets)
{
    long count = number_of("LISTEN_FDS");

    if (number_of("LISTEN_PID") == getpid() && count > 0 && count < INT_MAX - FIRST_FD) {
        for (int fd = FIRST_FD; fd < FIRST_FD + count && fcntl(fd, F_GETFD) >= 0; fd++)
            take_socket(sockets, fd);
    }
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
}

/* A path, or with @ in front the name of an abstract socket. */
static void take_notify_socket(void)
{
    const char *name = getenv("NOTIFY_SOCKET");
    size_t len = name ? strlen(name) : 0;

    if (len > 1 && len < sizeof(notify_addr.sun_path) && (name[0] == '/' || name[0] == '@')) {
        notify_addr.sun_family = AF_UNIX;
        memcpy(notify_addr.sun_path, name, len);
        if (name[0] == '@')
            notify_addr.sun_path[0] = '\0';
        notify_len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
    }
    unsetenv("NOTIFY_SOCKET");
}

void mk_systemd_take(struct mk_systemd_sockets *sockets)
{
    take_sockets(sockets);
    take_notify_socket();
}

void mk_systemd_notify(const char *state)
{
    int fd;

    if (notify_len == 0)
        return;
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    (void)sendto(fd, state, strlen(state), MSG_NOSIGNAL, (const struct sockaddr *)&notify_addr,
                 notify_len);
    close(fd);
}

void mk_systemd_status(const char *what, const char *why)
{
    static bool is_shown;
    char state[512];

    if (!is_shown && !what[0] && !why[0])
        return;
    is_shown = true;
    (void)snprintf(state, sizeof(state), "STATUS=%s%s", what, why);
    mk_systemd_notify(state);
}

void mk_systemd_reloading(void)
{
    char state[64];
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    (void)snprintf(state, sizeof(state), "RELOADING=1\nMONOTONIC_USEC=%lld",
                   (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
    mk_systemd_notify(state);
}

void mk_systemd_forget(void)
{
    notify_len = 0;
}
