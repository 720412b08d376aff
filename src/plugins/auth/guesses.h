/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AUTH_GUESSES_H
#define AUTH_GUESSES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Wrong passwords by address, over all workers: who guessed wrong too often waits. The table has a fixed
 * size; an address that finds its place taken by one whose guesses are older takes it.
 */

enum {
    GUESSES_ALLOWED = 10,      /* wrong passwords of one address... */
    GUESSES_WINDOW_MS = 60000, /* ...within this time */
    GUESSES_PLACES = 1024,
    GUESSES_WAYS = 4, /* places that an address may have */
};

struct guesser {
    uint8_t net[8]; /* IPv4 address, or the first half of an IPv6 address: a customer's network */
    uint32_t wrong;
    int64_t since_ms; /* of the first of them */
};

struct guesses {
    pthread_mutex_t lock;
    uint64_t key; /* so that nobody chooses places */
    struct guesser places[GUESSES_PLACES];
};

void guesses_init(struct guesses *g, uint64_t key);
void guesses_fini(struct guesses *g);

/** May this address try another password? Then it counts as wrong until it turns out right. Any thread. */
bool guesses_begin(struct guesses *g, const uint8_t ip[16], int64_t now_ms);
/** What was begun was right. Any thread. */
void guesses_right(struct guesses *g, const uint8_t ip[16], int64_t now_ms);

#endif
