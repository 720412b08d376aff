/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/backend_int.h"

#include "backends/balance.h"

#include "kit/backends/pool.h"
#include "kit/cookie/cookie.h"

#include "links/call.h"

/* Which backend is asked for a request. */

_Static_assert(sizeof(struct proxy_tried) == sizeof(struct balance_set), "both name backends");

static uint64_t chance(struct proxy_group *g)
{
    uint64_t seed[2] = {atomic_fetch_add_explicit(&g->chance, 1, memory_order_relaxed),
                        (uintptr_t)g};

    return proxy_balance_hash(seed, sizeof(seed));
}

/* By what SourceHash and ConsistentHash go; a field that is missing is replaced by the address. */
static uint64_t key_of(const struct proxy_settings *set, const struct mk_request *r,
                       const struct mk_request_facts *request, const struct mk_conn_facts *conn)
{
    struct mk_str text = {NULL, 0};

    if (set->balancer == PROXY_CONSISTENT_HASH && set->hash_key == PROXY_HASH_URI)
        text = request->target;
    if (set->balancer == PROXY_CONSISTENT_HASH && set->hash_key == PROXY_HASH_HEADER)
        text = mk_request_header(r, set->hash_header);
    return text.p ? proxy_balance_hash(text.p, text.len)
                  : proxy_balance_hash(conn->peer_ip, sizeof(conn->peer_ip));
}

/* Does a backend get this request, as far as its share goes? */
static bool has_share(struct proxy_group *g, struct proxy_backend *b, int64_t now_ms)
{
    unsigned share = proxy_health_guard_share(&b->state->health, &b->rules, now_ms);

    return share >= 1000 || chance(g) % 1000 < share;
}

static bool was_tried(const struct proxy_ask *ask, unsigned i)
{
    return ask->tried.bits[i / 64] >> i % 64 & 1;
}

static void mark_tried(struct proxy_ask *ask, unsigned i)
{
    ask->tried.bits[i / 64] |= UINT64_C(1) << i % 64;
}

/* Requests that all connections to a backend carry at a time; 0: any number. */
static uint64_t max_active(const struct proxy_settings *set)
{
    return (uint64_t)set->max_connections * (set->is_h2 ? PROXY_CALLS_A_CONNECTION : 1);
}

/* Another server will not do for those that go by a hash: they wait for theirs. */
static bool has_room(const struct proxy_group *g, const struct proxy_backend *b)
{
    uint64_t max = max_active(g->set);

    if (max == 0 || g->set->balancer == PROXY_SOURCE_HASH ||
        g->set->balancer == PROXY_CONSISTENT_HASH)
        return true;
    return atomic_load_explicit(&b->state->active, memory_order_relaxed) < max;
}

/*
 * Those of a part of the group that may be asked. One whose connections are all taken is left out while another has room; one that returns, as
 * often as its share is small, unless all others are out.
 */
static struct balance_set candidates(struct proxy_group *g, unsigned from, unsigned to,
                                     const struct proxy_ask *ask, int64_t now_ms)
{
    enum { SHARE = 1, ROOM = 2, RANKS = 4 };
    struct balance_set sets[RANKS] = {{{0}}};
    unsigned best = RANKS - 1;

    for (unsigned i = from; i < to; i++) {
        struct proxy_backend *b = g->backends[i];

        if (was_tried(ask, i) || proxy_backend_is_drained(b) ||
            !proxy_health_guard_may(&b->state->health, &b->rules, now_ms))
            continue;
        balance_set_add(&sets[(has_share(g, b, now_ms) ? SHARE : 0) + (has_room(g, b) ? ROOM : 0)],
                        i);
    }
    while (best > 0 && balance_set_is_empty(&sets[best]))
        best--;
    return sets[best];
}

/* Apart, since most balancers need no facts. */
static __attribute__((noinline)) void ask_client(const struct proxy_group *g,
                                                 const struct proxy_ask *ask, struct balance_ask *q)
{
    struct mk_request_facts request = {.size = sizeof(request)};
    struct mk_conn_facts conn = {.size = sizeof(conn)};

    mk_request_facts(ask->r, &request);
    mk_conn_facts(request.conn, &conn);
    q->number = conn.id;
    q->key = key_of(g->set, ask->r, &request, &conn);
}

static struct balance_ask question(struct proxy_group *g, const struct proxy_ask *ask)
{
    struct balance_ask q = {0};

    switch (g->set->balancer) {
    case PROXY_RANDOM2:
        q.chance = chance(g);
        break;
    case PROXY_NAIVE:
    case PROXY_SOURCE_HASH:
    case PROXY_CONSISTENT_HASH:
        ask_client(g, ask, &q);
        break;
    default:
        break;
    }
    return q;
}

static void give_backend(struct proxy_attempt *attempt, struct proxy_backend *b,
                         enum health_pass pass)
{
    proxy_count(&b->state->count.requests, 1);
    if (pass == HEALTH_PROBE) {
        proxy_count(&b->state->count.probes, 1);
        mk_server_log(b->server, MK_LOG_TRACE, "proxy state of=backend is=%s entry=%s backend=%s",
                      proxy_health_name(HEALTH_PROBING), b->entry, b->name);
    }
    *attempt = (struct proxy_attempt){
        .backend = proxy_backend_get(b),
        .upstream = proxy_backend_upstream(b),
        .uploads = b->pool->uploads,
        .name = b->name,
        .authority = b->authority,
        .pass = (uint8_t)pass,
    };
}

