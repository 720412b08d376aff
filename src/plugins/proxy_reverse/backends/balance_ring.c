/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/balance_int.h"

#include <stdlib.h>

struct point {
    uint32_t at;
    uint16_t backend;
};

struct balance_ring {
    unsigned npoints;
    struct point points[]; /* by place */
};

static int by_place(const void *a, const void *b)
{
    const struct point *x = a, *y = b;

    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->backend < y->backend ? -1 : x->backend > y->backend;
}

/* Places depend on the name alone, so that a backend has them in every list. */
static void place(struct balance_ring *ring, const struct balance_backend *backend, unsigned index,
                  unsigned count)
{
    uint64_t name = proxy_balance_hash(backend->name.p, backend->name.len);

    for (unsigned i = 0; i < count; i++) {
        unsigned char both[10];

        for (unsigned byte = 0; byte < 8; byte++)
            both[byte] = (unsigned char)(name >> 8 * byte);
        both[8] = (unsigned char)i;
        both[9] = (unsigned char)(i >> 8);
        ring->points[ring->npoints++] =
            (struct point){.at = (uint32_t)(proxy_balance_hash(both, sizeof(both)) >> 32),
                           .backend = (uint16_t)index};
    }
}

struct balance_ring *proxy_balance_ring_new(const struct balance_backend *backends,
                                            unsigned nbackends)
{
    struct balance_ring *ring;
    unsigned nseats = 0, each;

    for (unsigned i = 0; i < nbackends; i++)
        nseats += backends[i].seats;
    if (nseats == 0)
        return calloc(1, sizeof(*ring));
    each = BALANCE_RING_POINTS / nseats < BALANCE_RING_SEAT ? BALANCE_RING_POINTS / nseats
                                                            : BALANCE_RING_SEAT;
    ring = malloc(sizeof(*ring) + (size_t)nseats * each * sizeof(ring->points[0]));
    if (!ring)
        return NULL;
    ring->npoints = 0;
    for (unsigned i = 0; i < nbackends; i++)
        place(ring, &backends[i], i, backends[i].seats * each);
    qsort(ring->points, ring->npoints, sizeof(ring->points[0]), by_place);
    return ring;
}

void proxy_balance_ring_free(struct balance_ring *ring)
{
    free(ring);
}

/* @return the first point at or behind a place; npoints: there is none. */
static unsigned first_from(const struct balance_ring *ring, uint32_t at)
{
    unsigned low = 0, high = ring->npoints;

    while (low < high) {
        unsigned middle = low + (high - low) / 2;

        if (ring->points[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int proxy_balance_ring_find(const struct balance_ring *ring, uint64_t key,
                            const struct balance_set *may)
{
    unsigned at = first_from(ring, (uint32_t)(key >> 32));

    for (unsigned i = 0; i < ring->npoints; i++, at++) {
        if (at >= ring->npoints)
            at = 0;
        if (balance_set_has(may, ring->points[at].backend))
            return ring->points[at].backend;
    }
    return BALANCE_NOBODY;
}
