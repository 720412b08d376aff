/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DUDA_PACKAGE_SHA1_H
#define DUDA_PACKAGE_SHA1_H
#include "duda_api.h"
#define SHA_DIGEST_LENGTH 20
#if DUDA_API_LEVEL >= 3
/* Bytes that arrive in pieces; the caller's, of one thread at a time, and copied by assignment. */
typedef struct sha1_state {
    uint64_t opaque[12];
} sha1_state_t;
#endif
/* sha1: SHA-1 (FIPS 180-4), for what prescribes it. Any thread. */
struct duda_api_sha1 {
    /* The 20 bytes of the digest, not as text. */
    void (*encode)(const void *in, unsigned char *out, unsigned long in_len);
#if DUDA_API_LEVEL >= 3
    /* begin, add as often as needed, finish. The state is wiped by finish. FIPS 180-4 */
    void (*begin)(sha1_state_t *state);
    void (*add)(sha1_state_t *state, const void *in, size_t in_len);
    void (*finish)(sha1_state_t *state, unsigned char *out);
    /* The code of a message under a key, 20 raw bytes; compare it with same(). RFC 2104 */
    void (*hmac)(const void *key, size_t key_len, const void *in, size_t in_len,
                 unsigned char *out);
    /* Are these bytes the same? In a time that tells nothing about where they differ: 1; 0 */
    int (*same)(const void *a, const void *b, size_t len);
#endif
};
typedef struct duda_api_sha1 sha1_object_t;
DUDA_OBJ sha1_object_t *sha1;
#endif
