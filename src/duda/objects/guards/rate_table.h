/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_RATE_TABLE_H
#define MK_DUDA_OBJECTS_RATE_TABLE_H

#include <stddef.h>
#include <stdint.h>

/*
 * How many requests each client may still send: a token bucket for each, in a table that never grows. A bucket is one
 * number: when it will be full again. Where there is no room, the fullest bucket of eight is forgotten: its client
 * begins with a full one, so a flood of addresses costs no memory, and those who send most are still counted.
 * One thread at a time.
 */

enum {
    MK_DUDA_RATE_CLIENTS = 16384, /* a power of two */
    MK_DUDA_RATE_MOST = 1000000,  /* requests and seconds */
};

struct mk_duda_rate_bucket {
    uint64_t client;
    uint64_t full_ns; /* 0: it is free */
};

struct mk_duda_rate_table {
    uint64_t step_ns;  /* in which a client regains a request */
    uint64_t whole_ns; /* in which an empty bucket becomes full */
    uint64_t seed;     /* clients cannot aim at one place */
    struct mk_duda_rate_bucket buckets[MK_DUDA_RATE_CLIENTS];
};

/** @param t  zeroed. @param requests, seconds  1 to MK_DUDA_RATE_MOST */
void mk_duda_rate_init(struct mk_duda_rate_table *t, unsigned requests, unsigned seconds,
                       uint64_t seed);

/** The number of a client: its IPv4 address, or the first 64 bits of its IPv6 address. @param ip  IPv4 as IPv4-mapped IPv6 */
uint64_t mk_duda_rate_client(const uint8_t ip[16]);

/**
 * Take a request of a client.
 * @param now_ns  monotonic, not 0
 * @return 0; else nanoseconds until there is another one.
 */
uint64_t mk_duda_rate_take(struct mk_duda_rate_table *t, uint64_t client, uint64_t now_ns);

#endif
