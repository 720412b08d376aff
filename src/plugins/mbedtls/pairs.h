/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MBED_PAIRS_H
#define MBED_PAIRS_H

#include "kit/tls/files.h"

#include <mbedtls/ctr_drbg.h>
#include <mbedtls/pk.h>
#include <mbedtls/x509_crl.h>
#include <mbedtls/x509_crt.h>

/* Certificates with their keys, from the bytes of files. */

struct mbed_pairs {
    size_t count;
    mbedtls_x509_crt chains[TLS_PAIRS_MAX]; /* the leaf first */
    mbedtls_pk_context keys[TLS_PAIRS_MAX];
};

/**
 * Parse and judge them: each key must be its certificate's, none may have expired or be weak, and there is one of each kind.
 * @param p  out; to be freed also after an error
 * @return 0; MK_E_INVALID: at least one fault was noted; MK_E_NOMEM.
 */
int mbed_pairs_parse(struct mbed_pairs *p, const struct tls_files *f,
                     struct tls_report *r) MK_MUST_USE;
void mbed_pairs_free(struct mbed_pairs *p);

/** A key once more. The library locks those of RSA while it uses them, so each worker has its own. @return 0 or MK_E_NOMEM. */
int mbed_key_copy(mbedtls_pk_context *to, mbedtls_pk_context *from,
                  mbedtls_ctr_drbg_context *rng) MK_MUST_USE;

/** Certificates of a file that names authorities. @return 0; MK_E_INVALID with a fault noted; MK_E_NOMEM. */
int mbed_authorities_parse(mbedtls_x509_crt *to, const struct tls_file *file,
                           struct tls_report *r) MK_MUST_USE;

/**
 * The lists of CRLFile. A list that is out of date and an authority without one are warnings: certificates of the former
 * are refused, those of the latter pass.
 * @param ca  whose lists they are
 * @return 0, MK_E_INVALID (noted) or MK_E_NOMEM.
 */
int mbed_crls_parse(mbedtls_x509_crl *to, const mbedtls_x509_crt *ca, const struct tls_files *f,
                    struct tls_report *r) MK_MUST_USE;

#endif
