/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TLS_LINK_H
#define TLS_LINK_H

#include "context.h"
#include "kit/tls/link.h"

/* The kit's link (kit/tls/link.h) on OpenSSL. */

enum {
    PIECE_BYTES =
        62 << 10, /* of a body, read, encrypted and sent at once: with framing at most 64 KB wait */
    OUT_BYTES = PIECE_BYTES + (8 << 10), /* the same as records */
};

/** What the links of one worker share: buffers that are empty between any two calls, and the configuration. */
struct openssl_worker {
    struct tls_local local;
    unsigned refs; /* of its own thread only: its links and its configuration */
    BIO_METHOD *method;
    bool has_no_kernel; /* it was asked, and has no TLS */
    char out[OUT_BYTES];
    char in[PIECE_BYTES];
};

struct openssl_worker *openssl_worker_new(struct mk_worker *worker,
                                          struct tls_live *live) MK_MUST_USE;
void openssl_worker_put(struct openssl_worker *w);

struct openssl_link {
    struct tls_link link;
    SSL *ssl;
    struct mk_str offer; /* what may be chosen beside HTTP/1; p NULL: nothing */
};

extern const struct tls_link_engine openssl_link_engine;
extern const struct mk_transport openssl_transport;

static inline struct openssl_worker *openssl_worker_of(const struct tls_link *t)
{
    return (struct openssl_worker *)t->local;
}

static inline SSL *openssl_ssl_of(const struct tls_link *t)
{
    return ((const struct openssl_link *)t)->ssl;
}

static inline struct tls_link *openssl_link_of(const SSL *ssl)
{
    return BIO_get_data(SSL_get_rbio(ssl));
}

static inline int64_t openssl_now_s(const struct tls_link *t)
{
    return mk_worker_now_ms(t->local->worker) / 1000;
}

#endif
