/* SPDX-License-Identifier: Apache-2.0 */
#include "pipe.h"

/* It makes the records itself; what OpenSSL hands over is their content, and their type where that is no data. */
static int write_to_kernel(BIO *bio, const char *bytes, size_t len, size_t *written)
{
    int n = BIO_meth_get_write(BIO_s_socket())(bio, bytes, len < INT32_MAX ? (int)len : INT32_MAX);

    *written = n > 0 ? (size_t)n : 0;
    return n > 0;
}

static int on_write(BIO *bio, const char *bytes, size_t len, size_t *written)
{
    struct tls_link *t = BIO_get_data(bio);
    ssize_t n;

    if (t->in_kernel)
        return write_to_kernel(bio, bytes, len, written);
    BIO_clear_retry_flags(bio);
    n = tls_link_write(t, bytes, len);
    *written = n > 0 ? (size_t)n : 0;
    return n > 0;
}

static int on_read(BIO *bio, char *to, size_t len, size_t *got)
{
    struct tls_link *t = BIO_get_data(bio);
    ssize_t n = tls_link_read(t, to, len);

    BIO_clear_retry_flags(bio);
    *got = n > 0 && !t->is_plain ? (size_t)n : 0;
    if (t->is_blocked)
        BIO_set_retry_read(bio);
    return *got > 0;
}

/* The rest is that of a socket, which is what OpenSSL asks about TLS in the kernel. */
enum {
    SET_KTLS = 72
}; /* OpenSSL's BIO_CTRL_SET_KTLS_SEND, named in a comment of <openssl/bio.h> only */

/* Sending only: what was read ahead could not be given to the kernel. What was written must have left before. */
static long set_kernel(BIO *bio, long is_sending, void *keys)
{
    struct tls_link *t = BIO_get_data(bio);
    size_t told = 0;

    if (!is_sending || tls_link_flush(t, 0, false, &told) < 0)
        return 0;
    t->in_kernel = BIO_meth_get_ctrl(BIO_s_socket())(bio, SET_KTLS, is_sending, keys) == 1;
    return t->in_kernel;
}

static long on_control(BIO *bio, int what, long number, void *pointer)
{
    struct tls_link *t = BIO_get_data(bio);

    switch (what) {
    case BIO_CTRL_FLUSH:
        return 1; /* tls_link_flush sends, when a call is over */
    case BIO_CTRL_EOF:
        return t && t->has_ended;
    case SET_KTLS:
        return set_kernel(bio, number, pointer);
    default:
        return BIO_meth_get_ctrl(BIO_s_socket())(bio, what, number, pointer);
    }
}

BIO_METHOD *openssl_pipe_method(void)
{
    BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOCKET, "monkey");

    if (method && BIO_meth_set_write_ex(method, on_write) == 1 &&
        BIO_meth_set_read_ex(method, on_read) == 1 && BIO_meth_set_ctrl(method, on_control) == 1)
        return method;
    BIO_meth_free(method);
    return NULL;
}

bool openssl_pipe_open(struct openssl_link *own)
{
    struct tls_link *t = &own->link;
    BIO *bio = BIO_new(openssl_worker_of(t)->method);

    if (!bio)
        return false;
    BIO_set_data(bio, t);
    BIO_set_shutdown(bio, 0); /* the descriptor is not its own */
    BIO_set_fd(bio, t->fd, BIO_NOCLOSE);
    SSL_set_bio(own->ssl, bio, bio); /* takes it */
    return true;
}
