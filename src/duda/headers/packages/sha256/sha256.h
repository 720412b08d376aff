/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DUDA_PACKAGE_SHA256_H
#define DUDA_PACKAGE_SHA256_H
#include "duda_api.h"
#if DUDA_API_LEVEL >= 3
#define SHA256_DIGEST_LENGTH 32
#define SHA512_DIGEST_LENGTH 64
/* Bytes that arrive in pieces; the caller's, of one thread at a time, and copied by assignment. */
typedef struct sha256_state {
    uint64_t opaque[14];
} sha256_state_t;
typedef struct sha512_state {
    uint64_t opaque[26];
} sha512_state_t;
#endif
/* sha256: SHA-256 and SHA-512 (FIPS 180-4). Any thread. */
struct duda_api_sha256 {
    /* The 32 bytes of the digest, not as text. */
    void (*encode)(unsigned char *in, unsigned char *out, int in_len);
#if DUDA_API_LEVEL >= 3
    /* begin, add as often as needed, finish. The state is wiped by finish. FIPS 180-4 */
    void (*begin)(sha256_state_t *state);
    void (*add)(sha256_state_t *state, const void *in, size_t in_len);
    void (*finish)(sha256_state_t *state, unsigned char *out);
    /* The code of a message under a key, 32 raw bytes; compare it with same(). RFC 2104 */
    void (*hmac)(const void *key, size_t key_len, const void *in, size_t in_len,
                 unsigned char *out);
    /* Are these bytes the same? In a time that tells nothing about where they differ: 1; 0 */
    int (*same)(const void *a, const void *b, size_t len);
    /* The same of SHA-512: 64 raw bytes. */
    void (*encode512)(const void *in, unsigned char *out, size_t in_len);
    void (*begin512)(sha512_state_t *state);
    void (*add512)(sha512_state_t *state, const void *in, size_t in_len);
    void (*finish512)(sha512_state_t *state, unsigned char *out);
    void (*hmac512)(const void *key, size_t key_len, const void *in, size_t in_len,
                    unsigned char *out);
#endif
};
typedef struct duda_api_sha256 sha256_object_t;
DUDA_OBJ sha256_object_t *sha256;
#endif
