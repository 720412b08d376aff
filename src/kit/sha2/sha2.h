/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_SHA2_H
#define KIT_SHA2_H

#include <stddef.h>
#include <stdint.h>

/* SHA-256 and SHA-512 of bytes that arrive in pieces: FIPS 180-4. Pure: any thread, one at a time for one state. */

enum { SHA256_LEN = 32, SHA512_LEN = 64 };

struct sha256 {
    uint32_t h[8];
    uint64_t total; /* bytes */
    uint8_t block[64];
};

struct sha512 {
    uint64_t h[8];
    uint64_t total; /* bytes */
    uint8_t block[128];
};

void sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *bytes, size_t len);
void sha256_end(struct sha256 *s, uint8_t digest[SHA256_LEN]);

void sha512_init(struct sha512 *s);
void sha512_add(struct sha512 *s, const void *bytes, size_t len);
void sha512_end(struct sha512 *s, uint8_t digest[SHA512_LEN]);

#endif
