/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_WORKER_PER_ADDRESS_H
#define MK_SERVER_WORKER_PER_ADDRESS_H

#include "core/addr.h"

#include <pthread.h>
#include <stdatomic.h>

/**
 * How many connections each address has, for MaxConnectionsPerIP. Shared by all workers: shards, each behind
 * a mutex. IPv6 clients count by their /64, which is what one customer gets.
 */
enum { MK_ADDRESS_SHARDS = 16, MK_ADDRESS_KEY = 16 };

struct mk_address_count;

struct mk_per_address {
    _Atomic int64_t max; /* 0: off, and nothing is counted */
    struct mk_address_shard {
        pthread_mutex_t lock;
        struct mk_address_count *slots; /* open addressing */
        size_t size, used;
    } shards[MK_ADDRESS_SHARDS];
};

/** What is counted as one address: all of an IPv4 one, the /64 of an IPv6 one. */
void mk_per_address_key(uint8_t key[MK_ADDRESS_KEY], const struct mk_peer *peer);

void mk_per_address_init(struct mk_per_address *p, int64_t max);
void mk_per_address_fini(struct mk_per_address *p);

/** Count one more, and note it with the peer. @return false when the address has its share already, or without memory. */
bool mk_per_address_take(struct mk_per_address *p, struct mk_peer *peer);
/** Count one less; a peer that was not counted is ignored. */
void mk_per_address_put(struct mk_per_address *p, const struct mk_peer *peer);

#endif
