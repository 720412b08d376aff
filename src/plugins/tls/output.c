/* SPDX-License-Identifier: Apache-2.0 */
#include "link_int.h"

#include "kit/tls/batch.h"
#include "pipe.h"

#include <openssl/err.h>
#include <unistd.h>

/* The kernel makes its own records, and OpenSSL wants what it refused again, no less of it: no pace there. */
static size_t next_record(struct tls_link *t, int64_t now_ms, size_t left, bool more)
{
    if (!t->in_kernel)
        return tls_pace_next(&t->pace, now_ms, left, more);
    return left < TLS_RECORD_MAX ? left : TLS_RECORD_MAX;
}

/* @param done  out: bytes that are in records now @return 0, MK_E_AGAIN: the kernel, which makes them itself, is full; MK_E_PEER. */
static int encrypt(struct tls_link *t, const char *bytes, size_t len, bool more, size_t *done)
{
    int64_t now_ms = mk_worker_now_ms(t->worker->worker);

    ERR_clear_error();
    for (*done = 0; *done < len;) {
        size_t n, want = next_record(t, now_ms, len - *done, more);

        if (SSL_write_ex(t->ssl, bytes + *done, want, &n) == 1)
            *done += n;
        else if (SSL_get_error(t->ssl, 0) == SSL_ERROR_WANT_WRITE)
            return MK_E_AGAIN;
        else
            return (int)link_fail(t, "sending failed");
    }
    return 0;
}

/* @param told  grows by those bytes that have left @return 0 or an error. */
static int send_batch(struct tls_link *t, const char *bytes, size_t len, bool more, size_t *told)
{
    size_t done;
    int err = encrypt(t, bytes, len, more, &done), left;

    if (err < 0 && err != MK_E_AGAIN)
        return err;
    left = pipe_flush(t, done, more, told);
    return left < 0 ? left : err;
}

/* What was encrypted before leaves first; it is the beginning of what is given now. @return 0 or an error. */
static int send_old(struct mk_link *l, size_t *told)
{
    struct tls_link *t = l->state;
    int err = link_ready(l);

    if (err < 0)
        return err;
    err = t->outlet.left_len > 0 || t->worker->used > 0 ? pipe_flush(t, 0, false, told) : 0;
    *told += err == 0 ? t->outlet.untold : 0; /* counted where nobody could be told */
    t->outlet.untold = err == 0 ? 0 : t->outlet.untold;
    return err;
}

static ssize_t result(size_t told, int err)
{
    return told > 0 || err == 0 ? (ssize_t)told : err;
}

ssize_t link_send(struct mk_link *l, const struct iovec *iov, int niov, bool more)
{
    struct tls_link *t = l->state;
    size_t told = 0, all = tls_batch_len(iov, niov);
    int err = send_old(l, &told);

    while (err == 0 && told < all) {
        const char *bytes;
        size_t n = tls_batch_take(iov, niov, told, t->worker->in, PIECE_BYTES, &bytes);
        bool goes_on = more || told + n < all;

        err = send_batch(t, bytes, n, goes_on, &told);
    }
    if (t->state == TLS_OPEN)
        l->waits_for = t->outlet.left_len > 0 ? MK_IO_WRITE : 0;
    return result(told, err);
}

/* Sends through OpenSSL's own call; never run by us, as no kernel of ours has TLS. */
static ssize_t send_by_kernel(struct tls_link *t, int fd, uint64_t offset, size_t len)
{
    ssize_t n;

    ERR_clear_error();
    n = SSL_sendfile(t->ssl, fd, (off_t)offset, len, 0);
    if (n >= 0)
        return n;
    if (SSL_get_error(t->ssl, (int)n) == SSL_ERROR_WANT_WRITE)
        return MK_E_AGAIN;
    return link_fail(t, "sending failed");
}

/* One piece: what the socket does not take waits in memory. @param done  out: bytes that are in records now
 * @return 0, or MK_E_SYS, MK_E_PEER; a file that ends early is no error. */
static int encrypt_file(struct tls_link *t, int fd, uint64_t offset, size_t len, size_t *done)
{
    ssize_t got = pread(fd, t->worker->in, len < PIECE_BYTES ? len : PIECE_BYTES, (off_t)offset);

    *done = 0;
    if (got <= 0)
        return got < 0 ? MK_E_SYS : 0;
    return encrypt(t, t->worker->in, (size_t)got, (size_t)got < len, done);
}

ssize_t link_sendfile(struct mk_link *l, int fd, uint64_t offset, size_t len)
{
    struct tls_link *t = l->state;
    size_t told = 0, done;
    int err = send_old(l, &told);

    if (err < 0 || told > 0)
        return result(told, err);
    if (t->in_kernel)
        return send_by_kernel(t, fd, offset, len);
    err = encrypt_file(t, fd, offset, len, &done);
    if (err < 0 || done == 0)
        return err;
    err = pipe_flush(t, done, done < len, &told);
    return result(told, err);
}
