/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JWT_SIGNATURE_H
#define JWT_SIGNATURE_H

#include "keys.h"

#include <openssl/evp.h>

/* Public keys and signatures of RFC 7518 by OpenSSL. Nothing is left in its queue of errors. */

/** Bytes of base64url of the longest number of a key: RSA with 8,192 bits. */
enum { NUMBER_MAX = 1400 };

/** @return the algorithm that a public key serves: RS256 for RSA of 2,048 to 8,192 bits, ES256 for P-256. */
enum algorithm jwt_signature_algorithm(const EVP_PKEY *pkey);

/** The key of a modulus and an exponent (RFC 7518 section 6.3.1), most significant byte first. @return it, owned; NULL. */
EVP_PKEY *jwt_signature_rsa(const uint8_t *n, size_t n_len, const uint8_t *e, size_t e_len);
/** The key of a point of P-256 (RFC 7518 section 6.2.1). @return it, owned; NULL: it is no point of the curve. */
EVP_PKEY *jwt_signature_p256(const uint8_t *x, size_t x_len, const uint8_t *y, size_t y_len);

/** RFC 7518 sections 3.3 and 3.4. */
bool jwt_signature_matches(EVP_PKEY *pkey, enum algorithm algorithm, struct mk_str text,
                           struct mk_str signature);
/** RFC 7518 section 3.2. */
bool jwt_signature_matches_secret(struct mk_str secret, struct mk_str text,
                                  struct mk_str signature);

#endif
