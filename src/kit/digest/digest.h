/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_DIGEST_H
#define KIT_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* SHA-1 and base64, as old password files, Basic credentials and the opening handshake of WebSocket need them. */

enum { SHA1_LEN = 20 };

struct sha1 {
    uint32_t h[5];
    uint64_t total; /* bytes */
    uint8_t block[64];
};

/** FIPS 180-4. Not for new passwords: one second tries billions of it. */
void sha1_init(struct sha1 *s);
void sha1_add(struct sha1 *s, const void *bytes, size_t len);
void sha1_end(struct sha1 *s, uint8_t digest[SHA1_LEN]);

/**
 * Decode base64 (RFC 4648 section 4), padding required, nothing else in between.
 * @param dst  room for len / 4 * 3 bytes
 * @return bytes, or -1.
 */
ssize_t base64_decode(uint8_t *dst, const char *text, size_t len);

/**
 * Decode base64url without padding (RFC 7515 section 2). Bits that no byte has must be zero, so each text has one form.
 * @param dst  room for len / 4 * 3 + 2 bytes
 * @return bytes, or -1.
 */
ssize_t base64url_decode(uint8_t *dst, const char *text, size_t len);

/** Encode base64 with padding. @param dst  room for (len + 2) / 3 * 4 bytes; not terminated. @return bytes. */
size_t base64_encode(char *dst, const uint8_t *bytes, size_t len);

enum { WEBSOCKET_KEY_LEN = 24, WEBSOCKET_ACCEPT_LEN = 28 };
/** Write Sec-WebSocket-Accept for a key (RFC 6455 section 4.2.2). */
void digest_websocket_accept(char dst[WEBSOCKET_ACCEPT_LEN], const char *key, size_t len);

/** In a time that depends on len alone. */
bool digest_is_same(const void *a, const void *b, size_t len);

#endif
