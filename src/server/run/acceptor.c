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

enum { STUCK = 1 << 20 }; /* connections: what weighs more than a worker whose callback returns */

static uint32_t load_of(struct mk_worker *w)
{
    uint32_t stuck = atomic_load_explicit(&w->is_stuck, memory_order_relaxed) ? STUCK : 0;

    /* What waits in the ring counts too: a burst must not all go to one worker. */
    return stuck + atomic_load_explicit(&w->counters.connections, memory_order_relaxed) +
           mk_handoff_count(mk_worker_thread_of(w)->handoff);
}

/* @return NULL: every ring is full. */
static struct mk_worker *least_loaded(const struct mk_acceptor *a)
{
    const struct mk_server *server = a->server;
    struct mk_worker *best = NULL;
    uint32_t best_load = UINT32_MAX;
    unsigned index = a->next;

    for (unsigned i = 0; i < server->shared.nworkers; i++) {
        struct mk_worker *w = server->shared.workers[index];
        uint32_t load = load_of(w);

        if (load < best_load && !mk_handoff_is_full(mk_worker_thread_of(w)->handoff)) {
            best = w;
            best_load = load;
        }
        index = index + 1 < server->shared.nworkers ? index + 1 : 0;
    }
    return best;
}

bool mk_acceptor_has_room(struct mk_acceptor *a)
{
    a->chosen = least_loaded(a);
    if (a->chosen)
        return true;
    atomic_store(&a->is_full, true);
    a->chosen = least_loaded(a); /* a worker that took some before it saw the mark tells nobody */
    return a->chosen;
}

void mk_acceptor_give(struct mk_acceptor *a, const struct mk_endpoint *endpoint, int fd,
                      const struct mk_peer *peer, bool busy)
{
    const struct mk_handoff_item item = {
        .endpoint = endpoint, .fd = fd, .peer = *peer, .busy = busy};

    (void)mk_handoff_put(mk_worker_thread_of(a->chosen)->handoff, &item);
    mk_loop_wake(&a->chosen->loop);
    a->next = a->next + 1 < a->server->shared.nworkers ? a->next + 1 : 0;
}

/* Not for each single place: the acceptor is to sleep meanwhile. */
void mk_acceptor_taken(struct mk_acceptor *a, const struct mk_handoff *ring)
{
    if (atomic_load(&a->is_full) && mk_handoff_count(ring) <= MK_LIMIT_HANDOFF_RING / 2)
        mk_loop_wake(&a->loop);
}

static void go_on(struct mk_acceptor *a)
{
    if (!atomic_load_explicit(&a->is_full, memory_order_relaxed) || !least_loaded(a))
        return;
    atomic_store(&a->is_full, false);
    mk_ports_resume(&a->ports);
}

static bool is_stopping(void *arg)
{
    struct mk_acceptor *a = arg;

    return atomic_load(&a->server->stop_at_ms) != INT64_MAX;
}

static void turn(struct mk_acceptor *a)
{
    mk_loop_turn(&a->loop, -1, is_stopping, a);
    go_on(a);
}

static void *acceptor_main(void *arg)
{
    struct mk_acceptor *a = arg;
    struct mk_server *server = a->server;
    void *stack = mk_thread_enter();

    while (!is_stopping(a) || atomic_load(&server->swapping))
        turn(a);
    mk_ports_close(&a->ports);
    mk_loop_turn(&a->loop, 0, NULL, NULL);
    atomic_store(&server->acceptor_ended, true);
    for (unsigned i = 0; i < server->shared.nworkers; i++)
        mk_loop_wake(&server->shared.workers[i]->loop);
    mk_server_thread_ended(server);
    mk_thread_leave(stack);
    return NULL;
}

int mk_acceptor_start(struct mk_acceptor *a)
{
    int err = mk_thread_start(&a->thread, "mk-accept", -1, acceptor_main, a);

    a->started = err == 0;
    return err;
}
