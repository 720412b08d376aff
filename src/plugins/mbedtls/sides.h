/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MBED_SIDES_H
#define MBED_SIDES_H

#include "kit/tls/plan.h"

#include "ciphers.h"
#include "pairs.h"

#include <mbedtls/dhm.h>
#include <mbedtls/ssl.h>
#include <pthread.h>

/*
 * What sections come to: the kit's engine. These objects are read only, but for keys, which are only copied (see
 * face.h), and the system's authorities, which are read when a backend is first verified by them: they are some hundred
 * KB, and a device that talks to no backend is spared them.
 */

/** Of a [TLS]. */
struct mbed_front {
    struct mbed_pairs pairs;
    mbedtls_x509_crt ca; /* for certificates of clients */
    mbedtls_x509_crl crls;
    mbedtls_dhm_context dh;
    bool has_dh, has_tickets;
    int ciphers[MBED_CIPHERS_MAX + 1];
    int verify; /* MBEDTLS_SSL_VERIFY_... */
    uint8_t session[32];
};

/** Of a [TLS_BACKEND]. */
struct mbed_back {
    struct mbed_pairs pairs;
    mbedtls_x509_crt ca;
    pthread_mutex_t lock; /* of ca, until has_ca */
    bool has_ca, verify;
    int ciphers[MBED_CIPHERS_MAX + 1];
};

extern const struct tls_engine mbed_engine;

/** Who may sign for a backend: read now if need be. @return 0, or MK_E_NOENT: the system has none at a place that we know; MK_E_NOMEM. */
int mbed_back_need_ca(struct mbed_back *back) MK_MUST_USE;

#endif
