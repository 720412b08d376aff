/* SPDX-License-Identifier: Apache-2.0 */
#include "server/run/sentry.h"

#include "core/thread.h"
#include "server/run/server_int.h"

#include <poll.h>

enum {
    TICK_MS = 100,
    /* In the same turn, of which the first may begin at any time within one: half a second, as long as a service's callback may take. */
    STUCK_TICKS = 6,
    QUIET_TICKS = 10, /* in which all workers sleep, before the sentry does */
    TEXT = 768,
};

/* ---- a worker that is blocked ---- */

/* Ports are accepted on by others, or no longer. */
static void set_stuck(struct mk_server *server, struct mk_worker *w, bool is_stuck)
{
    atomic_store_explicit(&w->is_stuck, is_stuck, memory_order_relaxed);
    for (unsigned i = 0; i < server->shared.nworkers; i++)
        mk_ask(server->shared.workers[i], &mk_server_thread(server, i)->lend);
}

/* What it was called for lasts as long as the call, which has lasted for long. */
static void begin_stuck(struct mk_server *server, struct mk_worker *w)
{
    const char *hook;
    const struct mk_plugin *plugin = mk_worker_doing(w, &hook);
    const struct mk_errand *errand = atomic_load_explicit(&w->errand, memory_order_acquire);
    char text[TEXT];

    text[0] = '\0';
    set_stuck(server, w, true);
    if (errand)
        errand->describe(errand, text, sizeof(text));
    mk_log(&server->shared.log, MK_LOG_WARN, MK_LOG_WORKER,
           "callback blocks worker=%u plugin=%s hook=%s%s", w->index, plugin ? plugin->name : "",
           plugin ? hook : "", text);
}

/* @return whether it sleeps. */
static bool look_at(struct mk_server *server, struct mk_worker_thread *t)
{
    struct mk_worker *w = &t->worker;
    uint64_t turns = atomic_load_explicit(&w->counters.turns, memory_order_relaxed);
    bool sleeps = atomic_load_explicit(&w->loop.sleeping, memory_order_relaxed) ||
                  !atomic_load_explicit(&server->gate.is_open, memory_order_relaxed);

    if (!sleeps && turns == t->turns) {
        if (++t->ticks == STUCK_TICKS)
            begin_stuck(server, w);
        return false;
    }
    if (t->ticks >= STUCK_TICKS)
        set_stuck(server, w, false);
    t->turns = turns;
    t->ticks = 0;
    return sleeps;
}

/* ---- its thread ---- */

static void wake(struct mk_lookout *lookout)
{
    atomic_store_explicit(&lookout->asleep, false, memory_order_relaxed);
    (void)sem_post(&MK_CONTAINER_OF(lookout, struct mk_sentry, lookout)->called);
}

/*
 * Between saying that it sleeps and sleeping it looks once more: a worker that wakes up meanwhile has seen it, or is seen.
 */
static void *sentry_main(void *arg)
{
    struct mk_server *server = arg;
    unsigned quiet = 0; /* ticks in which all workers slept */

    while (atomic_load_explicit(&server->stop_at_ms, memory_order_relaxed) == INT64_MAX) {
        unsigned sleeping = 0;

        for (unsigned i = 0; i < server->shared.nworkers; i++)
            sleeping += look_at(server, mk_server_thread(server, i));
        if (sleeping < server->shared.nworkers)
            quiet = 0;
        if (quiet > QUIET_TICKS) {
            mk_sem_wait(&server->sentry.called);
            quiet = 0;
        }
        atomic_store_explicit(&server->sentry.lookout.asleep, quiet++ == QUIET_TICKS,
                              memory_order_relaxed);
        (void)poll(NULL, 0, TICK_MS);
    }
    return NULL;
}

void mk_sentry_start(struct mk_server *server)
{
    struct mk_sentry *s = &server->sentry;

    s->lookout.wake = wake;
    (void)sem_init(&s->called, 0, 0);
    s->started = mk_thread_start(&s->thread, "mk-sentry", -1, sentry_main, server) == 0;
}

void mk_sentry_join(struct mk_server *server)
{
    if (!server->sentry.started)
        return;
    (void)sem_post(&server->sentry.called); /* workers that never ran wake nobody */
    pthread_join(server->sentry.thread, NULL);
}
