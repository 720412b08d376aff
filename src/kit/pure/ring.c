/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/pure/ring.h"

#include <stdlib.h>

struct point {
    uint32_t at;
    uint16_t owner;
};

struct ring {
    size_t npoints;
    struct point points[]; /* by place */
};

struct ring *ring_new(size_t npoints)
{
    struct ring *ring = malloc(sizeof(*ring) + npoints * sizeof(ring->points[0]));

    if (ring)
        ring->npoints = 0;
    return ring;
}

void ring_free(struct ring *ring)
{
    free(ring);
}

void ring_add(struct ring *ring, uint32_t at, unsigned owner)
{
    ring->points[ring->npoints++] = (struct point){at, (uint16_t)owner};
}

static int by_place(const void *a, const void *b)
{
    const struct point *x = a, *y = b;

    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->owner < y->owner ? -1 : x->owner > y->owner;
}

void ring_sort(struct ring *ring)
{
    qsort(ring->points, ring->npoints, sizeof(ring->points[0]), by_place);
}

/* @return the first point at a place or after it; npoints: there is none. */
static size_t first_from(const struct ring *ring, uint32_t at)
{
    size_t low = 0, high = ring->npoints;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (ring->points[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int ring_find(const struct ring *ring, uint32_t at, const uint64_t *may)
{
    size_t next = first_from(ring, at);

    for (size_t i = 0; i < ring->npoints; i++, next++) {
        unsigned owner;

        if (next >= ring->npoints)
            next = 0;
        owner = ring->points[next].owner;
        if (may[owner / 64] >> owner % 64 & 1)
            return (int)owner;
    }
    return -1;
}
