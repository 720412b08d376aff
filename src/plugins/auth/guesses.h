/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AUTH_GUESSES_H
#define AUTH_GUESSES_H

#include "kit/counted/counted.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Wrong passwords by address, over all workers and configurations. A password counts once it was found wrong, not
 * while it is checked; what is checked at once is bounded, so that no more answers are to be had together than one
 * by one. The table has a fixed size; an address that finds its place taken by one whose guesses are older takes it.
 */

enum {
    GUESSES_ALLOWED = 10,      /* wrong passwords of one address... */
    GUESSES_WINDOW_MS = 60000, /* ...within this time */
    GUESSES_AT_ONCE = 4,       /* checks of one address */
    GUESSES_PLACES = 1024,
    GUESSES_WAYS = 4, /* places that an address may have */
};

/** An IPv4 address, or the first half of an IPv6 address: a customer's network. */
struct guesses_net {
    uint8_t bytes[8];
};

struct guesser {
    struct guesses_net net;
    uint16_t wrong;
    uint16_t checked; /* at this moment; while it is not 0 the place is kept */
    int64_t since_ms; /* of the first wrong one */
};

struct guesses {
    struct counted refs;
    pthread_mutex_t lock;
    uint64_t key; /* so that nobody chooses places */
    struct guesser places[GUESSES_PLACES];
};

enum guesses_answer {
    GUESSES_MAY, /* check it, then auth_guesses_end */
    GUESSES_WAIT, /* others of this address are being checked: ask again when one of them has ended */
    GUESSES_OVER, /* too many were wrong */
};

/** @return it, with one reference, or NULL without memory. */
struct guesses *auth_guesses_new(uint64_t key);
struct guesses *auth_guesses_get(struct guesses *g);
/** Any thread. NULL is allowed. */
void auth_guesses_put(struct guesses *g);

struct guesses_net auth_guesses_net_of(const uint8_t ip[16]);

/** May this address have another password checked? Any thread. */
enum guesses_answer auth_guesses_begin(struct guesses *g, struct guesses_net net, int64_t now_ms);
/** A check that auth_guesses_begin allowed has ended; it was wrong, or it was right or could not be made. Any thread. */
void auth_guesses_end(struct guesses *g, struct guesses_net net, bool was_wrong, int64_t now_ms);

#endif
