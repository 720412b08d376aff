/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/plain/monkey_socket.h"

#include <arpa/inet.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/sendfile.h>

static int set_flag(int fd, int level, int option, int value)
{
    return setsockopt(fd, level, option, &value, sizeof(value));
}

int mk_duda_socket_cork_flag(int fd, int on)
{
    return set_flag(fd, IPPROTO_TCP, TCP_CORK, on != 0);
}

/* The name is the first implementation's: the address can be used again at once. */
int mk_duda_socket_reset(int fd)
{
    return set_flag(fd, SOL_SOCKET, SO_REUSEADDR, 1);
}

int mk_duda_socket_set_tcp_nodelay(int fd)
{
    return set_flag(fd, IPPROTO_TCP, TCP_NODELAY, 1);
}

int mk_duda_socket_set_nonblocking(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    return flags < 0 ? -1 : fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

static int connect_to(const struct addrinfo *to)
{
    int fd = socket(to->ai_family, to->ai_socktype | SOCK_CLOEXEC, to->ai_protocol);

    if (fd >= 0 && connect(fd, to->ai_addr, to->ai_addrlen) < 0) {
        (void)close(fd);
        fd = -1;
    }
    return fd;
}

int mk_duda_socket_connect(char *host, int port)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    char service[16];
    int fd = -1;

    (void)snprintf(service, sizeof(service), "%d", port);
    if (!host || getaddrinfo(host, service, &hints, &found) != 0)
        return -1;
    for (const struct addrinfo *at = found; at && fd < 0; at = at->ai_next)
        fd = connect_to(at);
    freeaddrinfo(found);
    return fd;
}

int mk_duda_socket_create(void)
{
    return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

int mk_duda_socket_close(int fd)
{
    return close(fd);
}

int mk_duda_socket_send(int fd, const void *buf, size_t len)
{
    return (int)send(fd, buf, len < INT_MAX ? len : INT_MAX, MSG_NOSIGNAL);
}

int mk_duda_socket_read(int fd, void *buf, int len)
{
    return len < 0 ? -1 : (int)read(fd, buf, (size_t)len);
}

int mk_duda_socket_send_file(int fd, int file_fd, off_t *offset, size_t count)
{
    return (int)sendfile(fd, file_fd, offset, count < INT_MAX ? count : INT_MAX);
}

int mk_duda_socket_ip_str(int fd, char **buf, int size, unsigned long *len)
{
    struct sockaddr_storage peer;
    socklen_t peer_len = sizeof(peer);

    if (!buf || !*buf || size <= 0 || getpeername(fd, (struct sockaddr *)&peer, &peer_len) < 0 ||
        getnameinfo((struct sockaddr *)&peer, peer_len, *buf, (socklen_t)size, NULL, 0,
                    NI_NUMERICHOST) != 0)
        return -1;
    if (len)
        *len = strlen(*buf);
    return 0;
}
