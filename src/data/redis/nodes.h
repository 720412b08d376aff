/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DATA_REDIS_NODES_H
#define MK_DATA_REDIS_NODES_H

#include "data/redis/protocol.h"

#include "data/remote/place.h"

#include <stdint.h>

/*
 * What servers of a cluster say of the place of a key: an error "MOVED SLOT HOST:PORT" or "ASK SLOT HOST:PORT". Pure functions.
 * https://redis.io/docs/reference/cluster-spec/
 */

enum { REDIS_SLOTS = 16384 };

enum redis_redirect_kind { REDIS_MOVED, REDIS_ASK };

struct redis_redirect {
    enum redis_redirect_kind kind;
    unsigned slot;
    struct remote_place place;
};

/**
 * Read the text of an error.
 * @param from  the server that sent it, whose host is meant where the text has none; its TLS, too
 * @return 0; -1: it is no redirect
 */
int redis_redirect_read(struct redis_redirect *r, const char *text, size_t len,
                        const struct remote_place *from);

/** @return the slot of the key of a command that was written here; of one without a key, that of its second word; 0: it has one */
unsigned redis_slot_of(const char *bytes);

/** @return the slot of a key, or of what stands in its first {} */
unsigned redis_slot(const char *key, size_t len);

#endif
