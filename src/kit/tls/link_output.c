/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/tls/batch.h"
#include "kit/tls/link_int.h"

#include <unistd.h>

/* The kernel's records have no pace: the library wants what the kernel refused again, no less of it. */
static size_t next_record(struct tls_link *t, int64_t now_ms, size_t left, bool more)
{
    if (!t->in_kernel)
        return tls_pace_next(&t->pace, now_ms, left, more);
    return left < TLS_RECORD_MAX ? left : TLS_RECORD_MAX;
}

static int fail_to_send(struct tls_link *t)
{
    char text[TLS_WHY_MAX];

    return tls_link_fail(t, "sending failed", t->local->engine->why(t, text));
}

/* @param done  out: bytes that are in records now @return 0, MK_E_AGAIN or MK_E_PEER, as write of struct tls_link_engine. */
static int encrypt(struct tls_link *t, const char *bytes, size_t len, bool more, size_t *done)
{
    int64_t now_ms = mk_worker_now_ms(t->local->worker);

    for (*done = 0; *done < len;) {
        size_t want = next_record(t, now_ms, len - *done, more);
        ssize_t n = t->local->engine->write(t, bytes + *done, want);

        if (n == MK_E_AGAIN)
            return MK_E_AGAIN;
        if (n <= 0)
            return fail_to_send(t);
        *done += (size_t)n;
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
    left = tls_link_flush(t, done, more, told);
    return left < 0 ? left : err;
}

/* What was encrypted before leaves first; it is the beginning of what is given now. @return 0 or an error. */
static int send_old(struct mk_link *l, size_t *told)
{
    struct tls_link *t = l->state;
    int err = tls_link_ready(l);

    if (err < 0)
        return err;
    err = tls_link_waits(t) ? tls_link_flush(t, 0, false, told) : 0;
    if (err == 0) {
        *told += t->outlet.untold; /* counted where no caller could be told */
        t->outlet.untold = 0;
    }
    return err;
}

/* @param is_all  nothing more comes at once */
static ssize_t end_send(struct mk_link *l, size_t told, int err, bool is_all)
{
    struct tls_link *t = l->state;

    if (err == 0 && is_all && t->local->engine->rest)
        t->local->engine->rest(t);
    if (t->state == TLS_LINK_OPEN)
        l->waits_for = t->outlet.left_len > 0 ? MK_IO_WRITE : 0;
    return told > 0 || err == 0 ? (ssize_t)told : err;
}

ssize_t tls_link_send(struct mk_link *l, const struct iovec *iov, int niov, bool more)
{
    struct tls_link *t = l->state;
    struct tls_local *w = t->local;
    size_t told = 0, all = tls_batch_len(iov, niov);
    int err = send_old(l, &told);

    if (err == MK_E_PEER && niov == 0 && t->is_unagreed)
        return MK_E_UNSUPPORTED;
    while (err == 0 && told < all) {
        const char *bytes;
        size_t n = tls_batch_take(iov, niov, told, w->in, w->in_size, &bytes);

        err = send_batch(t, bytes, n, more || told + n < all, &told);
    }
    return end_send(l, told, err, told == all && !more);
}

/* One piece: what the socket does not take waits in memory. */
ssize_t tls_link_sendfile(struct mk_link *l, int fd, uint64_t offset, size_t len)
{
    struct tls_link *t = l->state;
    struct tls_local *w = t->local;
    size_t told = 0;
    int err = send_old(l, &told);
    ssize_t n;

    if (err < 0 || told > 0)
        return end_send(l, told, err, false);
    if (t->in_kernel) {
        n = w->engine->sendfile(t, fd, offset, len);
        return n == MK_E_PEER ? fail_to_send(t) : n;
    }
    n = pread(fd, w->in, len < w->in_size ? len : w->in_size, (off_t)offset);
    if (n <= 0)
        return n < 0 ? MK_E_SYS : 0;
    err = send_batch(t, w->in, (size_t)n, (size_t)n < len, &told);
    return end_send(l, told, err, told == len);
}
