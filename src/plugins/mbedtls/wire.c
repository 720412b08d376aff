/* SPDX-License-Identifier: Apache-2.0 */
#include "link_int.h"

#include <errno.h>
#include <mbedtls/net_sockets.h>
#include <sys/socket.h>

/*
 * Between the library and the socket. It reads in two steps, head and rest of a record, which come from one read of
 * ours where they are small. What it writes gathers in the worker's buffer until mbed_wire_flush.
 */

int mbed_wire_flush(struct mbed_link *t, size_t bytes, bool more, size_t *told)
{
    struct mbed_worker *w = t->worker;
    size_t used = w->used;
    int err;

    w->used = 0;
    err = tls_outlet_send(&t->outlet, t->fd, w->out, used, bytes, more, told);
    if (err < 0 && err != MK_E_AGAIN)
        t->state = MBED_BROKEN; /* records are lost, and nothing that follows could be read */
    return err;
}

int mbed_wire_send(void *link, const unsigned char *bytes, size_t len)
{
    struct mbed_link *t = link;
    struct mbed_worker *w = t->worker;
    size_t none = 0;

    if (len > sizeof(w->out) -
                  w->used) { /* a long chain of certificates, before there are bytes of callers */
        int err = mbed_wire_flush(t, 0, true, &none);

        if (err < 0 && err != MK_E_AGAIN)
            return MBEDTLS_ERR_NET_CONN_RESET;
    }
    if (len > sizeof(w->out))
        len = sizeof(w->out);
    t->told_alert |=
        len > 0 && bytes[0] == MBEDTLS_SSL_MSG_ALERT; /* the library gives whole records */
    memcpy(w->out + w->used, bytes, len);
    w->used += len;
    return (int)len;
}

/* @return > 0, or an error of the library; 0 at the end. */
static int read_socket(struct mbed_link *t, void *to, size_t len)
{
    ssize_t n = recv(t->fd, to, len, 0);

    if (n < 0) {
        t->blocked = errno == EAGAIN || errno == EINTR;
        t->has_all = t->blocked;
        return t->blocked ? MBEDTLS_ERR_SSL_WANT_READ : MBEDTLS_ERR_NET_CONN_RESET;
    }
    t->has_all = (size_t)n < len;
    t->has_ended = n == 0;
    return (int)n;
}

int mbed_wire_recv(void *link, unsigned char *bytes, size_t len)
{
    struct mbed_link *t = link;

    if (t->in_len == 0 && len >= sizeof(t->in)) {
        t->has_touched = true; /* pages of its buffer behind the first */
        return read_socket(t, bytes, len < INT32_MAX ? len : INT32_MAX);
    }
    if (t->in_len == 0) {
        int n = read_socket(t, t->in, sizeof(t->in));

        if (n <= 0)
            return n;
        t->in_at = 0;
        t->in_len = (uint16_t)n;
    }
    if (len > t->in_len)
        len = t->in_len;
    memcpy(bytes, t->in + t->in_at, len);
    t->in_at += (uint16_t)len;
    t->in_len -= (uint16_t)len;
    return (int)len;
}
