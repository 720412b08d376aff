/* SPDX-License-Identifier: Apache-2.0 */
#include "guesses.h"

#include <stdlib.h>
#include <string.h>

struct guesses *auth_guesses_new(uint64_t key)
{
    struct guesses *g = calloc(1, sizeof(*g));

    if (!g)
        return NULL;
    counted_init(&g->refs, 1);
    pthread_mutex_init(&g->lock, NULL);
    g->key = key;
    return g;
}

struct guesses *auth_guesses_get(struct guesses *g)
{
    counted_get(&g->refs);
    return g;
}

void auth_guesses_put(struct guesses *g)
{
    if (!g || !counted_put(&g->refs))
        return;
    pthread_mutex_destroy(&g->lock);
    free(g);
}

struct guesses_net auth_guesses_net_of(const uint8_t ip[16])
{
    static const uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    struct guesses_net net;

    if (memcmp(ip, mapped, sizeof(mapped)) == 0)
        memcpy(net.bytes, ip + 8, 8); /* 0, 0, ff, ff and the IPv4 address */
    else
        memcpy(net.bytes, ip, 8);
    return net;
}

/* The first of the places where a network may stand. */
static struct guesser *places_of(struct guesses *g, struct guesses_net net)
{
    uint64_t hash = g->key;

    for (int i = 0; i < 8; i++)
        hash = (hash ^ net.bytes[i]) * 0x100000001b3U + (hash >> 29);
    hash ^= hash >> 32;
    return &g->places[hash % (GUESSES_PLACES / GUESSES_WAYS) * GUESSES_WAYS];
}

static bool is_free(const struct guesser *at, int64_t now_ms)
{
    return at->checked == 0 && (at->wrong == 0 || now_ms - at->since_ms >= GUESSES_WINDOW_MS);
}

static struct guesser *find(struct guesses *g, struct guesses_net net, int64_t now_ms)
{
    struct guesser *at = places_of(g, net);

    for (int i = 0; i < GUESSES_WAYS; i++) {
        if (is_free(&at[i], now_ms) || memcmp(&at[i].net, &net, sizeof(net)) != 0)
            continue;
        if (at[i].wrong > 0 && now_ms - at[i].since_ms >= GUESSES_WINDOW_MS)
            at[i].wrong = 0;
        return &at[i];
    }
    return NULL;
}

/* A free place, or that of the oldest guesses. @return NULL: passwords of all who stand there are being checked. */
static struct guesser *take_place(struct guesses *g, struct guesses_net net, int64_t now_ms)
{
    struct guesser *at = places_of(g, net), *best = NULL;

    for (int i = 0; i < GUESSES_WAYS; i++) {
        if (is_free(&at[i], now_ms)) {
            best = &at[i];
            break;
        }
        if (at[i].checked == 0 && (!best || at[i].since_ms < best->since_ms))
            best = &at[i];
    }
    if (best)
        *best = (struct guesser){.net = net};
    return best;
}

static enum guesses_answer begin(struct guesser *guesser)
{
    if (!guesser)
        return GUESSES_WAIT;
    if (guesser->wrong >= GUESSES_ALLOWED)
        return GUESSES_OVER;
    /* Were all that are being checked wrong, there still must be one more allowed. */
    if (guesser->checked >= GUESSES_AT_ONCE || guesser->wrong + guesser->checked >= GUESSES_ALLOWED)
        return GUESSES_WAIT;
    guesser->checked++;
    return GUESSES_MAY;
}

enum guesses_answer auth_guesses_begin(struct guesses *g, struct guesses_net net, int64_t now_ms)
{
    enum guesses_answer answer;
    struct guesser *guesser;

    pthread_mutex_lock(&g->lock);
    guesser = find(g, net, now_ms);
    answer = begin(guesser ? guesser : take_place(g, net, now_ms));
    pthread_mutex_unlock(&g->lock);
    return answer;
}

void auth_guesses_end(struct guesses *g, struct guesses_net net, bool was_wrong, int64_t now_ms)
{
    struct guesser *guesser;

    pthread_mutex_lock(&g->lock);
    guesser = find(g, net, now_ms); /* its place is kept while it is checked */
    if (guesser) {
        guesser->checked--;
        if (was_wrong && guesser->wrong++ == 0)
            guesser->since_ms = now_ms;
    }
    pthread_mutex_unlock(&g->lock);
}
