/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/tls/batch.h"
#include "link_int.h"

#include <unistd.h>

enum {
    SMALL_WRITE = 3072
}; /* a record of so many bytes stays in the first page of the library's buffer */

/* The library's buffer is empty between two calls, so it takes a record each time. @return 0 or MK_E_PEER. */
static int encrypt(struct mbed_link *t, const char *bytes, size_t len, bool more)
{
    int64_t now_ms = mk_worker_now_ms(t->worker->worker);

    for (size_t done = 0; done < len;) {
        size_t want = tls_pace_next(&t->pace, now_ms, len - done, more);
        int n = mbedtls_ssl_write(&t->ssl, (const unsigned char *)bytes + done, want);

        if (n <= 0)
            return (int)mbed_fail_by(t, "sending failed", n);
        done += (size_t)n;
        t->has_touched |= want > SMALL_WRITE;
    }
    return 0;
}

/* @param told  grows by those bytes that have left @return 0 or an error. */
static int send_batch(struct mbed_link *t, const char *bytes, size_t len, bool more, size_t *told)
{
    int err = encrypt(t, bytes, len, more);

    return err < 0 ? err : mbed_wire_flush(t, len, more, told);
}

/* What was encrypted before leaves first; it is the beginning of what is given now. @return 0 or an error. */
static int send_old(struct mk_link *l, size_t *told)
{
    struct mbed_link *t = l->state;
    int err = mbed_ready(l);

    if (err < 0)
        return err;
    err = t->outlet.left_len > 0 || t->worker->used > 0 ? mbed_wire_flush(t, 0, false, told) : 0;
    if (err == 0) {
        *told += t->outlet.untold; /* counted where nobody could be told */
        t->outlet.untold = 0;
    }
    return err;
}

static ssize_t result(const struct mbed_link *t, struct mk_link *l, size_t told, int err)
{
    if (t->state == MBED_OPEN)
        l->waits_for = t->outlet.left_len > 0 ? MK_IO_WRITE : 0;
    return told > 0 || err == 0 ? (ssize_t)told : err;
}

ssize_t mbed_link_send(struct mk_link *l, const struct iovec *iov, int niov, bool more)
{
    struct mbed_link *t = l->state;
    size_t told = 0, all = tls_batch_len(iov, niov);
    int err = send_old(l, &told);

    while (err == 0 && told < all) {
        const char *bytes;
        size_t n = tls_batch_take(iov, niov, told, t->worker->in, MBED_BATCH_BYTES, &bytes);

        err = send_batch(t, bytes, n, more || told + n < all, &told);
    }
    if (err == 0 && told == all && !more)
        mbed_trim(t);
    return result(t, l, told, err);
}

/* Not the kernel's: a way around a buffer of the caller's. */
ssize_t mbed_link_sendfile(struct mk_link *l, int fd, uint64_t offset, size_t len)
{
    struct mbed_link *t = l->state;
    size_t told = 0;
    int err = send_old(l, &told);
    ssize_t n;

    if (err < 0 || told > 0)
        return result(t, l, told, err);
    n = pread(fd, t->worker->in, len < MBED_BATCH_BYTES ? len : MBED_BATCH_BYTES, (off_t)offset);
    if (n <= 0)
        return n < 0 ? MK_E_SYS : 0;
    err = send_batch(t, t->worker->in, (size_t)n, (size_t)n < len, &told);
    if (err == 0 && told == len)
        mbed_trim(t);
    return result(t, l, told, err);
}
