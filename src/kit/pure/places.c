/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/pure/places.h"

#include <stddef.h>

/* Out of line: it is called where every request passes, and would be written three times. */
__attribute__((noinline)) struct place *places_get(struct place *places, uint32_t nsets,
                                                   uint64_t hash)
{
    struct place *at = &places[(size_t)places_set(hash, nsets) * PLACES_WAYS], *lowest = at;

    for (int i = 0; i < PLACES_WAYS; i++) {
        if (at[i].hash == hash)
            return &at[i];
        if (at[i].number < lowest->number)
            lowest = &at[i];
    }
    return lowest;
}
