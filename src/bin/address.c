/* SPDX-License-Identifier: Apache-2.0 */
#include "address.h"

#include "guarded_open.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool parse_port(const char *text, in_port_t *port)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    if (*text < '0' || *text > '9' || *end || end > text + 5 || value > 65535)
        return false;
    *port = htons((in_port_t)value);
    return true;
}

static bool parse_unix(const char *path, struct mk_address *a)
{
    size_t len = strlen(path);

    if (path[0] != '/' || len >= sizeof(a->un.sun_path))
        return false;
    a->un.sun_family = AF_UNIX;
    memcpy(a->un.sun_path, path, len + 1);
    a->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + 1);
    return true;
}

static bool parse_ip(const char *text, size_t len, int family, void *ip)
{
    char copy[INET6_ADDRSTRLEN];

    if (len >= sizeof(copy))
        return false;
    memcpy(copy, text, len);
    copy[len] = '\0';
    return inet_pton(family, copy, ip) == 1;
}

static bool parse_v6(const char *text, size_t len, const char *port, struct mk_address *a)
{
    a->in6.sin6_family = AF_INET6;
    a->len = sizeof(a->in6);
    return parse_ip(text, len, AF_INET6, &a->in6.sin6_addr) && parse_port(port, &a->in6.sin6_port);
}

static bool parse_v4(const char *text, size_t len, const char *port, struct mk_address *a)
{
    a->in.sin_family = AF_INET;
    a->len = sizeof(a->in);
    return parse_ip(text, len, AF_INET, &a->in.sin_addr) && parse_port(port, &a->in.sin_port);
}

bool mk_address_parse(const char *text, struct mk_address *address)
{
    const char *colon = strrchr(text, ':');
    size_t len;

    memset(address, 0, sizeof(*address));
    if (strncmp(text, "unix:", 5) == 0)
        return parse_unix(text + 5, address);
    if (!colon)
        return parse_v6("::", 2, text, address);
    len = (size_t)(colon - text);
    if (text[0] == '[' && len >= 2 && colon[-1] == ']')
        return parse_v6(text + 1, len - 2, colon + 1, address);
    return parse_v4(text, len, colon + 1, address);
}

static const char *format_ip(const struct mk_address *a, char dst[MK_ADDRESS_TEXT])
{
    bool is_v4 = a->sa.sa_family == AF_INET;
    char ip[INET6_ADDRSTRLEN];

    inet_ntop(a->sa.sa_family, is_v4 ? (const void *)&a->in.sin_addr : &a->in6.sin6_addr, ip,
              sizeof(ip));
    (void)snprintf(dst, MK_ADDRESS_TEXT, is_v4 ? "%s:%u" : "[%s]:%u", ip,
                   ntohs(is_v4 ? a->in.sin_port : a->in6.sin6_port));
    return dst;
}

const char *mk_address_canonical(const char *text, char dst[MK_ADDRESS_TEXT])
{
    struct mk_address a;

    if (!mk_address_parse(text, &a) || a.sa.sa_family == AF_UNIX)
        return text;
    return format_ip(&a, dst);
}

static bool is_every(const struct mk_address *a)
{
    return a->sa.sa_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&a->in6.sin6_addr);
}

static int open_socket(const struct mk_address *a)
{
    return socket(a->sa.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

/* A kernel without IPv6: every address is every IPv4 address. */
static int open_inet_socket(struct mk_address *a)
{
    int fd = open_socket(a);
    in_port_t port = a->in6.sin6_port;

    if (fd >= 0 || errno != EAFNOSUPPORT || !is_every(a))
        return fd;
    *a = (struct mk_address){.len = sizeof(a->in), .in = {.sin_family = AF_INET, .sin_port = port}};
    return open_socket(a);
}

static int set_flag(int fd, int level, int name, int value)
{
    return setsockopt(fd, level, name, &value, sizeof(value));
}

static int bind_or_close(int fd, const struct mk_address *a)
{
    int err;

    if (bind(fd, &a->sa, a->len) == 0)
        return fd;
    err = errno;
    close(fd);
    errno = err;
    return -1;
}

static int bind_inet(struct mk_address *a, bool share)
{
    int fd = open_inet_socket(a);

    if (fd < 0)
        return -1;
    (void)set_flag(fd, SOL_SOCKET, SO_REUSEADDR, 1);
    if (share)
        (void)set_flag(fd, SOL_SOCKET, SO_REUSEPORT, 1);
    if (a->sa.sa_family == AF_INET6)
        (void)set_flag(fd, IPPROTO_IPV6, IPV6_V6ONLY, !is_every(a));
    return bind_or_close(fd, a);
}

/* May nobody but root and us change the directory of the socket file? */
static bool has_trusted_dir(const char *path)
{
    char dir[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
    bool trusted = false;
    int fd;

    memcpy(dir, path, strlen(path) + 1);
    strrchr(dir, '/')[1] = '\0';
    fd = mk_guarded_open(dir, O_RDONLY | O_DIRECTORY, 0, &trusted);
    if (fd < 0)
        return false;
    close(fd);
    return trusted;
}

/* The file of a unix socket outlives its server. */
static void remove_stale(const struct mk_address *a)
{
    struct stat st;
    int fd;

    if (lstat(a->un.sun_path, &st) < 0 || !S_ISSOCK(st.st_mode))
        return;
    fd = open_socket(a);
    if (fd < 0)
        return;
    if (connect(fd, &a->sa, a->len) < 0 && errno == ECONNREFUSED)
        (void)unlink(a->un.sun_path);
    close(fd);
}

void mk_address_remove_stale(const char *text)
{
    struct mk_address a;

    if (mk_address_parse(text, &a) && a.sa.sa_family == AF_UNIX && has_trusted_dir(a.un.sun_path))
        remove_stale(&a);
}

/* Anybody may connect, as with a port: the file belongs to root, its clients hardly ever do. */
static int bind_unix(const struct mk_address *a)
{
    mode_t mask;
    int fd;

    if (!has_trusted_dir(a->un.sun_path)) {
        errno = EACCES;
        return -1;
    }
    fd = open_socket(a);
    if (fd < 0)
        return -1;
    remove_stale(a);
    mask = umask(0111);
    fd = bind_or_close(fd, a);
    umask(mask);
    return fd;
}

int mk_address_bind(const char *text, bool share)
{
    struct mk_address a;

    if (!mk_address_parse(text, &a)) {
        errno = EINVAL;
        return -1;
    }
    return a.sa.sa_family == AF_UNIX ? bind_unix(&a) : bind_inet(&a, share);
}
