/* SPDX-License-Identifier: Apache-2.0 */
#include "server/run/acceptor.h"

#include "core/thread.h"
#include "server/run/server_int.h"

int mk_acceptor_init(struct mk_acceptor *a, struct mk_server *server)
{
    a->server = server;
    mk_ports_init(&a->ports);
    return mk_loop_init(&a->loop);
}

void mk_acceptor_fini(struct mk_acceptor *a)
{
    if (a->started)
        pthread_join(a->thread, NULL);
    mk_ports_free(&a->ports);
    mk_loop_fini(&a->loop);
}

static uint32_t load_of(struct mk_worker *w)
{
    /* What waits in the ring counts too: a burst must not all go to one worker. */
    return atomic_load_explicit(&w->counters.connections, memory_order_relaxed) +
           mk_handoff_count(mk_worker_thread_of(w)->handoff);
}

static struct mk_worker *least_loaded(struct mk_acceptor *a)
{
    struct mk_server *server = a->server;
    struct mk_worker *best = NULL;
    uint32_t best_load = UINT32_MAX;
    unsigned index = a->next;

    for (unsigned i = 0; i < server->shared.nworkers; i++) {
        struct mk_worker *w = server->shared.workers[index];
        uint32_t load = load_of(w);

        if (load < best_load) {
            best = w;
            best_load = load;
        }
        index = index + 1 < server->shared.nworkers ? index + 1 : 0;
    }
    a->next = a->next + 1 < server->shared.nworkers ? a->next + 1 : 0;
    return best;
}

bool mk_acceptor_give(struct mk_acceptor *a, const struct mk_endpoint *endpoint, int fd,
                      const struct mk_peer *peer, bool busy)
{
    const struct mk_handoff_item item = {
        .endpoint = endpoint, .fd = fd, .peer = *peer, .busy = busy};
    struct mk_worker *w = least_loaded(a);

    if (!mk_handoff_put(mk_worker_thread_of(w)->handoff, &item))
        return false;
    mk_loop_wake(&w->loop);
    return true;
}

static bool is_stopping(void *arg)
{
    struct mk_acceptor *a = arg;

    return atomic_load(&a->server->stop_at_ms) != INT64_MAX;
}

static void *acceptor_main(void *arg)
{
    struct mk_acceptor *a = arg;
    struct mk_server *server = a->server;

    while (!is_stopping(a))
        mk_loop_turn(&a->loop, -1, is_stopping, a);
    mk_ports_close(&a->ports);
    mk_loop_turn(&a->loop, 0, NULL, NULL);
    atomic_store(&server->acceptor_ended, true);
    for (unsigned i = 0; i < server->shared.nworkers; i++)
        mk_loop_wake(&server->shared.workers[i]->loop);
    mk_server_thread_ended(server);
    return NULL;
}

int mk_acceptor_start(struct mk_acceptor *a)
{
    int err = mk_thread_start(&a->thread, "mk-accept", -1, acceptor_main, a);

    a->started = err == 0;
    return err;
}
