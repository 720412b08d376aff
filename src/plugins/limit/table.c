/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include "kit/pure/places.h"

#include <pthread.h>
#include <stdlib.h>
#include <endian.h>
#include <string.h>

struct shard {
    _Alignas(64) pthread_mutex_t lock;
    struct table_counts counts;
};

struct table {
    struct shard shards[TABLE_SHARDS];
    uint64_t secret[2];
    uint32_t nsets;
    struct place places[];
};

struct table *limit_table_new(uint32_t nkeys, const uint64_t secret[2])
{
    const uint32_t nsets = nkeys / PLACES_WAYS + (nkeys % PLACES_WAYS != 0);
    size_t size = sizeof(struct table) + (size_t)nsets * PLACES_WAYS * sizeof(struct place);
    struct table *t;

    size = (size + 63) / 64 * 64;
    t = aligned_alloc(64, size);
    if (!t)
        return NULL;
    memset(t, 0, size);
    memcpy(t->secret, secret, sizeof(t->secret));
    t->nsets = nsets;
    for (unsigned i = 0; i < TABLE_SHARDS; i++)
        pthread_mutex_init(&t->shards[i].lock, NULL);
    return t;
}

void limit_table_free(struct table *t)
{
    if (!t)
        return;
    for (unsigned i = 0; i < TABLE_SHARDS; i++)
        pthread_mutex_destroy(&t->shards[i].lock);
    free(t);
}

size_t limit_table_bytes(const struct table *t)
{
    return sizeof(*t) + (size_t)t->nsets * PLACES_WAYS * sizeof(struct place);
}

/* ---- SipHash-2-4 (Aumasson and Bernstein, 2012) ---- */

static uint64_t rotate(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

static void sip_round(uint64_t v[4])
{
    v[0] += v[1], v[2] += v[3];
    v[1] = rotate(v[1], 13) ^ v[0];
    v[3] = rotate(v[3], 16) ^ v[2];
    v[0] = rotate(v[0], 32);
    v[2] += v[1], v[0] += v[3];
    v[1] = rotate(v[1], 17) ^ v[2];
    v[3] = rotate(v[3], 21) ^ v[0];
    v[2] = rotate(v[2], 32);
}

static void sip_word(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    sip_round(v);
    sip_round(v);
    v[0] ^= word;
}

/* Up to eight bytes. */
static uint64_t little_endian(const uint8_t *p, size_t len)
{
    uint64_t word = 0;

    memcpy(&word, p, len);
    return le64toh(word);
}

uint64_t limit_table_hash(const struct table *t, const void *key, size_t len)
{
    const uint8_t *p = key;
    const uint64_t length = (uint64_t)len << 56;
    uint64_t v[4] = {
        t->secret[0] ^ 0x736f6d6570736575U,
        t->secret[1] ^ 0x646f72616e646f6dU,
        t->secret[0] ^ 0x6c7967656e657261U,
        t->secret[1] ^ 0x7465646279746573U,
    };

    for (; len >= 8; p += 8, len -= 8)
        sip_word(v, little_endian(p, 8));
    sip_word(v, length | little_endian(p, len));
    v[2] ^= 0xff;
    for (int i = 0; i < 4; i++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* ---- places ---- */

static struct shard *lock_shard(struct table *t, uint64_t hash)
{
    struct shard *s = &t->shards[places_set(hash, t->nsets) % TABLE_SHARDS];

    pthread_mutex_lock(&s->lock);
    return s;
}

static void take_over(struct shard *s, struct place *place, uint64_t hash)
{
    s->counts.keys += place->hash == 0;
    *place = (struct place){.hash = hash};
}

static int64_t take(struct shard *s, struct place *place, uint64_t hash,
                    const struct bucket_rate *rate, int64_t now_ns)
{
    int64_t wait_ns;

    if (place->hash != hash) {
        s->counts.evictions += place->number > now_ns;
        take_over(s, place, hash);
    }
    wait_ns = bucket_take(&place->number, rate, now_ns);
    if (wait_ns > 0)
        s->counts.refused++;
    else
        s->counts.allowed++;
    return wait_ns;
}

int64_t limit_table_take(struct table *t, uint64_t hash, const struct bucket_rate *rate,
                         int64_t now_ns)
{
    const uint64_t known = places_hash(hash);
    struct shard *s = lock_shard(t, known);
    const int64_t wait_ns = take(s, places_get(t->places, t->nsets, known), known, rate, now_ns);

    pthread_mutex_unlock(&s->lock);
    return wait_ns;
}

/* The number of a place is that of its requests that run: it is kept while there are any. */
static enum table_entry enter(struct shard *s, struct place *place, uint64_t hash, uint32_t max)
{
    if (place->hash != hash && place->number > 0) {
        s->counts.uncounted++;
        return TABLE_UNCOUNTED;
    }
    if (place->hash != hash)
        take_over(s, place, hash);
    if (place->number >= max) {
        s->counts.refused++;
        return TABLE_REFUSED;
    }
    s->counts.allowed++;
    place->number++;
    return TABLE_ENTERED;
}

enum table_entry limit_table_enter(struct table *t, uint64_t hash, uint32_t max)
{
    const uint64_t known = places_hash(hash);
    struct shard *s = lock_shard(t, known);
    const enum table_entry entry = enter(s, places_get(t->places, t->nsets, known), known, max);

    pthread_mutex_unlock(&s->lock);
    return entry;
}

void limit_table_leave(struct table *t, uint64_t hash)
{
    const uint64_t known = places_hash(hash);
    struct shard *s = lock_shard(t, known);
    struct place *place = places_get(t->places, t->nsets, known);

    if (place->hash == known && place->number > 0)
        place->number--;
    pthread_mutex_unlock(&s->lock);
}

void limit_table_count(struct table *t, struct table_counts *counts)
{
    memset(counts, 0, sizeof(*counts));
    for (unsigned i = 0; i < TABLE_SHARDS; i++) {
        struct shard *s = &t->shards[i];

        pthread_mutex_lock(&s->lock);
        counts->allowed += s->counts.allowed;
        counts->refused += s->counts.refused;
        counts->evictions += s->counts.evictions;
        counts->uncounted += s->counts.uncounted;
        counts->keys += s->counts.keys;
        pthread_mutex_unlock(&s->lock);
    }
}
