/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_DIGEST_H
#define KIT_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* SHA-1, as old password files and the opening handshake of WebSocket need it. */

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

enum { WEBSOCKET_KEY_LEN = 24, WEBSOCKET_ACCEPT_LEN = 28 };
/** Write Sec-WebSocket-Accept for a key (RFC 6455 section 4.2.2). */
void digest_websocket_accept(char dst[WEBSOCKET_ACCEPT_LEN], const char *key, size_t len);

/** In a time that depends on len alone. */
bool digest_is_same(const void *a, const void *b, size_t len);

#endif
