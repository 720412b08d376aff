/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/tls/plain.h"
#include "link_int.h"

#include <errno.h>
#include <sys/socket.h>

enum { QUIET_RECORDS_MAX = 32 }; /* without data, one after the other, in one recv */

static ssize_t throw_away(struct mbed_link *t)
{
    ssize_t n;

    while ((n = recv(t->fd, t->worker->in, sizeof(t->worker->in), 0)) > 0) {
        t->drained += (uint32_t)n;
        if (t->drained > TLS_DRAIN_MAX)
            return MK_E_PEER;
    }
    return n < 0 && errno == EAGAIN ? MK_E_AGAIN : MK_E_PEER;
}

/* An end without close_notify may have been made by somebody on the way. HTTP requests say themselves where they end;
 * answers of backends may not (RFC 9112 section 9.8). */
static ssize_t end_of_input(struct mbed_link *t)
{
    if (t->site)
        return 0;
    return mbed_fail(t, "a backend closed", "without saying so, so its answer may be cut");
}

static ssize_t read_open(struct mbed_link *t, void *buf, size_t len)
{
    for (int quiet = 0; quiet < QUIET_RECORDS_MAX; quiet++) {
        int n;

        t->blocked = false;
        n = mbedtls_ssl_read(&t->ssl, buf, len);
        if (n > 0)
            return n;
        if (n == MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY)
            return 0;
        if (n == 0 || n == MBEDTLS_ERR_SSL_CONN_EOF)
            return end_of_input(t);
        if (n != MBEDTLS_ERR_SSL_WANT_READ)
            return mbed_fail_by(t, "receiving failed", n);
        if (t->blocked)
            return MK_E_AGAIN;
    }
    return mbed_fail(t, "receiving failed", "the peer sends records without data");
}

ssize_t mbed_link_recv(struct mk_link *l, void *buf, size_t len)
{
    struct mbed_link *t = l->state;
    ssize_t n;
    int err;

    if (t->state == MBED_ENDING)
        return throw_away(t);
    t->has_all = false; /* what an earlier call found in the socket is past */
    err = mbed_ready(l);
    if (err < 0)
        return err;
    n = read_open(t, buf, len);
    l->is_drained = t->has_all && t->in_len == 0 && !mbedtls_ssl_check_pending(&t->ssl);
    if (n == MK_E_AGAIN)
        mbed_trim(t);
    if (t->outlet.left_len == 0 && t->worker->used == 0) {
        l->waits_for = 0;
        return n;
    }
    err = mbed_flush(l); /* alerts */
    return err < 0 && err != MK_E_AGAIN ? err : n;
}
