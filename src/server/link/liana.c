/* SPDX-License-Identifier: Apache-2.0 */
#define MK_PLUGIN_STATIC /* part of the library, and found like any other that is built in */
#include "server/link/transport.h"

#include "core/calls.h"

#include <monkey/plugin.h>

#include <errno.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

static int peer_error(int err)
{
    return err == EAGAIN || err == EINTR ? MK_E_AGAIN : MK_E_PEER;
}

static ssize_t liana_recv(struct mk_link *l, void *buf, size_t len)
{
    ssize_t n = mk_call_recv(l->fd, buf, len, 0);

    l->is_drained = n < (ssize_t)len;
    return n >= 0 ? n : peer_error(errno);
}

static ssize_t liana_send(struct mk_link *l, const struct iovec *iov, int niov, bool more)
{
    int flags = MSG_NOSIGNAL | (more ? MSG_MORE : 0);
    struct msghdr msg = {.msg_iovlen = (size_t)niov};
    ssize_t n;

    if (niov == 1) {
        n = mk_call_send(l->fd, iov->iov_base, iov->iov_len, flags);
    } else {
        msg.msg_iov = (struct iovec *)(uintptr_t)iov; /* sendmsg only reads it */
        n = sendmsg(l->fd, &msg, flags);
    }
    return n >= 0 ? n : peer_error(errno);
}

static ssize_t liana_sendfile(struct mk_link *l, int fd, uint64_t offset, size_t len)
{
    off_t at = (off_t)offset;
    ssize_t n = sendfile(l->fd, fd, &at, len);

    if (n >= 0)
        return n;
    switch (errno) {
    case EINVAL: /* this file system cannot */
    case ENOSYS:
        return MK_E_UNSUPPORTED;
    case EIO:
    case ENOMEM:
        return MK_E_SYS;
    default:
        return peer_error(errno);
    }
}

static void liana_shutdown(struct mk_link *l)
{
    (void)shutdown(l->fd, SHUT_WR);
}

const struct mk_transport mk_transport_liana = {
    .size = sizeof(struct mk_transport),
    .name = "liana",
    .is_plain = true,
    .recv = liana_recv,
    .send = liana_send,
    .sendfile = liana_sendfile,
    .shutdown = liana_shutdown,
};

static const struct mk_plugin liana = {
    MK_PLUGIN("liana", "plain sockets"),
    .transport = &mk_transport_liana,
    .traits = MK_TRAIT_ALWAYS,
};
MK_PLUGIN_EXPORT(liana);
