/* SPDX-License-Identifier: Apache-2.0 */
#include "server/h1/budget.h"

#include "base/invariant.h"
#include "server/h1/conn.h"
#include "server/h1/job.h"
#include "server/worker/worker.h"

enum {
    LOOKED_AT = 32,    /* holders, for one that goes */
    SHED_AT_ONCE = 64, /* connections that one growth may cost */
};

static size_t in_transport(const struct mk_link *l)
{
    const struct mk_transport *t = l->transport;
    bool has = t->size >= offsetof(struct mk_transport, held) + sizeof(t->held) && t->held;

    return has && l->state ? t->held(l) : 0;
}

static size_t weight_of(const struct mk_conn *c)
{
    size_t held = in_transport(&c->link);

    if (c->leftover)
        held += c->leftover_at + c->leftover_len;
    if (c->job && c->job->in != c->job->own_in)
        held += c->job->in_cap;
    if (c->job && c->job->request.view)
        held += c->job->request.held;
    return held < UINT32_MAX ? held : UINT32_MAX;
}

static void book(struct mk_conn *c, uint32_t held)
{
    struct mk_budget *budget = c->worker->budget;

    mk_count(&c->worker->held, (uint64_t)held - c->held);
    c->held = held;
    mk_list_remove(&c->holding);
    if (held > 0)
        mk_list_add_tail(&budget->holders, &c->holding);
}

static uint64_t held_by(const struct mk_worker *w)
{
    return atomic_load_explicit(&w->held, memory_order_relaxed);
}

static bool is_used_up(const struct mk_shared *shared)
{
    return !mk_shared_has_room(shared, 0);
}

bool mk_budget_weigh(struct mk_conn *c)
{
    uint32_t held = (uint32_t)weight_of(c), before = c->held;

    if (held == before)
        return false;
    book(c, held);
    return held > before && is_used_up(c->worker->shared);
}

void mk_budget_leave(struct mk_conn *c)
{
    if (c->held > 0)
        book(c, 0);
}

/* ---- who goes ---- */

static uint64_t burden(const struct mk_conn *c)
{
    uint32_t still_ms = (uint32_t)c->worker->loop.clock.mono_ms - c->since_ms;

    return (uint64_t)c->held * (still_ms + 1ULL);
}

static struct mk_conn *find_holder(const struct mk_budget *budget)
{
    struct mk_conn *victim = NULL;
    int looked_at = 0;

    MK_LIST_EACH (&budget->holders, link) {
        struct mk_conn *c = MK_CONTAINER_OF(link, struct mk_conn, holding);

        if (!victim || burden(c) > burden(victim))
            victim = c;
        if (++looked_at == LOOKED_AT)
            break;
    }
    return victim;
}

static void close_holder(struct mk_conn *c)
{
    char ip[MK_ADDR_TEXT];

    (void)mk_peer_format(&c->peer, ip);
    mk_log_peer(mk_worker_log(c->worker), MK_LOG_WARN, MK_LOG_CONN,
                "made room: MaxMemory is used up, closed a connection peer=%s held=%u", ip,
                c->held);
    mk_conn_close(c, MK_CLOSE_MEMORY);
}

static bool has_more_than_its_share(const struct mk_worker *w)
{
    const struct mk_shared *shared = w->shared;

    return held_by(w) > (uint64_t)atomic_load(&shared->max_memory) / shared->nworkers;
}

static void shed_holders(struct mk_worker *w)
{
    for (int i = 0; i < SHED_AT_ONCE && has_more_than_its_share(w) && is_used_up(w->shared); i++)
        close_holder(find_holder(w->budget));
}

void mk_budget_make_room(struct mk_worker *w)
{
    shed_holders(w);
    if (is_used_up(w->shared))
        mk_budget_ask(w->shared);
}

static void on_budget_ask(struct mk_post *post)
{
    struct mk_budget *budget = MK_CONTAINER_OF(post, struct mk_budget, ask.post);

    mk_ask_begin(&budget->ask);
    shed_holders(budget->worker);
}

void mk_budget_init(struct mk_budget *budget, struct mk_worker *w)
{
    w->budget = budget;
    budget->worker = w;
    mk_list_init(&budget->holders);
    mk_ask_init(&budget->ask, on_budget_ask);
}

void mk_budget_ask(struct mk_shared *shared)
{
    for (unsigned i = 0; i < shared->nworkers; i++) {
        struct mk_worker *w = shared->workers[i];

        if (has_more_than_its_share(w))
            mk_ask(w, &w->budget->ask);
    }
}
