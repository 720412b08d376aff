/* SPDX-License-Identifier: Apache-2.0 */
#include "link_int.h"

#include "kit/tls/plain.h"

#include <errno.h>
#include <openssl/err.h>
#include <sys/socket.h>

static ssize_t throw_away(struct tls_link *t)
{
    ssize_t n;

    while ((n = recv(t->fd, t->worker->in, sizeof(t->worker->in), 0)) > 0) {
        t->thrown += (uint32_t)n;
        if (t->thrown > TLS_DRAIN_MAX)
            return MK_E_PEER;
    }
    return n < 0 && errno == EAGAIN ? MK_E_AGAIN : MK_E_PEER;
}

/* An end without close_notify may have been made by somebody on the way. HTTP requests say themselves where they end;
 * answers of backends may not (RFC 9112 section 9.8). */
static ssize_t end_of_input(struct tls_link *t)
{
    ERR_clear_error();
    if (t->site || (SSL_get_shutdown(t->ssl) & SSL_RECEIVED_SHUTDOWN))
        return 0;
    link_complain(t, MK_LOG_DEBUG, "a backend closed",
                  "without saying so, so its answer may be cut");
    t->state = TLS_BROKEN;
    return MK_E_PEER;
}

static ssize_t read_open(struct tls_link *t, void *buf, size_t len)
{
    for (int quiet = 0; quiet < QUIET_RECORDS_MAX; quiet++) {
        size_t got;

        ERR_clear_error();
        t->blocked = false;
        if (SSL_read_ex(t->ssl, buf, len, &got) == 1)
            return (ssize_t)got;
        switch (SSL_get_error(t->ssl, 0)) {
        case SSL_ERROR_WANT_READ:
            if (t->blocked)
                return MK_E_AGAIN;
            continue; /* a record that was no data */
        case SSL_ERROR_ZERO_RETURN:
            return 0;
        default:
            return t->has_ended ? end_of_input(t) : link_fail(t, "receiving failed");
        }
    }
    return link_fail(t, "a peer sends records without data");
}

ssize_t link_recv(struct mk_link *l, void *buf, size_t len)
{
    struct tls_link *t = l->state;
    ssize_t n;
    int err;

    if (t->state == TLS_ENDING)
        return throw_away(t);
    t->has_all = false; /* what an earlier call found in the socket is past */
    err = link_ready(l);
    if (err < 0)
        return err;
    n = read_open(t, buf, len);
    l->is_drained = t->has_all && !SSL_has_pending(t->ssl);
    if (t->outlet.left_len == 0 && t->worker->used == 0) {
        l->waits_for = 0;
        return n;
    }
    err = link_flush(l); /* tickets, answers to key updates, alerts */
    return err < 0 && err != MK_E_AGAIN ? err : n;
}
