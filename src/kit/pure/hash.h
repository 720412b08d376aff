/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_PURE_HASH_H
#define KIT_PURE_HASH_H

#include <stddef.h>
#include <stdint.h>

/*
 * Hashes that are the same on every machine and in every version, so that processes may compare them: FNV-1a, and the
 * finalizers of MurmurHash3 for those who look at a few bits only. Bytes that follow others go on from the result of those.
 * Who knows the start can choose bytes that collide: where bytes are of clients and collisions cost, the start is random.
 */

#define HASH_START_32 UINT32_C(2166136261)
#define HASH_START_64 UINT64_C(14695981039346656037)

static inline uint32_t hash_32(uint32_t start, const void *bytes, size_t len)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < len; i++)
        start = (start ^ p[i]) * UINT32_C(16777619);
    return start;
}

static inline uint64_t hash_64(uint64_t start, const void *bytes, size_t len)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < len; i++)
        start = (start ^ p[i]) * UINT64_C(1099511628211);
    return start;
}

/** Every bit of the result depends on all bits of h. One to one. */
static inline uint32_t hash_mix_32(uint32_t h)
{
    h = (h ^ h >> 16) * UINT32_C(0x85ebca6b);
    h = (h ^ h >> 13) * UINT32_C(0xc2b2ae35);
    return h ^ h >> 16;
}

static inline uint64_t hash_mix_64(uint64_t h)
{
    h = (h ^ h >> 33) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ h >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return h ^ h >> 33;
}

#endif
