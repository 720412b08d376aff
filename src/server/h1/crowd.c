/* SPDX-License-Identifier: Apache-2.0 */
#include "server/h1/crowd.h"

#include "base/invariant.h"
#include "server/h1/conn.h"
#include "server/h1/h1.h"
#include "server/worker/worker.h"

#include <stdlib.h>

enum {
    YOUNG_MS = 2000,  /* nobody goes earlier */
    NEAR_SHARE = 8,   /* an eighth of MaxConnections is kept for newcomers */
    SHED_AT_ONCE = 8, /* when no room is left */
};

/* A connection that was looked at. */
struct seen {
    struct mk_conn *conn;
    uint8_t key[MK_ADDRESS_KEY];
    unsigned held; /* connections of its address among them */
    uint32_t useless_ms;
};

struct look {
    struct seen seen[MK_POOL_SOME];
    unsigned count;
};

static void see_conn(void *block, void *arg)
{
    struct mk_conn *c = block;
    struct look *look = arg;
    struct seen *s = &look->seen[look->count];

    if (c->closed || c->peer.is_unix || c->state == MK_H1_PROXY)
        return;
    s->conn = c;
    s->useless_ms = mk_h1_useless_ms(c);
    mk_per_address_key(s->key, &c->peer);
    look->count++;
}

static int by_key(const void *a, const void *b)
{
    return memcmp(((const struct seen *)a)->key, ((const struct seen *)b)->key, MK_ADDRESS_KEY);
}

/* @return the most that one address has. */
static unsigned count_addresses(struct look *look)
{
    unsigned most = 0;

    qsort(look->seen, look->count, sizeof(look->seen[0]), by_key);
    for (unsigned i = 0, end; i < look->count; i = end) {
        for (end = i + 1; end < look->count && by_key(&look->seen[i], &look->seen[end]) == 0; end++)
            ;
        for (unsigned j = i; j < end; j++)
            look->seen[j].held = end - i;
        most = end - i > most ? end - i : most;
    }
    return most;
}

/* Its answer is out: what it still does serves its client alone. */
static bool is_over(const struct seen *s)
{
    return s->conn->state == MK_H1_LINGER;
}

static unsigned rank(const struct seen *s)
{
    return is_over(s) ? 2 : s->conn->state == MK_H1_IDLE ? 1 : 0;
}

static bool goes_before(const struct seen *a, const struct seen *b)
{
    return rank(a) != rank(b) ? rank(a) > rank(b) : a->useless_ms > b->useless_ms;
}

/* @return who goes next, or NULL. */
static struct seen *find_useless(struct look *look, unsigned heaviest)
{
    struct seen *victim = NULL;

    for (unsigned i = 0; i < look->count; i++) {
        struct seen *s = &look->seen[i];

        if (s->useless_ms >= YOUNG_MS && (is_over(s) || s->held * 2 >= heaviest) &&
            (!victim || goes_before(s, victim)))
            victim = s;
    }
    return victim;
}

static void close_useless(struct mk_worker *w, struct seen *s)
{
    char ip[MK_ADDR_TEXT];

    (void)mk_peer_format(&s->conn->peer, ip);
    mk_log_peer(mk_worker_log(w), MK_LOG_WARN, MK_LOG_CONN,
                "made room: closed a connection of an address with many peer=%s waited_ms=%u", ip,
                s->useless_ms);
    mk_conn_close(s->conn, MK_CLOSE_SHED);
    s->useless_ms = 0;
}

/* @return how many more there may be before room must be made; negative: fewer. */
static int64_t room(const struct mk_shared *shared)
{
    int64_t max = atomic_load_explicit(&shared->max_connections, memory_order_relaxed);

    return max - max / NEAR_SHARE -
           atomic_load_explicit(&shared->connections, memory_order_relaxed);
}

bool mk_crowd_is_near(const struct mk_shared *shared)
{
    return room(shared) < 0;
}

bool mk_crowd_is_next_near(const struct mk_shared *shared)
{
    return room(shared) < 1;
}

void mk_crowd_shed(struct mk_worker *w, unsigned most)
{
    struct mk_crowd *crowd = w->crowd;
    struct look look = {.count = 0};
    unsigned heaviest;
    struct seen *victim;

    mk_pool_some(&w->conns, see_conn, &look);
    heaviest = count_addresses(&look);
    crowd->heaviest -= (crowd->heaviest + NEAR_SHARE - 1) / NEAR_SHARE;
    if (heaviest > crowd->heaviest)
        crowd->heaviest = heaviest;
    for (; most > 0 && (victim = find_useless(&look, crowd->heaviest)); most--)
        close_useless(w, victim);
}

static void on_crowd_ask(struct mk_post *post)
{
    struct mk_crowd *crowd = MK_CONTAINER_OF(post, struct mk_crowd, ask.post);

    mk_ask_begin(&crowd->ask);
    mk_crowd_shed(crowd->worker, SHED_AT_ONCE);
}

void mk_crowd_init(struct mk_crowd *crowd, struct mk_worker *w)
{
    w->crowd = crowd;
    crowd->worker = w;
    mk_ask_init(&crowd->ask, on_crowd_ask);
}

void mk_crowd_ask(struct mk_shared *shared)
{
    for (unsigned i = 0; i < shared->nworkers; i++)
        mk_ask(shared->workers[i], &shared->workers[i]->crowd->ask);
}
