/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/guards/rate_table.h"

#include "kit/pure/hash.h"

#include <stdbool.h>
#include <string.h>

enum { NUMBER = 8, MAPPED = 12 };

void mk_duda_rate_init(struct mk_duda_rate_table *t, unsigned requests, unsigned seconds,
                       uint64_t seed)
{
    t->rate = bucket_rate_of(requests, seconds, requests);
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

int64_t mk_duda_rate_take(struct mk_duda_rate_table *t, uint64_t client, int64_t now_ns)
{
    const uint64_t hash = places_hash(hash_mix_64(hash_mix_64(client ^ t->seed) + t->seed));
    struct place *place = places_get(t->places, MK_DUDA_RATE_CLIENTS / PLACES_WAYS, hash);

    if (place->hash != hash)
        *place = (struct place){.hash = hash};
    return bucket_take(&place->number, &t->rate, now_ns);
}
