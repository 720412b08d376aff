/* SPDX-License-Identifier: Apache-2.0 */
#include "cache.h"

void cache_digest(const struct cache *c, const struct source *source, const struct users *users,
                  struct mk_str user, const char *password, uint8_t digest[SHA1_LEN])
{
    uintptr_t which = (uintptr_t)source;
    struct sha1 s;

    sha1_init(&s);
    sha1_add(&s, c->key, sizeof(c->key));
    sha1_add(&s, &which, sizeof(which));
    sha1_add(&s, &users->serial, sizeof(users->serial));
    sha1_add(&s, &user.len, sizeof(user.len));
    sha1_add(&s, user.p, user.len);
    sha1_add(&s, password, strlen(password));
    sha1_end(&s, digest);
}

/* The digest is as good as random, so its first byte spreads the places. */
static size_t place_of(const uint8_t digest[SHA1_LEN])
{
    return digest[0] % CACHE_PLACES;
}

bool cache_has(const struct cache *c, const uint8_t digest[SHA1_LEN], int64_t now_ms)
{
    size_t at = place_of(digest);

    return c->places[at].until_ms > now_ms && is_same_bytes(c->places[at].digest, digest, SHA1_LEN);
}

void cache_put(struct cache *c, const uint8_t digest[SHA1_LEN], int64_t now_ms)
{
    size_t at = place_of(digest);

    memcpy(c->places[at].digest, digest, SHA1_LEN);
    c->places[at].until_ms = now_ms + CACHE_MS;
}
