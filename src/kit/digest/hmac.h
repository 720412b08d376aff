/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_DIGEST_HMAC_H
#define KIT_DIGEST_HMAC_H

#include <stddef.h>
#include <stdint.h>

/* Message codes of any hash that takes bytes in pieces: RFC 2104. Pure: any thread. */

enum { HMAC_STATE_MAX = 256, HMAC_BLOCK_MAX = 128, HMAC_DIGEST_MAX = 64 };

struct hmac_hash {
    size_t block, digest; /* bytes */
    void (*init)(void *state);
    void (*add)(void *state, const void *bytes, size_t len);
    void (*end)(void *state, uint8_t *digest);
};

/** Defines hmac_NAME of NAME_init, NAME_add and NAME_end, whose state is struct NAME. */
#define HMAC_HASH(name, block_len, digest_len)                                                     \
    static void hmac_##name##_init(void *state)                                                    \
    {                                                                                              \
        name##_init(state);                                                                        \
    }                                                                                              \
    static void hmac_##name##_add(void *state, const void *bytes, size_t len)                      \
    {                                                                                              \
        name##_add(state, bytes, len);                                                             \
    }                                                                                              \
    static void hmac_##name##_end(void *state, uint8_t *digest)                                    \
    {                                                                                              \
        name##_end(state, digest);                                                                 \
    }                                                                                              \
    _Static_assert(sizeof(struct name) <= HMAC_STATE_MAX &&                                        \
                       (size_t)(block_len) <= (size_t)HMAC_BLOCK_MAX &&                            \
                       (size_t)(digest_len) <= (size_t)HMAC_DIGEST_MAX,                            \
                   "room for " #name);                                                             \
    static const struct hmac_hash hmac_##name = {block_len, digest_len, hmac_##name##_init,        \
                                                 hmac_##name##_add, hmac_##name##_end}

/**
 * The code of a message. Copies of the key are wiped.
 * @param key  key_len bytes; NULL: none
 * @param in  in_len bytes; NULL: none
 * @param out  room for a digest
 */
void digest_hmac(const struct hmac_hash *hash, const void *key, size_t key_len, const void *in,
                 size_t in_len, uint8_t *out);

#endif
