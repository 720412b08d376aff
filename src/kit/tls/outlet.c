/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/tls/outlet.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

/* @return bytes sent, 0 when there is no room, or MK_E_PEER. */
static ssize_t give(int fd, const char *bytes, size_t len, bool more)
{
    ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL | (more ? MSG_MORE : 0));

    if (n >= 0)
        return n;
    return errno == EAGAIN || errno == EINTR ? 0 : MK_E_PEER;
}

/* Behind what waits already. */
static int keep(struct tls_outlet *o, const char *records, size_t len)
{
    char *left;

    if (o->left_len + len > TLS_OUTLET_MAX)
        return MK_E_PEER;
    left = malloc(o->left_len + len);
    if (!left)
        return MK_E_NOMEM;
    if (o->left_len > 0)
        memcpy(left, o->left + o->left_at, o->left_len);
    memcpy(left + o->left_len, records, len);
    free(o->left);
    o->left = left;
    o->left_at = 0;
    o->left_len += (uint32_t)len;
    return MK_E_AGAIN;
}

/* Of the bytes in what waits, those that left count in proportion, and the last one when all has left. */
static void count(struct tls_outlet *o, size_t before, size_t *told)
{
    uint32_t still = (uint32_t)((uint64_t)o->untold * o->left_len / before);

    if (o->left_len > 0 && still == 0 && o->untold > 0)
        still = 1;
    *told += o->untold - still;
    o->untold = still;
}

static int send_left(struct tls_outlet *o, int fd, size_t *told)
{
    size_t before = o->left_len;
    ssize_t n;

    if (before == 0)
        return 0;
    n = give(fd, o->left + o->left_at, o->left_len, false);
    if (n < 0)
        return (int)n;
    o->left_at += (uint32_t)n;
    o->left_len -= (uint32_t)n;
    count(o, before, told);
    if (o->left_len > 0)
        return MK_E_AGAIN;
    tls_outlet_fini(o);
    return 0;
}

int tls_outlet_send(struct tls_outlet *o, int fd, const char *records, size_t len, size_t bytes,
                    bool more, size_t *told)
{
    int err = send_left(o, fd, told);
    ssize_t n = 0;

    if (err == 0 && len > 0)
        n = give(fd, records, len, more);
    if (n < 0 || (err < 0 && err != MK_E_AGAIN))
        return n < 0 ? (int)n : err;
    if ((size_t)n == len) {
        *told += bytes;
        return err;
    }
    err = keep(o, records + n, len - (size_t)n);
    o->untold += (uint32_t)bytes;
    if (err == MK_E_AGAIN && n > 0) /* nothing waited before */
        count(o, len, told);
    return err;
}

void tls_outlet_fini(struct tls_outlet *o)
{
    free(o->left);
    *o = (struct tls_outlet){.left = NULL};
}
