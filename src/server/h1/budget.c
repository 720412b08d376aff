/* SPDX-License-Identifier: Apache-2.0 */
#include "server/h1/budget.h"

#include "base/invariant.h"
#include "server/carried/holder.h"
#include "server/h1/conn.h"
#include "server/h1/job.h"
#include "server/worker/worker.h"

enum {
    LOOKED_AT = 32,    /* holders, for one that goes */
    SHED_AT_ONCE = 64, /* connections and requests that one growth may cost */
    STEP = 64 << 10, /* growth of a worker's sum by requests after which that of all is looked at */
};

static size_t in_transport(const struct mk_link *l)
{
    const struct mk_transport *t = l->transport;
    bool has = t->size >= offsetof(struct mk_transport, held) + sizeof(t->held) && t->held;

    return has && l->state ? t->held(l) : 0;
}

static size_t weight_of(const struct mk_conn *c)
{
    size_t held = in_transport(&c->link) + c->of_protocol;

    if (c->leftover)
        held += c->leftover_at + c->leftover_len;
    if (c->job)
        held += mk_job_heap(c->job);
    if (c->job && c->job->request.view)
        held += c->job->request.held;
    return held < UINT32_MAX ? held : UINT32_MAX;
}

__attribute__((noinline)) static void book(struct mk_worker *w, struct mk_list *list,
                                           struct mk_holding *h, uint32_t held)
{
    mk_count(&w->held, (uint64_t)held - h->held);
    h->held = held;
    mk_list_remove(&h->link);
    if (held > 0)
        mk_list_add_tail(list, &h->link);
}

static void book_conn(struct mk_conn *c, uint32_t held)
{
    book(c->worker, &c->worker->budget->holders, &c->holding, held);
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
    uint32_t held = (uint32_t)weight_of(c), before = c->holding.held;

    if (held == before)
        return false;
    book_conn(c, held);
    return held > before && is_used_up(c->worker->shared);
}

void mk_budget_leave(struct mk_conn *c)
{
    if (c->holding.held > 0)
        book_conn(c, 0);
}

void mk_budget_weigh_holder(struct mk_holder *h, size_t held)
{
    struct mk_worker *w = h->conn->worker;
    uint32_t now = held < UINT32_MAX ? (uint32_t)held : UINT32_MAX;
    uint64_t before = held_by(w);

    if (now == h->holding.held)
        return;
    book(w, &w->budget->requests, &h->holding, now);
    if (held_by(w) / STEP > before / STEP)
        (void)!mk_budget_has_room(w);
}

bool mk_budget_has_room(struct mk_worker *w)
{
    if (!is_used_up(w->shared))
        return true;
    mk_budget_ask(w->shared);
    return false;
}

/* ---- who goes ---- */

/* @param burden  in: what it must have more of; out: what it has. @return who does, or NULL. */
static struct mk_holding *find_heavier(const struct mk_budget *budget, const struct mk_list *list,
                                       uint64_t *burden)
{
    uint32_t now_ms = (uint32_t)budget->worker->loop.clock.mono_ms;
    struct mk_holding *found = NULL;
    int looked_at = 0;

    MK_LIST_EACH (list, link) {
        struct mk_holding *h = MK_CONTAINER_OF(link, struct mk_holding, link);
        uint64_t its = (uint64_t)h->held * (now_ms - h->since_ms + 1ULL);

        if (its > *burden) {
            *burden = its;
            found = h;
        }
        if (++looked_at == LOOKED_AT)
            break;
    }
    return found;
}

static void shed_one(const struct mk_budget *budget)
{
    uint64_t burden = 0;
    struct mk_holding *holding = find_heavier(budget, &budget->holders, &burden),
                      *other = find_heavier(budget, &budget->requests, &burden);
    struct mk_holder *request = other ? MK_CONTAINER_OF(other, struct mk_holder, holding) : NULL;
    struct mk_conn *c;
    char ip[MK_ADDR_TEXT];

    if (!holding && !request)
        return;
    c = request ? request->conn : MK_CONTAINER_OF(holding, struct mk_conn, holding);
    (void)mk_peer_format(&c->peer, ip);
    mk_log_peer(mk_worker_log(budget->worker), MK_LOG_WARN, MK_LOG_CONN,
                "made room: MaxMemory is used up, %s peer=%s held=%u",
                request ? "ended a request" : "closed a connection", ip,
                (other ? other : holding)->held);
    if (request)
        request->end(request);
    else
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
        shed_one(w->budget);
    if (has_more_than_its_share(w) && is_used_up(w->shared))
        mk_ask(w, &w->budget->ask); /* the rest in another turn */
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
    mk_list_init(&budget->requests);
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
