/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AUTH_CACHE_H
#define AUTH_CACHE_H

#include "kit/digest/digest.h"
#include "source.h"

/*
 * Passwords that were right a short time ago, so that a slow hash is not paid for every request. A
 * worker's own; it holds digests under a key that leaves the process only with its memory.
 */

enum { CACHE_PLACES = 128, CACHE_MS = 60000 };

struct cache {
    uint8_t key[16];
    struct {
        uint8_t digest[SHA1_LEN];
        int64_t until_ms;
    } places[CACHE_PLACES];
};

/** What a user and a password come to, for the users that a source knows now. */
void cache_digest(const struct cache *c, const struct source *source, const struct users *users,
                  struct mk_str user, const char *password, uint8_t digest[SHA1_LEN]);

bool cache_has(const struct cache *c, const uint8_t digest[SHA1_LEN], int64_t now_ms);
void cache_put(struct cache *c, const uint8_t digest[SHA1_LEN], int64_t now_ms);

#endif
