/* SPDX-License-Identifier: Apache-2.0 */
#include "ring.h"

#include "kit/pure/hash.h"

#include "bounds.h"
#include "remote/address.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct point {
    uint32_t at;
    uint32_t server;
};

struct memc_ring {
    size_t n;
    struct point points[]; /* by place */
};

uint32_t memc_hash(const void *bytes, size_t len)
{
    return hash_mix_32(hash_32(HASH_START_32, bytes, len));
}

static int by_place(const void *a, const void *b)
{
    const struct point *x = a, *y = b;

    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->server < y->server ? -1 : x->server > y->server;
}

static void place(struct memc_ring *ring, const char *name, uint32_t server)
{
    char text[ADDRESS_TEXT_MAX + 16];

    for (int i = 0; i < MEMC_POINTS; i++) {
        const int len = snprintf(text, sizeof(text), "%s-%d", name, i);

        ring->points[ring->n++] =
            (struct point){.at = memc_hash(text, (size_t)len), .server = server};
    }
}

struct memc_ring *memc_ring_new(const char *const *names, size_t n)
{
    struct memc_ring *ring = malloc(sizeof(*ring) + n * MEMC_POINTS * sizeof(struct point));

    if (!ring)
        return NULL;
    ring->n = 0;
    for (size_t i = 0; i < n; i++)
        place(ring, names[i], (uint32_t)i);
    qsort(ring->points, ring->n, sizeof(struct point), by_place);
    return ring;
}

void memc_ring_free(struct memc_ring *ring)
{
    free(ring);
}

/* @return the first point at a place or after it; n: there is none */
static size_t first_from(const struct memc_ring *ring, uint32_t at)
{
    size_t low = 0, high = ring->n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (ring->points[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int memc_ring_find(const struct memc_ring *ring, uint32_t hash, uint64_t alive)
{
    const size_t first = first_from(ring, hash);

    for (size_t i = 0; i < ring->n; i++) {
        const struct point *p = &ring->points[(first + i) % ring->n];

        if (alive >> p->server & 1)
            return (int)p->server;
    }
    return -1;
}
