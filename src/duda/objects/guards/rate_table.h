/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_RATE_TABLE_H
#define MK_DUDA_OBJECTS_RATE_TABLE_H

#include "kit/pure/bucket.h"
#include "kit/pure/places.h"

#include <stddef.h>
#include <stdint.h>

/*
 * How many requests each client may still send: a token bucket for each, in a table that never grows (kit/pure/places.h). A
 * client of which nothing is known has a full one. One thread at a time.
 */

enum {
    MK_DUDA_RATE_CLIENTS = 16384,
    MK_DUDA_RATE_MOST = 1000000, /* requests and seconds */
};

struct mk_duda_rate_table {
    struct bucket_rate rate;
    uint64_t seed; /* clients cannot aim at one place */
    struct place places[MK_DUDA_RATE_CLIENTS];
};

/** @param t  zeroed. @param requests, seconds  1 to MK_DUDA_RATE_MOST */
void mk_duda_rate_init(struct mk_duda_rate_table *t, unsigned requests, unsigned seconds,
                       uint64_t seed);

/** The number of a client: its IPv4 address, or the first 64 bits of its IPv6 address. @param ip  IPv4 as IPv4-mapped IPv6 */
uint64_t mk_duda_rate_client(const uint8_t ip[16]);

/**
 * Take a request of a client.
 * @param now_ns  monotonic
 * @return 0; else nanoseconds until there is another one.
 */
int64_t mk_duda_rate_take(struct mk_duda_rate_table *t, uint64_t client, int64_t now_ns);

#endif
