/* SPDX-License-Identifier: Apache-2.0 */
#include "server/request/ticket.h"

#include "base/limits.h"
#include "base/heap.h"
#include "base/invariant.h"
#include "server/request/wire.h"
#include "server/request/request_state.h"
#include "server/worker/worker.h"

enum {
    FIRST_SLOTS = 16,
};

/* From the top: 8 bits worker, 24 bits slot, 32 bits serial, which is never 0. */
static uint64_t make_ticket(unsigned worker, uint32_t slot, uint32_t serial)
{
    return (uint64_t)worker << 56 | (uint64_t)slot << 32 | serial;
}

static uint32_t slot_of(uint64_t ticket)
{
    return (uint32_t)(ticket >> 32) & (MK_LIMIT_TICKETS - 1);
}

_Static_assert(MK_LIMIT_WORKERS <= 256, "a ticket has eight bits for the worker");

void mk_tickets_init(struct mk_tickets *t)
{
    *t = (struct mk_tickets){.first_free = MK_LIMIT_TICKETS};
}

void mk_tickets_fini(struct mk_tickets *t)
{
    mk_heap_free(t->slots);
}

static int grow(struct mk_tickets *t)
{
    uint32_t more = t->nslots > 0 ? t->nslots * 2 : FIRST_SLOTS;
    struct mk_ticket_slot *slots;

    if (more > MK_LIMIT_TICKETS || !(slots = mk_heap_zalloc(more, sizeof(*slots))))
        return MK_E_NOMEM;
    if (t->nslots > 0)
        memcpy(slots, t->slots, t->nslots * sizeof(*slots));
    for (uint32_t i = t->nslots; i < more; i++)
        slots[i].next_free = i + 1 < more ? i + 1 : MK_LIMIT_TICKETS;
    t->first_free = t->nslots;
    t->nslots = more;
    mk_heap_free(t->slots);
    t->slots = slots;
    return 0;
}

uint64_t mk_request_ticket(struct mk_request *r)
{
    struct mk_worker *w = r->worker;
    struct mk_tickets *t = w->tickets;
    struct mk_ticket_slot *slot;
    uint32_t at;

    if (r->ticket || mk_asking_is_over(r))
        return r->ticket;
    if (t->first_free == MK_LIMIT_TICKETS && grow(t) < 0)
        return 0;
    at = t->first_free;
    slot = &t->slots[at];
    t->first_free = slot->next_free;
    if (++t->serial == 0)
        t->serial = 1;
    slot->request = r;
    slot->serial = t->serial;
    r->ticket = make_ticket(w->index, at, slot->serial);
    return r->ticket;
}

void mk_ticket_end(struct mk_request *r)
{
    struct mk_tickets *t = r->worker->tickets;
    uint32_t at = slot_of(r->ticket);

    if (!r->ticket)
        return;
    t->slots[at].request = NULL;
    t->slots[at].next_free = t->first_free;
    t->first_free = at;
    r->ticket = 0;
}

struct mk_request *mk_worker_request(struct mk_worker *w, uint64_t ticket)
{
    const struct mk_tickets *t = w->tickets;
    uint32_t at = slot_of(ticket);

    if (ticket >> 56 != w->index || at >= t->nslots || t->slots[at].serial != (uint32_t)ticket)
        return NULL;
    return t->slots[at].request;
}

void mk_request_resume(struct mk_request *r)
{
    mk_asking_wake(r);
    r->wire->wake(r);
}

struct wake {
    struct mk_post post;
    struct mk_worker *worker;
    uint64_t ticket;
};

static void wake_request(struct mk_post *post)
{
    struct wake *wake = MK_CONTAINER_OF(post, struct wake, post);
    struct mk_request *r = mk_worker_request(wake->worker, wake->ticket);

    if (r)
        mk_request_resume(r);
    mk_heap_free(wake);
}

int mk_server_resume(struct mk_server *server, uint64_t ticket)
{
    unsigned index = (unsigned)(ticket >> 56);
    const struct mk_shared *shared = mk_shared_of(server);
    struct wake *wake;

    if (ticket == 0 || index >= shared->nworkers)
        return 0;
    wake = mk_heap_alloc(sizeof(*wake));
    if (!wake)
        return MK_E_NOMEM;
    *wake = (struct wake){
        .post = {.fn = wake_request}, .worker = shared->workers[index], .ticket = ticket};
    mk_loop_post(&wake->worker->loop, &wake->post);
    return 0;
}
