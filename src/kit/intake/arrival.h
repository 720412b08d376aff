/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_INTAKE_ARRIVAL_H
#define KIT_INTAKE_ARRIVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * How fast a body arrives: a balance in bytes. Each byte adds one; each second of waiting for the client takes
 * ARRIVAL_RATE. Time in which nobody asks for bytes, since whoever they are for takes none, counts for nothing.
 * A body is fast from ARRIVAL_FAST on, and slow below zero: 32 KB at once make it fast, and 4 seconds of silence, or more
 * of too little, make slow what was as fast as can be.
 */

enum {
    ARRIVAL_RATE = 16 << 10, /* bytes a second */
    ARRIVAL_FAST = 32 << 10,
    ARRIVAL_MOST = 64 << 10, /* no balance is larger: what was fast once may become slow soon */
};

/** Zeroed at first. */
struct arrival {
    int64_t balance;  /* up to since_ms, while it waits */
    int64_t since_ms; /* when the wait began */
    bool waits;       /* for the client */
};

/** @return the balance now; < 0: slow. @param now_ms  monotonic */
int64_t arrival_balance(const struct arrival *a, int64_t now_ms);
/** Bytes came, perhaps after a wait. */
void arrival_came(struct arrival *a, size_t bytes, int64_t now_ms);
/** None are there: the client is waited for, if it was not already. */
void arrival_wait(struct arrival *a, int64_t now_ms);

#endif
