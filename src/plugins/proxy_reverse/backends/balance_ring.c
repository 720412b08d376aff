/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/balance_int.h"

/* Places depend on the name alone, so that a backend has them in every list. */
static void place(struct ring *ring, const struct balance_backend *backend, unsigned index,
                  unsigned count)
{
    uint64_t name = proxy_balance_hash(backend->name.p, backend->name.len);

    for (unsigned i = 0; i < count; i++) {
        unsigned char both[10];

        for (unsigned byte = 0; byte < 8; byte++)
            both[byte] = (unsigned char)(name >> 8 * byte);
        both[8] = (unsigned char)i;
        both[9] = (unsigned char)(i >> 8);
        ring_add(ring, (uint32_t)(proxy_balance_hash(both, sizeof(both)) >> 32), index);
    }
}

struct ring *proxy_balance_ring_new(const struct balance_backend *backends, unsigned nbackends)
{
    struct ring *ring;
    unsigned nseats = 0, each;

    for (unsigned i = 0; i < nbackends; i++)
        nseats += backends[i].seats;
    each = nseats > 0 ? BALANCE_RING_POINTS / nseats : 0;
    if (each > BALANCE_RING_SEAT)
        each = BALANCE_RING_SEAT;
    ring = ring_new((size_t)nseats * each);
    if (!ring)
        return NULL;
    for (unsigned i = 0; i < nbackends; i++)
        place(ring, &backends[i], i, backends[i].seats * each);
    ring_sort(ring);
    return ring;
}
