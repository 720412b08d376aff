/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/backend_int.h"

#include "backends/balance.h"

#include "kit/backends/pool.h"
#include "kit/clock/clock.h"

#include <stdlib.h>

_Static_assert(sizeof(struct proxy_tried) == sizeof(struct balance_set), "both name backends");

static void count_more(_Atomic uint64_t *counter, uint64_t n)
{
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

/* ---- what was learnt ---- */

static struct proxy_state *state_new(void)
{
    struct proxy_state *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    counted_init(&s->refs, 1);
    if (health_guard_init(&s->health) == 0)
        return s;
    free(s);
    return NULL;
}

static struct proxy_state *state_get(struct proxy_state *s)
{
    counted_get(&s->refs);
    return s;
}

static void state_put(struct proxy_state *s)
{
    if (!s || !counted_put(&s->refs))
        return;
    health_guard_fini(&s->health);
    free(s);
}

/* ---- backends ---- */

struct proxy_backend *proxy_backend_get(struct proxy_backend *b)
{
    counted_get(&b->refs);
    return b;
}

void proxy_backend_put(struct proxy_backend *b)
{
    if (!b || !counted_put(&b->refs))
        return;
    state_put(b->state);
    backend_pool_put(b->pool);
    free(b->texts);
    free(b);
}

struct mk_upstream *proxy_backend_upstream(const struct proxy_backend *b)
{
    return b->pool->upstream;
}

static const struct proxy_entry *find_entry(const struct proxy_config *config, const char *name)
{
    const struct proxy_entry *e = config->entries;

    while (e && strcmp(e->name, name) != 0)
        e = e->next;
    return e;
}

static struct proxy_backend *find_server(const struct proxy_group *g, const char *server)
{
    for (unsigned i = 0; g && i < g->n; i++) {
        if (strcmp(g->backends[i]->name, server) == 0)
            return g->backends[i];
    }
    return NULL;
}

/* A backend in the configuration before: of the same entry, or of one whose name has gone, as that of an entry
 * without Name does when its first server does. */
static struct proxy_backend *find_old(const struct proxy_config *old,
                                      const struct proxy_config *config, const char *entry,
                                      const char *server)
{
    struct proxy_backend *found = NULL;

    for (const struct proxy_entry *e = old ? old->entries : NULL; e && !found; e = e->next) {
        if (strcmp(e->name, entry) == 0)
            found = find_server(e->group, server);
    }
    for (const struct proxy_entry *e = old ? old->entries : NULL; e && !found; e = e->next) {
        if (!find_entry(config, e->name))
            found = find_server(e->group, server);
    }
    return found;
}

static struct health_rules rules_of(const struct proxy_settings *set)
{
    return (struct health_rules){
        .attempts = (unsigned)set->attempts,
        .window_ms = (unsigned)(set->window_ms ? set->window_ms : set->offline_ms),
        .offline_ms = (unsigned)set->offline_ms,
        .slow_ms = (unsigned)set->slow_start_ms,
        .is_checked = set->check_path != NULL,
        .is_alone = set->nservers == 1 && !set->offline_single,
    };
}

static char *put_text(char **room, struct mk_str text)
{
    char *copy = *room;

    memcpy(copy, text.p, text.len);
    copy[text.len] = '\0';
    *room += text.len + 1;
    return copy;
}

/* Copies, since attempts may outlive the configuration. */
static bool copy_texts(struct proxy_backend *b, const struct proxy_entry *e,
                       const struct proxy_server *server)
{
    size_t len =
        strlen(e->name) + strlen(server->name) + strlen(server->host) + server->authority.len + 4;
    char *room = b->texts = malloc(len);

    if (!room)
        return false;
    b->entry = put_text(&room, mk_str_from(e->name));
    b->name = put_text(&room, mk_str_from(server->name));
    b->host = put_text(&room, mk_str_from(server->host));
    b->authority = (struct mk_str){put_text(&room, server->authority), server->authority.len};
    return true;
}

/* Bytes as they are, which is what no transport means. */
static bool is_plain(const char *transport)
{
    return transport && strcmp(transport, "liana") == 0;
}

static struct mk_upstream_options connections_of(const struct proxy_settings *set,
                                                 const struct proxy_server *server)
{
    return (struct mk_upstream_options){
        .size = sizeof(struct mk_upstream_options),
        .host = server->host,
        .port = server->port,
        .transport = is_plain(set->transport) ? NULL : set->transport,
        .name = set->server_name ? set->server_name : server->host,
        .max_connections = (unsigned)set->max_connections,
        .max_idle = (unsigned)set->keep_alive,
        .max_waiting = (unsigned)set->queue,
        .connect_ms = (unsigned)set->connect_ms,
        .idle_ms = (unsigned)set->idle_ms,
        .queue_ms = (unsigned)set->queue_ms,
    };
}

static bool fill_backend(struct proxy_backend *b, const struct proxy_entry *e,
                         const struct proxy_server *server, const struct proxy_backend *old)
{
    struct mk_upstream_options options = connections_of(e->set, server);

    b->state = old ? state_get(old->state) : state_new();
    if (old && backend_pool_is(old->pool, &options))
        b->pool = backend_pool_get(old->pool);
    else
        b->pool = backend_pool_new(b->server, &options);
    return b->state && b->pool && copy_texts(b, e, server);
}

static struct proxy_backend *backend_new(struct mk_server *server, const struct proxy_entry *e,
                                         const struct proxy_server *like,
                                         const struct proxy_backend *old)
{
    struct proxy_backend *b = calloc(1, sizeof(*b));

    if (!b)
        return NULL;
    counted_init(&b->refs, 1);
    b->server = server;
    b->port = like->port;
    b->rules = rules_of(e->set);
    b->check_ms = e->set->check_ms;
    if (fill_backend(b, e, like, old))
        return b;
    proxy_backend_put(b);
    return NULL;
}

/* ---- groups ---- */

static void group_free(struct proxy_group *g)
{
    for (unsigned i = 0; g && i < g->n; i++)
        proxy_backend_put(g->backends[i]);
    if (g)
        balance_free(g->balance);
    free(g);
}

/* A seat for each time that a server was written: one each in the order of the list, then seconds, and so on. */
static unsigned seat_all(const struct proxy_settings *set, uint16_t *order)
{
    unsigned n = 0;

    for (unsigned round = 0; n < set->weights; round++) {
        for (size_t i = 0; i < set->nservers; i++) {
            if (set->servers[i].weight > round)
                order[n++] = (uint16_t)i;
        }
    }
    return n;
}

static struct balance *balance_of(const struct proxy_group *g)
{
    struct balance_backend backends[PROXY_SERVERS_MAX];
    uint16_t order[PROXY_SEATS_MAX];

    for (unsigned i = 0; i < g->n; i++)
        backends[i] = (struct balance_backend){
            .name = mk_str_from(g->backends[i]->name),
            .seats = g->set->servers[i].weight,
            .active = &g->backends[i]->state->active,
        };
    return balance_new((enum proxy_balancer)g->set->balancer, backends, g->n, order,
                       seat_all(g->set, order));
}

static struct proxy_group *group_new(const struct mk_context *ctx, const struct proxy_entry *e,
                                     const struct proxy_config *old)
{
    struct proxy_group *g =
        calloc(1, sizeof(*g) + e->set->nservers * sizeof(struct proxy_backend *));

    if (!g)
        return NULL;
    g->set = e->set;
    for (size_t i = 0; i < e->set->nservers; i++) {
        const struct proxy_server *server = &e->set->servers[i];

        g->backends[i] =
            backend_new(ctx->server, e, server, find_old(old, ctx->config, e->name, server->name));
        if (!g->backends[i])
            goto free_group;
        g->n++;
    }
    g->balance = balance_of(g);
    if (g->balance)
        return g;
free_group:
    group_free(g);
    return NULL;
}

int proxy_backends_start(const struct mk_context *ctx, const struct proxy_config *old)
{
    struct proxy_config *config = ctx->config;

    if (proxy_reign_begin(config, old) < 0) {
        mk_plugin_why(ctx, "no memory");
        return MK_E_NOMEM;
    }
    for (struct proxy_entry *e = config->entries; e; e = e->next) {
        e->group = group_new(ctx, e, old);
        if (!e->group) {
            mk_plugin_why(ctx, "no memory for the backends of %s", e->name);
            proxy_backends_stop(config);
            return MK_E_NOMEM;
        }
    }
    return 0;
}

void proxy_backends_stop(struct proxy_config *config)
{
    for (struct proxy_entry *e = config->entries; e; e = e->next) {
        group_free(e->group);
        e->group = NULL;
    }
    proxy_reign_end(config);
}

/* ---- choosing ---- */

static uint64_t chance(struct proxy_group *g)
{
    uint64_t seed[2] = {atomic_fetch_add_explicit(&g->chance, 1, memory_order_relaxed),
                        (uintptr_t)g};

    return balance_hash(seed, sizeof(seed));
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
    return text.p ? balance_hash(text.p, text.len)
                  : balance_hash(conn->peer_ip, sizeof(conn->peer_ip));
}

/* Does a backend get this request, as far as its share goes? */
static bool has_share(struct proxy_group *g, struct proxy_backend *b, int64_t now_ms)
{
    unsigned share = health_guard_share(&b->state->health, &b->rules, now_ms);

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

/* Another server will not do for those that go by a hash: they wait for theirs. */
static bool has_room(const struct proxy_group *g, const struct proxy_backend *b)
{
    unsigned max = (unsigned)g->set->max_connections;

    if (max == 0 || g->set->balancer == PROXY_SOURCE_HASH ||
        g->set->balancer == PROXY_CONSISTENT_HASH)
        return true;
    return atomic_load_explicit(&b->state->active, memory_order_relaxed) < max;
}

/*
 * Those that may be asked. One whose connections are all taken is left out while another has room; one that returns, as
 * often as its share is small, unless all others are out.
 */
static struct balance_set candidates(struct proxy_group *g, const struct proxy_ask *ask,
                                     int64_t now_ms)
{
    enum { SHARE = 1, ROOM = 2, RANKS = 4 };
    struct balance_set sets[RANKS] = {{{0}}};
    unsigned best = RANKS - 1;

    for (unsigned i = 0; i < g->n; i++) {
        struct proxy_backend *b = g->backends[i];

        if (was_tried(ask, i) || !health_guard_may(&b->state->health, &b->rules, now_ms))
            continue;
        balance_set_add(&sets[(has_share(g, b, now_ms) ? SHARE : 0) + (has_room(g, b) ? ROOM : 0)],
                        i);
    }
    while (best > 0 && balance_set_is_empty(&sets[best]))
        best--;
    return sets[best];
}

static struct balance_ask question(struct proxy_group *g, const struct proxy_ask *ask)
{
    struct mk_request_facts request = {.size = sizeof(request)};
    struct mk_conn_facts conn = {.size = sizeof(conn)};
    struct balance_ask q = {0};

    switch (g->set->balancer) {
    case PROXY_RANDOM2:
        q.chance = chance(g);
        break;
    case PROXY_NAIVE:
    case PROXY_SOURCE_HASH:
    case PROXY_CONSISTENT_HASH:
        mk_request_facts(ask->r, &request);
        mk_conn_facts(request.conn, &conn);
        q.number = conn.id;
        q.key = key_of(g->set, ask->r, &request, &conn);
        break;
    default:
        break;
    }
    return q;
}

static void give_backend(struct proxy_attempt *attempt, struct proxy_backend *b,
                         enum health_pass pass)
{
    count_more(&b->state->count.requests, 1);
    if (pass == HEALTH_PROBE) {
        count_more(&b->state->count.probes, 1);
        mk_server_log(b->server, MK_LOG_TRACE, "proxy state of=backend is=%s entry=%s backend=%s",
                      health_name(HEALTH_PROBING), b->entry, b->name);
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

        if (was_tried(ask, i))
            continue;
        until_ms = health_guard_until(&g->backends[i]->state->health);
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

/* All are offline: an answer may still come, and to refuse the request is no better. A single one is left alone if told so. */
static bool begin_last(struct proxy_group *g, struct proxy_ask *ask, struct proxy_attempt *attempt,
                       const struct balance_ask *q)
{
    struct balance_set one = {{0}};
    struct balance_ask last = *q;
    unsigned i = find_last(g, ask);

    if (i == g->n || (g->n == 1 && g->set->offline_single) || !has_time(g, ask))
        return false;
    balance_set_add(&one, i);
    last.may = &one;
    if (balance_choose(g->balance, &last) == BALANCE_NOBODY)
        return false;
    mark_tried(ask, i);
    give_backend(attempt, g->backends[i],
                 health_guard_admit_last(&g->backends[i]->state->health, &g->backends[i]->rules));
    return true;
}

bool proxy_begin(struct proxy_entry *entry, struct proxy_ask *ask, struct proxy_attempt *attempt)
{
    struct proxy_group *g = entry->group;
    int64_t now_ms = mk_worker_now_ms(ask->worker);
    struct balance_set may = candidates(g, ask, now_ms);
    struct balance_ask q = question(g, ask);
    int chosen;

    q.may = &may;
    *attempt = (struct proxy_attempt){0};
    while ((chosen = balance_choose(g->balance, &q)) != BALANCE_NOBODY) {
        unsigned i = (unsigned)chosen;
        struct proxy_backend *b = g->backends[i];
        enum health_pass pass = health_guard_admit(&b->state->health, &b->rules, now_ms);

        if (pass != HEALTH_REFUSED) {
            mark_tried(ask, i);
            give_backend(attempt, b, pass);
            return true;
        }
        /* Another worker was quicker: it is being probed, or has just failed. */
        balance_end(g->balance, i);
        balance_set_remove(&may, i);
    }
    return begin_last(g, ask, attempt, &q);
}

/* ---- what became of it ---- */

static void trace_health(const struct proxy_backend *b, struct health_change change)
{
    if (change.was != change.is)
        mk_server_log(b->server, MK_LOG_TRACE,
                      "proxy state of=backend was=%s is=%s entry=%s backend=%s",
                      health_name(change.was), health_name(change.is), b->entry, b->name);
}

static void tell_log(const struct proxy_backend *b, struct health_change change, const char *why)
{
    trace_health(b, change);
    if (health_went(change))
        mk_server_log(b->server, MK_LOG_WARN, "proxy: backend offline entry=%s backend=%s why=%s",
                      b->entry, b->name, why);
    if (health_came_back(change))
        mk_server_log(b->server, MK_LOG_INFO, "proxy: backend online entry=%s backend=%s", b->entry,
                      b->name);
}

static void tell_health(struct proxy_attempt *attempt, enum health_end end, const char *why)
{
    struct proxy_backend *b = attempt->backend;

    tell_log(b,
             health_guard_tell(&b->state->health, &b->rules, (enum health_pass)attempt->pass, end,
                               clock_tick_ms()),
             why);
    attempt->pass = HEALTH_NORMAL; /* it has decided */
}

void proxy_answers(struct proxy_attempt *attempt)
{
    atomic_store_explicit(&attempt->backend->state->heard_ms, clock_tick_ms(),
                          memory_order_relaxed);
    if (attempt->pass != HEALTH_NORMAL)
        tell_health(attempt, HEALTH_GOOD, "");
}

/* What each outcome says of a backend, and where it is counted. */
static const struct {
    enum health_end end;
    const char *why;
    size_t counter;
} outcomes[] = {
#define COUNTER(member) offsetof(struct proxy_counters, member)
    [PROXY_ANSWERED] = {HEALTH_GOOD, "", COUNTER(status)},
    [PROXY_REFUSED] = {HEALTH_BAD, "refused", COUNTER(refused)},
    [PROXY_BROKE] = {HEALTH_BAD, "broke", COUNTER(broke)},
    [PROXY_SILENT] = {HEALTH_BAD, "silent", COUNTER(broke)},
    [PROXY_UNFIT] = {HEALTH_UNKNOWN, "", COUNTER(broke)},
    [PROXY_STALE] = {HEALTH_UNKNOWN, "", COUNTER(stale)},
    [PROXY_FULL] = {HEALTH_UNKNOWN, "", COUNTER(full)},
    [PROXY_LEFT] = {HEALTH_UNKNOWN, "", COUNTER(left)},
#undef COUNTER
};

static void count_outcome(struct proxy_state *s, const struct proxy_report *report)
{
    char *counters = (char *)&s->count;
    unsigned class = report->status / 100;

    if (report->outcome == PROXY_ANSWERED) {
        count_more(&s->count.status[class < 6 ? class : 0], 1);
        latency_count(&s->latency, report->head_us, clock_tick_ms());
    } else {
        count_more((_Atomic uint64_t *)(void *)(counters + outcomes[report->outcome].counter), 1);
    }
    count_more(&s->count.sent, report->sent);
    count_more(&s->count.received, report->received);
}

/* A backend that answered others meanwhile is not dead: the URL is slow. */
static enum health_end health_of(const struct proxy_state *s, const struct proxy_report *report)
{
    int64_t began_ms = clock_tick_ms() - (int64_t)(report->whole_us / 1000);

    if (report->outcome == PROXY_SILENT &&
        atomic_load_explicit(&s->heard_ms, memory_order_relaxed) >= began_ms)
        return HEALTH_UNKNOWN;
    return outcomes[report->outcome].end;
}

void proxy_end(struct proxy_attempt *attempt, const struct proxy_report *report)
{
    struct proxy_backend *b = attempt->backend;

    atomic_fetch_sub_explicit(&b->state->active, 1, memory_order_relaxed);
    count_outcome(b->state, report);
    tell_health(attempt, health_of(b->state, report), outcomes[report->outcome].why);
    attempt->backend = NULL;
    proxy_backend_put(b);
}

void proxy_backend_checked(struct proxy_backend *b, bool is_good)
{
    count_more(&b->state->count.checks, 1);
    if (!is_good)
        count_more(&b->state->count.failed_checks, 1);
    tell_log(b, health_guard_tell_check(&b->state->health, &b->rules, is_good, clock_tick_ms()),
             "check");
}
