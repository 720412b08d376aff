/* SPDX-License-Identifier: Apache-2.0 */
#include "gather.h"

#include "kit/counted/counted.h"

#include <monkey/events.h>
#include <monkey/request.h>

#include <stdlib.h>
#include <string.h>

struct part {
    atomic_bool is_done; /* then the rest is not written any more */
    unsigned ncounts;
    struct gather_count counts[GATHER_STATES];
};

struct gather {
    struct counted refs; /* of the request, and of each worker that has not answered */
    atomic_uint pending;
    struct mk_server *server;
    uint64_t ticket;
    unsigned nparts;
    struct part parts[];
};

void status_gather_put(struct gather *g)
{
    if (counted_put(&g->refs))
        free(g);
}

/* @return it, or NULL: there are too many states. */
static struct gather_count *count_of(struct gather_count *counts, unsigned *ncounts,
                                     const char *state)
{
    for (unsigned i = 0; i < *ncounts; i++) {
        if (counts[i].state == state || strcmp(counts[i].state, state) == 0)
            return &counts[i];
    }
    if (*ncounts == GATHER_STATES)
        return NULL;
    counts[*ncounts] = (struct gather_count){state, 0};
    return &counts[(*ncounts)++];
}

/* ---- on each worker ---- */

static void note(void *arg, const struct mk_conn *c)
{
    struct part *part = arg;
    struct gather_count *count = count_of(part->counts, &part->ncounts, mk_conn_state(c));

    if (count)
        count->count++;
}

static void answer(struct mk_worker *w, void *arg)
{
    struct gather *g = arg;
    struct part *part = &g->parts[mk_worker_index(w)];

    mk_worker_each_conn(w, note, part);
    atomic_store_explicit(&part->is_done, true, memory_order_release);
    if (atomic_fetch_sub_explicit(&g->pending, 1, memory_order_acq_rel) == 1 &&
        mk_server_resume(g->server, g->ticket) < 0)
        mk_server_log(g->server, MK_LOG_DEBUG, "status: no memory: a scrape goes on by its alarm");
    status_gather_put(g);
}

/* ---- where the request is ---- */

struct gather *status_gather_begin(struct mk_request *r, struct mk_server *server)
{
    const unsigned count = mk_server_workers(server);
    struct gather *g = calloc(1, sizeof(*g) + count * sizeof(struct part));

    if (!g)
        return NULL;
    counted_init(&g->refs, count + 1);
    atomic_init(&g->pending, count);
    g->server = server;
    g->ticket = mk_request_ticket(r);
    g->nparts = count;
    if (mk_server_each_worker(server, answer, g) == 0)
        return g;
    free(g);
    return NULL;
}

bool status_gather_is_done(const struct gather *g)
{
    return atomic_load_explicit(&g->pending, memory_order_acquire) == 0;
}

unsigned status_gather_missing(const struct gather *g)
{
    return atomic_load_explicit(&g->pending, memory_order_acquire);
}

unsigned status_gather_add_up(const struct gather *g, struct gather_count counts[GATHER_STATES])
{
    unsigned ncounts = 0;

    for (unsigned i = 0; i < g->nparts; i++) {
        const struct part *part = &g->parts[i];

        if (!atomic_load_explicit(&part->is_done, memory_order_acquire))
            continue;
        for (unsigned j = 0; j < part->ncounts; j++) {
            struct gather_count *count = count_of(counts, &ncounts, part->counts[j].state);

            if (count)
                count->count += part->counts[j].count;
        }
    }
    return ncounts;
}
