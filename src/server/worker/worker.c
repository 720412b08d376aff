/* SPDX-License-Identifier: Apache-2.0 */
#include "server/worker/worker.h"

#include <monkey/events.h>

enum { PROMISED = 4 }; /* such a part of its share of MaxMemory may be promised to peers */

static _Thread_local struct mk_worker *here;

struct mk_worker *mk_worker_enter(struct mk_worker *w)
{
    struct mk_worker *before = here;

    here = w;
    return before;
}

struct mk_worker *mk_worker_here(void)
{
    return here;
}

bool mk_worker_is_of(const struct mk_server *server)
{
    return here && here->server == server;
}

struct mk_worker *mk_server_worker(struct mk_server *server, unsigned index)
{
    const struct mk_shared *shared = mk_shared_of(server);

    return index < shared->nworkers ? shared->workers[index] : NULL;
}

unsigned mk_worker_index(const struct mk_worker *w)
{
    return w->index;
}

struct mk_server *mk_worker_server(const struct mk_worker *w)
{
    return w->server;
}

uint64_t mk_worker_memory(const struct mk_worker *w)
{
    const struct mk_shared *shared = w->shared;

    return (uint64_t)atomic_load_explicit(&shared->max_memory, memory_order_relaxed) /
           shared->nworkers;
}

bool mk_worker_promise(struct mk_worker *w, int64_t bytes)
{
    if (bytes > 0 && w->promised + bytes > (int64_t)(mk_worker_memory(w) / PROMISED))
        return false;
    w->promised += bytes;
    return true;
}

void mk_worker_set_errand(struct mk_worker *w, const struct mk_errand *errand)
{
    atomic_store_explicit(&w->errand, errand, memory_order_release);
}

int64_t mk_worker_now_ms(const struct mk_worker *w)
{
    return w->loop.clock.mono_ms;
}

int64_t mk_worker_wall_s(const struct mk_worker *w)
{
    return w->loop.clock.wall_s;
}
