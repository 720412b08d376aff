/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JWT_KEYS_H
#define JWT_KEYS_H

#include "algorithm.h"

#include <stdbool.h>

/*
 * The keys that verify signatures. A key belongs to one algorithm, whatever a token says, so a public key never serves as a
 * secret (RFC 8725 section 3.1). Made on the control thread, read by all workers.
 */

enum { KEYS_MAX = 32, SECRET_MIN = 32 /* bytes: RFC 7518 section 3.2 */ };

struct keys;

/**
 * Read a file of keys: a JWK Set (RFC 7517) with keys of type oct, RSA or EC P-256, or one public key in PEM.
 * Keys of other types and uses are left out.
 * @param why  out: on failure, a sentence
 * @return them, owned by the caller; NULL.
 */
struct keys *jwt_keys_read(struct mk_str text, const char **why);

/** One key of HS256: the bytes of a file, without a line end. */
struct keys *jwt_keys_of_secret(struct mk_str text, const char **why);

/** NULL is allowed. */
void jwt_keys_free(struct keys *keys);

/**
 * Verify a signature with the keys of an algorithm that have this name or none.
 * @param id  the token's kid; p NULL: it has none, and four keys at most are tried
 */
bool jwt_keys_verify(const struct keys *keys, enum algorithm algorithm, struct mk_str id,
                     struct mk_str text, struct mk_str signature);

#endif
