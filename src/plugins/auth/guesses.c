/* SPDX-License-Identifier: Apache-2.0 */
#include "guesses.h"

#include <string.h>

void guesses_init(struct guesses *g, uint64_t key)
{
    memset(g, 0, sizeof(*g));
    pthread_mutex_init(&g->lock, NULL);
    g->key = key;
}

void guesses_fini(struct guesses *g)
{
    pthread_mutex_destroy(&g->lock);
}

static void net_of(uint8_t net[8], const uint8_t ip[16])
{
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

    if (memcmp(ip, mapped, sizeof(mapped)) == 0)
        memcpy(net, ip + 8, 8); /* 0, 0, ff, ff and the IPv4 address */
    else
        memcpy(net, ip, 8);
}

/* The first of the places where a network may stand. */
static struct guesser *places_of(struct guesses *g, const uint8_t net[8])
{
    uint64_t hash = g->key;

    for (int i = 0; i < 8; i++)
        hash = (hash ^ net[i]) * 0x100000001b3U + (hash >> 29);
    hash ^= hash >> 32;
    return &g->places[hash % (GUESSES_PLACES / GUESSES_WAYS) * GUESSES_WAYS];
}

static bool is_over(const struct guesser *guesser, int64_t now_ms)
{
    return now_ms - guesser->since_ms >= GUESSES_WINDOW_MS;
}

static struct guesser *find(struct guesses *g, const uint8_t net[8], int64_t now_ms)
{
    struct guesser *at = places_of(g, net);

    for (int i = 0; i < GUESSES_WAYS; i++) {
        if (at[i].wrong > 0 && memcmp(at[i].net, net, 8) == 0 && !is_over(&at[i], now_ms))
            return &at[i];
    }
    return NULL;
}

/* A free place, or that of the oldest guesses. */
static struct guesser *take_place(struct guesses *g, const uint8_t net[8], int64_t now_ms)
{
    struct guesser *at = places_of(g, net), *best = at;

    for (int i = 0; i < GUESSES_WAYS; i++) {
        if (at[i].wrong == 0 || is_over(&at[i], now_ms)) {
            best = &at[i];
            break;
        }
        if (at[i].since_ms < best->since_ms)
            best = &at[i];
    }
    *best = (struct guesser){.since_ms = now_ms};
    memcpy(best->net, net, 8);
    return best;
}

bool guesses_begin(struct guesses *g, const uint8_t ip[16], int64_t now_ms)
{
    struct guesser *guesser;
    uint8_t net[8];
    bool may;

    net_of(net, ip);
    pthread_mutex_lock(&g->lock);
    guesser = find(g, net, now_ms);
    if (!guesser)
        guesser = take_place(g, net, now_ms);
    may = guesser->wrong < GUESSES_ALLOWED;
    guesser->wrong += may;
    pthread_mutex_unlock(&g->lock);
    return may;
}

void guesses_right(struct guesses *g, const uint8_t ip[16], int64_t now_ms)
{
    struct guesser *guesser;
    uint8_t net[8];

    net_of(net, ip);
    pthread_mutex_lock(&g->lock);
    guesser = find(g, net, now_ms);
    if (guesser)
        guesser->wrong--;
    pthread_mutex_unlock(&g->lock);
}
