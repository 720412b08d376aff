/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/guards/rate_table.h"

#include <stdbool.h>
#include <string.h>

enum { WAYS = 8, NUMBER = 8, MAPPED = 12 };

void mk_duda_rate_init(struct mk_duda_rate_table *t, unsigned requests, unsigned seconds,
                       uint64_t seed)
{
    t->step_ns = (uint64_t)seconds * 1000000000 / requests;
    t->whole_ns = t->step_ns * requests;
    t->seed = seed;
}

/* No network has the bits that stand before an IPv4 address. */
uint64_t mk_duda_rate_client(const uint8_t ip[16])
{
    static const uint8_t mapped[MAPPED] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    const bool is_ipv4 = memcmp(ip, mapped, sizeof(mapped)) == 0;
    uint64_t client;

    memcpy(&client, is_ipv4 ? ip + 16 - NUMBER : ip, NUMBER);
    return client;
}

/* The mixing of SplitMix64. */
static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

/* @return the bucket of a client, or the one that it takes over */
static struct mk_duda_rate_bucket *bucket_of(struct mk_duda_rate_table *t, uint64_t client)
{
    const uint64_t place = mix(mix(client ^ t->seed) + t->seed) % (MK_DUDA_RATE_CLIENTS / WAYS);
    struct mk_duda_rate_bucket *set = &t->buckets[place * WAYS], *fullest = set;

    for (unsigned i = 0; i < WAYS; i++) {
        if (set[i].full_ns > 0 && set[i].client == client)
            return &set[i];
        if (set[i].full_ns < fullest->full_ns)
            fullest = &set[i];
    }
    *fullest = (struct mk_duda_rate_bucket){.client = client};
    return fullest;
}

uint64_t mk_duda_rate_take(struct mk_duda_rate_table *t, uint64_t client, uint64_t now_ns)
{
    struct mk_duda_rate_bucket *bucket = bucket_of(t, client);
    const uint64_t full = (bucket->full_ns > now_ns ? bucket->full_ns : now_ns) + t->step_ns;

    if (full > now_ns + t->whole_ns)
        return full - now_ns - t->whole_ns;
    bucket->full_ns = full;
    return 0;
}
