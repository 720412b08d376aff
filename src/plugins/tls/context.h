/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TLS_CONTEXT_H
#define TLS_CONTEXT_H

#include "kit/tls/plan.h"
#include "staple.h"

#include <openssl/ssl.h>
#include <pthread.h>

/*
 * What handshakes need, from settings and bytes: the engine of this plugin. A site's object is a struct
 * front, a backend's a struct back.
 */

struct front {
    SSL_CTX *ctx;
    unsigned char session[32]; /* tls_identity.session */
    struct staples staples;
    long min, max; /* versions */
    int verify;
    unsigned tickets; /* of TLS 1.3, after a handshake */
    uint64_t options; /* those that differ between sites */
    bool kernel;
};

struct back {
    SSL_CTX *ctx;
    bool verify;
    pthread_mutex_t lock;
    bool awaits_system; /* the system's authorities are wanted and have not been read; under lock */
};

extern const struct tls_engine openssl_engine;

/** The handshake of a link goes on with this site's certificate and rules. In the client hello only. */
bool openssl_front_apply(SSL *ssl, const struct front *front) MK_MUST_USE;

/**
 * A connection to a backend. The system's authorities, a megabyte of memory that most servers never need, are
 * read by the first that is to be verified by them, which takes some milliseconds. Any worker. @return it, the caller's; NULL without memory.
 */
SSL *openssl_back_open(struct back *back) MK_MUST_USE;

#endif
