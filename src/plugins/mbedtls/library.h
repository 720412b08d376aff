/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MBED_LIBRARY_H
#define MBED_LIBRARY_H

#include "rng.h"

#include <mbedtls/dhm.h>
#include <mbedtls/pk.h>
#include <mbedtls/sha256.h>
#include <mbedtls/ssl.h>
#include <mbedtls/version.h>

/*
 * Where mbedTLS 3 calls for something else than 2.28 does. Neither has a call to choose another configuration for a
 * handshake that has begun, which is what a name in the client hello does; nor any that shrinks a connection's buffers, or
 * tells which alert came.
 */

#if MBEDTLS_VERSION_MAJOR >= 3

#define MBED_MEMBER(name) MBEDTLS_PRIVATE(name)

static inline int mbed_parse_key(mbedtls_pk_context *key, const unsigned char *bytes, size_t len,
                                 mbedtls_ctr_drbg_context *rng)
{
    return mbedtls_pk_parse_key(key, bytes, len, NULL, 0, mbedtls_ctr_drbg_random, rng);
}

static inline int mbed_check_pair(const mbedtls_pk_context *public_key,
                                  const mbedtls_pk_context *key, mbedtls_ctr_drbg_context *rng)
{
    return mbedtls_pk_check_pair(public_key, key, mbedtls_ctr_drbg_random, rng);
}

static inline void mbed_use_conf(mbedtls_ssl_context *ssl, const mbedtls_ssl_config *conf)
{
    ssl->MBED_MEMBER(conf) = conf;
}

static inline int mbed_dh_bits(const mbedtls_dhm_context *dh)
{
    return (int)mbedtls_dhm_get_bitlen(dh);
}

static inline void mbed_sha256(const void *bytes, size_t len, unsigned char out[32])
{
    (void)mbedtls_sha256(bytes, len, out, 0);
}

#else

#define MBED_MEMBER(name) name

static inline int mbed_parse_key(mbedtls_pk_context *key, const unsigned char *bytes, size_t len,
                                 mbedtls_ctr_drbg_context *rng)
{
    (void)rng;
    return mbedtls_pk_parse_key(key, bytes, len, NULL, 0);
}

static inline int mbed_check_pair(const mbedtls_pk_context *public_key,
                                  const mbedtls_pk_context *key, mbedtls_ctr_drbg_context *rng)
{
    (void)rng;
    return mbedtls_pk_check_pair(public_key, key);
}

static inline void mbed_use_conf(mbedtls_ssl_context *ssl, const mbedtls_ssl_config *conf)
{
    ssl->conf = conf;
}

static inline int mbed_dh_bits(const mbedtls_dhm_context *dh)
{
    return (int)mbedtls_mpi_bitlen(&dh->P);
}

static inline void mbed_sha256(const void *bytes, size_t len, unsigned char out[32])
{
    (void)mbedtls_sha256_ret(bytes, len, out, 0);
}

#endif

/** @return the description of a fatal alert that has just ended the handshake (MBEDTLS_ERR_SSL_FATAL_ALERT_MESSAGE). */
static inline unsigned char mbed_alert(const mbedtls_ssl_context *ssl)
{
    return ssl->MBED_MEMBER(in_msg)[1];
}

#endif