/* The one that is offline longest, of those that were not tried. @return g->n: none. */
static unsigned find_last(const struct proxy_group *g, const struct proxy_ask *ask)
{
    unsigned found = g->n;
    int64_t least = INT64_MAX;

    for (unsigned i = 0; i < g->n; i++) {
        int64_t until_ms;

        if (was_tried(ask, i) || proxy_backend_is_drained(g->backends[i]))
            continue;
        until_ms = proxy_health_guard_until(&g->backends[i]->state->health);
        if (until_ms < least) {
            least = until_ms;
            found = i;
        }
    }
    return found;
}

/* Those that refuse do it at once; those that are silent are not all waited for, one after the other. */
static bool has_time(const struct proxy_group *g, struct proxy_ask *ask)
{
    int64_t now_ms = mk_worker_now_ms(ask->worker);

    if (ask->last_ms == 0)
        ask->last_ms = now_ms;
    return now_ms - ask->last_ms < g->set->connect_ms;
}

/* This one and no other, counted as active. */
static bool choose_one(struct proxy_group *g, const struct balance_ask *q, unsigned i)
{
    struct balance_set one = {{0}};
    struct balance_ask only = *q;

    balance_set_add(&one, i);
    only.may = &one;
    return proxy_balance_choose(g->balance, &only) != BALANCE_NOBODY;
}

/* All are offline: an answer may still come, and to refuse the request is no better. A single one is left alone if told so. */
static bool begin_last(struct proxy_group *g, struct proxy_ask *ask, struct proxy_attempt *attempt,
                       const struct balance_ask *q)
{
    unsigned i = find_last(g, ask);

    if (i == g->n || (g->n == 1 && g->set->offline_single) || !has_time(g, ask) ||
        !choose_one(g, q, i))
        return false;
    mark_tried(ask, i);
    give_backend(
        attempt, g->backends[i],
        proxy_health_guard_admit_last(&g->backends[i]->state->health, &g->backends[i]->rules));
    return true;
}

/* One of this part of the group. */
static bool begin_among(struct proxy_group *g, unsigned from, unsigned to, struct proxy_ask *ask,
                        struct proxy_attempt *attempt, const struct balance_ask *q)
{
    int64_t now_ms = mk_worker_now_ms(ask->worker);
    struct balance_set may = candidates(g, from, to, ask, now_ms);
    struct balance_ask among = *q;
    int chosen;

    among.may = &may;
    while ((chosen = proxy_balance_choose(g->balance, &among)) != BALANCE_NOBODY) {
        unsigned i = (unsigned)chosen;
        struct proxy_backend *b = g->backends[i];
        enum health_pass pass = proxy_health_guard_admit(&b->state->health, &b->rules, now_ms);

        if (pass != HEALTH_REFUSED) {
            mark_tried(ask, i);
            give_backend(attempt, b, pass);
            return true;
        }
        /* Another worker was quicker: it is being probed, or has just failed. */
        proxy_balance_end(g->balance, i);
        balance_set_remove(&may, i);
    }
    return false;
}

/* As the balancer has it, else a backup, else one that is offline. */
static bool begin_any(struct proxy_group *g, struct proxy_ask *ask, struct proxy_attempt *attempt,
                      const struct balance_ask *q)
{
    return begin_among(g, 0, g->nmain, ask, attempt, q) ||
           (g->nmain < g->n && begin_among(g, g->nmain, g->n, ask, attempt, q)) ||
           (!ask->has_answer && begin_last(g, ask, attempt, q));
}

/* ---- sticky sessions ---- */

struct mk_str proxy_attempt_cookie(const struct proxy_attempt *attempt)
{
    return (struct mk_str){attempt->backend->sticky, PROXY_STICKY_LEN};
}

/* The backend that the client's cookie names. @return g->n: none, since it has no such cookie, or an old or invented one. */
static unsigned find_named(const struct proxy_group *g, const struct mk_request *r)
{
    struct mk_str value = cookie_find(r, g->set->sticky);
    unsigned i = 0;

    if (value.len != PROXY_STICKY_LEN)
        return g->n;
    while (i < g->n && memcmp(value.p, g->backends[i]->sticky, PROXY_STICKY_LEN) != 0)
        i++;
    return i;
}

/* While it can be asked at all, a backup or drained too: the session is there. */
static bool begin_named(struct proxy_group *g, unsigned i, struct proxy_ask *ask,
                        struct proxy_attempt *attempt, const struct balance_ask *q)
{
    struct proxy_backend *b = g->backends[i];
    enum health_pass pass;

    if (was_tried(ask, i) || !choose_one(g, q, i))
        return false;
    pass = proxy_health_guard_admit(&b->state->health, &b->rules, mk_worker_now_ms(ask->worker));
    if (pass == HEALTH_REFUSED) {
        proxy_balance_end(g->balance, i);
        return false;
    }
    mark_tried(ask, i);
    give_backend(attempt, b, pass);
    return true;
}

static bool begin_sticky(struct proxy_group *g, struct proxy_ask *ask,
                         struct proxy_attempt *attempt, const struct balance_ask *q)
{
    unsigned named = find_named(g, ask->r);

    if (named < g->n && begin_named(g, named, ask, attempt, q))
        return true;
    if (!begin_any(g, ask, attempt, q))
        return false;
    attempt->sets_cookie = named == g->n || attempt->backend != g->backends[named];
    return true;
}

bool proxy_begin(struct proxy_entry *entry, struct proxy_ask *ask, struct proxy_attempt *attempt)
{
    struct proxy_group *g = entry->group;
    struct balance_ask q = question(g, ask);

    *attempt = (struct proxy_attempt){0};
    return g->set->sticky.len > 0 ? begin_sticky(g, ask, attempt, &q)
                                  : begin_any(g, ask, attempt, &q);
}
