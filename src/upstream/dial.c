/* SPDX-License-Identifier: Apache-2.0 */
#include "base/heap.h"
#include "core/fd.h"
#include "server/backend/stream.h"
#include "server/worker/worker.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/un.h>

/* Connections that we begin. */

enum { PROTOCOL_MAX = 255 }; /* its length is one byte: RFC 7301 section 3.1 */

/* @return a socket, or an error. */
static int open_socket(int family)
{
    int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), one = 1;

    if (fd < 0)
        return errno == EAFNOSUPPORT ? MK_E_PEER : mk_error_from_errno(errno);
    if (family != AF_UNIX)
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    return fd;
}

/* @return 0: connected, or it will be told; an error. */
static int connect_socket(struct mk_stream *s, const struct mk_dial *dial, bool *at_once)
{
    *at_once = connect(s->watch.fd, dial->addr, dial->addr_len) == 0;
    if (*at_once || errno == EINPROGRESS)
        return 0;
    switch (errno) {
    case EAGAIN: /* a unix socket's queue is full, or there is no free port: nothing would tell of a change */
    case EADDRNOTAVAIL:
        return MK_E_BUSY;
    case ENOMEM:
    case ENOBUFS:
        return MK_E_NOMEM;
    default:
        return MK_E_PEER;
    }
}

static void fail(struct mk_stream *s, int error)
{
    s->error = error;
    mk_stream_break(s, MK_IO_ERROR);
}

static void shake(struct mk_stream *s, uint32_t bits)
{
    const struct mk_transport *transport = s->link->transport;
    ssize_t n = transport->is_plain ? 0 : transport->send(s->link, NULL, 0, false);

    if (n == MK_E_AGAIN)
        return;
    if (n < 0) {
        s->unagreed = s->protocol && n == MK_E_UNSUPPORTED;
        fail(s, EPROTO);
        return;
    }
    mk_stream_timeout(s, 0);
    mk_stream_begin(s);
    mk_stream_on_epoll(s, bits);
}

static void go_on(struct mk_stream *s, uint32_t bits)
{
    int error = 0;
    socklen_t len = sizeof(error);

    if (s->state == MK_STREAM_WAITING || (bits & EPOLLERR)) {
        (void)getsockopt(s->watch.fd, SOL_SOCKET, SO_ERROR, &error, &len);
        if (error != 0) {
            fail(s, error);
            return;
        }
        if (s->state == MK_STREAM_WAITING)
            mk_stream_go(s, MK_STREAM_SHAKING);
    }
    shake(s, bits);
}

static int open_link(struct mk_stream *s, const struct mk_via *via, const char *name)
{
    const struct mk_view *view = s->worker->view;

    s->own = (struct mk_link){.transport = via->transport, .fd = s->watch.fd, .is_client = true};
    if (via->transport->open) {
        const struct mk_context *ctx =
            mk_view_context(view, &view->snapshot->sites[0], via->plugin);
        int err = via->transport->open(&s->own, ctx, name);

        if (err < 0)
            return err;
    }
    s->link = &s->own;
    return 0;
}

/* An older caller's struct ends before the protocol. */
static int take_protocol(struct mk_stream *s, const struct mk_dial *dial)
{
    bool has_one = dial->size >= offsetof(struct mk_dial, protocol) + sizeof(dial->protocol);
    struct mk_str name = mk_str_from(has_one ? dial->protocol : NULL);

    if (!name.p)
        return 0;
    if (name.len == 0 || name.len > PROTOCOL_MAX)
        return MK_E_INVALID;
    s->protocol = mk_heap_strdup(name);
    return s->protocol ? 0 : MK_E_NOMEM;
}

static int dial_with(struct mk_stream *s, const struct mk_dial *dial, const struct mk_via *via)
{
    bool at_once;
    int err = take_protocol(s, dial);

    if (err < 0)
        return err;
    s->watch.fd = open_socket(dial->addr->sa_family);
    if (s->watch.fd < 0)
        return s->watch.fd;
    err = connect_socket(s, dial, &at_once);
    if (err == 0)
        err = open_link(s, via, dial->name);
    if (err == 0)
        err = mk_watch_open(&s->worker->loop, &s->watch, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
    if (err < 0)
        return err;
    mk_stream_timeout(s, dial->timeout_ms);
    if (at_once)
        mk_watch_run_soon(&s->worker->loop, &s->watch);
    return 0;
}

int mk_stream_dial(struct mk_stream **stream, struct mk_worker *w, const struct mk_dial *dial,
                   mk_stream_fn fn, void *arg)
{
    struct mk_via via;
    int err;

    *stream = NULL;
    if (w->ended)
        return MK_E_PEER;
    if (!mk_via_find(&via, w->view->snapshot,
                     mk_str_from(dial->transport ? dial->transport : "liana")))
        return MK_E_UNSUPPORTED;
    *stream = mk_stream_new(w, fn, arg);
    if (!*stream)
        return MK_E_NOMEM;
    (*stream)->connect = go_on;
    err = dial_with(*stream, dial, &via);
    if (err < 0) {
        int saved = errno;

        mk_stream_close(*stream);
        *stream = NULL;
        errno = saved;
    }
    return err;
}

/* ---- addresses ---- */

union address {
    struct sockaddr sa;
    struct sockaddr_in in;
    struct sockaddr_in6 in6;
    struct sockaddr_un un;
};

/* @param size  of what the kernel wrote: a unix socket without a name has no path, and one of the longest no NUL */
static int write_address(char dst[MK_STREAM_ADDRESS], const union address *a, size_t size)
{
    char ip[INET6_ADDRSTRLEN];

    if (a->sa.sa_family == AF_INET && inet_ntop(AF_INET, &a->in.sin_addr, ip, sizeof(ip)))
        return snprintf(dst, MK_STREAM_ADDRESS, "%s:%u", ip, ntohs(a->in.sin_port));
    if (a->sa.sa_family == AF_INET6 && inet_ntop(AF_INET6, &a->in6.sin6_addr, ip, sizeof(ip)))
        return snprintf(dst, MK_STREAM_ADDRESS, "[%s]:%u", ip, ntohs(a->in6.sin6_port));
    if (a->sa.sa_family == AF_UNIX && size > offsetof(struct sockaddr_un, sun_path) &&
        a->un.sun_path[0])
        return snprintf(dst, MK_STREAM_ADDRESS, "unix:%.*s",
                        (int)(size - offsetof(struct sockaddr_un, sun_path)), a->un.sun_path);
    return 0;
}

size_t mk_stream_address(const struct mk_stream *s, char dst[MK_STREAM_ADDRESS])
{
    union address a = {.sa = {.sa_family = AF_UNSPEC}};
    socklen_t size = sizeof(a);
    int len = 0;

    dst[0] = '\0';
    if (getpeername(s->watch.fd, &a.sa, &size) == 0 && size <= sizeof(a))
        len = write_address(dst, &a, size);
    return len > 0 && len < MK_STREAM_ADDRESS ? (size_t)len : 0;
}
