/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/digest/hmac.h"

#include <string.h>

struct state {
    _Alignas(16) unsigned char bytes[HMAC_STATE_MAX];
};

/* Begin with the key as a block of which each byte has this pad. */
static void begin(const struct hmac_hash *hash, struct state *s, const uint8_t *key, uint8_t pad)
{
    uint8_t block[HMAC_BLOCK_MAX];

    for (size_t i = 0; i < hash->block; i++)
        block[i] = key[i] ^ pad;
    hash->init(s);
    hash->add(s, block, hash->block);
    explicit_bzero(block, sizeof(block));
}

/* A key that is longer than a block is its digest. */
static void take_key(const struct hmac_hash *hash, uint8_t *block, const void *key, size_t len)
{
    struct state s;

    if (len <= hash->block) {
        memcpy(block, key, len);
        return;
    }
    hash->init(&s);
    hash->add(&s, key, len);
    hash->end(&s, block);
    explicit_bzero(&s, sizeof(s));
}

void digest_hmac(const struct hmac_hash *hash, const void *key, size_t key_len, const void *in,
                 size_t in_len, uint8_t *out)
{
    uint8_t block[HMAC_BLOCK_MAX] = {0}, inner[HMAC_DIGEST_MAX];
    struct state s;

    if (key)
        take_key(hash, block, key, key_len);
    begin(hash, &s, block, 0x36);
    if (in)
        hash->add(&s, in, in_len);
    hash->end(&s, inner);
    begin(hash, &s, block, 0x5c);
    hash->add(&s, inner, hash->digest);
    hash->end(&s, out);
    explicit_bzero(&s, sizeof(s));
    explicit_bzero(inner, sizeof(inner));
    explicit_bzero(block, sizeof(block));
}
