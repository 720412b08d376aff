/* SPDX-License-Identifier: Apache-2.0 */
#include "ring.h"

#include "kit/pure/hash.h"

#include "bounds.h"
#include "data/remote/place.h"

#include <stdio.h>

uint32_t memc_hash(const void *bytes, size_t len)
{
    return hash_mix_32(hash_32(HASH_START_32, bytes, len));
}

static void place(struct ring *ring, const char *name, unsigned server)
{
    char text[REMOTE_TEXT_MAX + 16];

    for (int i = 0; i < MEMC_POINTS; i++) {
        const int len = snprintf(text, sizeof(text), "%s-%d", name, i);

        ring_add(ring, memc_hash(text, (size_t)len), server);
    }
}

struct ring *memc_ring_new(const char *const *names, size_t n)
{
    struct ring *ring = ring_new(n * MEMC_POINTS);

    if (!ring)
        return NULL;
    for (size_t i = 0; i < n; i++)
        place(ring, names[i], (unsigned)i);
    ring_sort(ring);
    return ring;
}
