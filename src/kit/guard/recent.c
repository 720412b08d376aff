/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/guard/recent.h"

#include <string.h>
#include <sys/random.h>

bool recent_init(struct recent *r)
{
    memset(r, 0, sizeof(*r));
    return getrandom(r->key, sizeof(r->key), 0) == sizeof(r->key);
}

void recent_begin(const struct recent *r, struct sha1 *s)
{
    sha1_init(s);
    sha1_add(s, r->key, sizeof(r->key));
}

/* The digest is as good as random, so its first byte spreads the places. */
static size_t place_of(const uint8_t digest[SHA1_LEN])
{
    return digest[0] % RECENT_PLACES;
}

bool recent_has(const struct recent *r, const uint8_t digest[SHA1_LEN], int64_t now_ms)
{
    size_t at = place_of(digest);

    return r->places[at].until_ms > now_ms &&
           digest_is_same(r->places[at].digest, digest, SHA1_LEN);
}

void recent_put(struct recent *r, const uint8_t digest[SHA1_LEN], int64_t now_ms)
{
    size_t at = place_of(digest);

    memcpy(r->places[at].digest, digest, SHA1_LEN);
    r->places[at].until_ms = now_ms + RECENT_MS;
}
