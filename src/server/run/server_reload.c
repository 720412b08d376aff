/* SPDX-License-Identifier: Apache-2.0 */
#include "base/code.h"
#include "base/heap.h"
#include "base/invariant.h"
#include "server/h1/budget.h"
#include "server/run/plugin_life.h"
#include "server/run/server_int.h"
#include "setup/host.h"

#include <monkey/events.h>

#include <semaphore.h>
#include <stdio.h>

/* One configuration takes the place of another while requests go on. */

/* One order to a worker or the acceptor, and who waits for it. */
struct order {
    struct mk_post post;
    struct mk_worker *worker; /* NULL: the acceptor */
    struct mk_server *server;
    struct mk_view *view;
    sem_t *done;
    int error; /* out, of prepare */
};

MK_AT_START static void prepare(struct mk_post *post)
{
    struct order *o = MK_CONTAINER_OF(post, struct order, post);

    o->error = mk_view_begin(o->view, o->worker);
    sem_post(o->done);
}

MK_AT_START static void drop_view(struct mk_post *post)
{
    struct order *o = MK_CONTAINER_OF(post, struct order, post);

    mk_view_put(o->view);
    sem_post(o->done);
}

MK_AT_START static void obey(struct mk_post *post)
{
    struct order *o = MK_CONTAINER_OF(post, struct order, post);
    struct mk_server *server = o->server;
    int err = 0;

    if (o->worker) {
        struct mk_view *old = o->worker->view;

        o->worker->view = o->view;
        mk_view_put(old);
        if (o->worker->index == 0)
            mk_worker_thread_tidy_soon(mk_worker_thread_of(o->worker));
    }
    if (!o->worker)
        err = mk_ports_update(&server->acceptor->ports, server, NULL, &server->acceptor->loop);
    else if (!server->acceptor && !o->worker->stopping)
        err = mk_ports_update(&mk_worker_thread_of(o->worker)->ports, server, o->worker,
                              &o->worker->loop);
    if (err < 0)
        mk_log(&server->shared.log, MK_LOG_ERROR, MK_LOG_LISTEN,
               "cannot watch all listening sockets: %s", mk_error_text(err));
    sem_post(o->done);
}

static void give_order(struct mk_server *server, struct order *o, struct mk_worker *w, sem_t *done,
                       void (*fn)(struct mk_post *post))
{
    o->post.fn = fn;
    o->worker = w;
    o->server = server;
    o->done = done;
    if (mk_shared_is_caller(&server->shared)) {
        mk_server_call_here(server, fn, &o->post);
        return;
    }
    mk_loop_post(w ? &w->loop : &server->acceptor->loop, &o->post);
}

static void wait_for(sem_t *done, unsigned count)
{
    while (count-- > 0)
        mk_sem_wait(done);
}

/*
 * Every worker carries it out on its own thread, and then, the last order, the acceptor: what it accepts at a new address
 * is for workers that know of it. All have when this returns.
 */
static void tell_all(struct mk_server *server, struct order *orders,
                     void (*fn)(struct mk_post *post))
{
    sem_t done;

    (void)sem_init(&done, 0, 0);
    for (unsigned i = 0; i < server->shared.nworkers; i++)
        give_order(server, &orders[i], server->shared.workers[i], &done, fn);
    wait_for(&done, server->shared.nworkers);
    if (fn == obey && server->acceptor) {
        give_order(server, &orders[server->shared.nworkers], NULL, &done, fn);
        wait_for(&done, 1);
    }
    (void)sem_destroy(&done);
}

static bool make_views(struct mk_server *server, struct mk_snapshot *snapshot, struct order *orders)
{
    for (unsigned i = 0; i < server->shared.nworkers; i++) {
        orders[i].view = mk_view_new(server->shared.workers[i], snapshot, !server->side);
        if (orders[i].view)
            continue;
        while (i-- > 0)
            mk_view_put(orders[i].view);
        return false;
    }
    return true;
}

static int prepare_all(struct mk_server *server, struct order *orders)
{
    int err = 0;

    tell_all(server, orders, prepare);
    for (unsigned i = 0; err == 0 && i < server->shared.nworkers; i++) {
        err = orders[i].error;
        if (err < 0)
            (void)snprintf(server->why, sizeof(server->why), "%s", server->shared.workers[i]->why);
    }
    return err;
}

static bool is_same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* The nth value of a key, as a file may have several such sections. */
static const char *nth_value(const struct mk_snapshot *s, const char *key, size_t nth)
{
    for (size_t i = 0; i < s->nrestart_values; i++) {
        if (strcmp(s->restart_values[i].key, key) == 0 && nth-- == 0)
            return s->restart_values[i].value;
    }
    return NULL;
}

static void note_restart_of_plugins(struct mk_server *server, const struct mk_snapshot *new)
{
    const char *key = "";
    size_t nth = 0;

    for (size_t i = 0; i < new->nrestart_values; i++) {
        const struct mk_restart_value *v = &new->restart_values[i];

        nth = strcmp(key, v->key) == 0 ? nth + 1 : 0;
        key = v->key;
        if (!is_same_text(nth_value(server->snapshot, key, nth), v->value))
            mk_log(&server->shared.log, MK_LOG_WARN, MK_LOG_SERVER,
                   "setting needs a restart key=\"%s\"", key);
    }
}

static void note_what_needs_restart(struct mk_server *server, const struct mk_snapshot *snapshot)
{
    const struct mk_server_settings *old = &server->snapshot->set, *new = &snapshot->set;
    const struct {
        const char *key;
        bool changed;
    } keys[] = {
        {"Workers", old->workers != new->workers},
        {"Scheduler", old->scheduler != new->scheduler},
        {"User", !is_same_text(old->user, new->user)},
        {"PidFile", !is_same_text(old->pid_file, new->pid_file)},
        {"FDLimit", old->fd_limit != new->fd_limit},
        {"SharedSockets", old->shared_sockets != new->shared_sockets},
        {"CPUAffinity", old->cpu_affinity.count != new->cpu_affinity.count},
        {"Load", snapshot->loads_differ},
    };

    for (size_t i = 0; i < MK_ARRAY_LEN(keys); i++) {
        if (keys[i].changed)
            mk_log(&server->shared.log, MK_LOG_WARN, MK_LOG_SERVER,
                   "setting needs a restart key=%s", keys[i].key);
    }
    note_restart_of_plugins(server, snapshot);
}

/* All that can fail; undone as a whole. The log comes last: the old one is closed when the new one is open. */
static int bring_up(struct mk_server *server, struct mk_snapshot *snapshot, struct order *orders)
{
    const struct mk_snapshot *old = server->snapshot;
    int err = mk_plugins_start(server, snapshot, old);

    if (err == 0)
        err = prepare_all(server, orders);
    if (err == 0)
        err = mk_listeners_open(server, &snapshot->set, server->why, sizeof(server->why));
    if (err == 0 && !is_same_text(old->set.error_log, snapshot->set.error_log)) {
        err = mk_server_open_log(server, snapshot->set.error_log);
        if (err < 0)
            mk_listeners_undo(server);
    }
    if (err == 0)
        return 0;
    tell_all(server, orders, drop_view);
    mk_plugins_stop(snapshot);
    return err;
}

static int swap(struct mk_server *server, struct mk_snapshot *snapshot)
{
    struct order *orders = mk_heap_zalloc(server->shared.nworkers + 1, sizeof(*orders));
    struct mk_snapshot *old = server->snapshot;
    int err = orders && make_views(server, snapshot, orders) ? 0 : MK_E_NOMEM;

    (void)snprintf(server->why, sizeof(server->why), "out of memory");
    if (err == 0)
        err = bring_up(server, snapshot, orders);
    if (err < 0) {
        mk_heap_free(orders);
        return err;
    }
    note_what_needs_restart(server, snapshot);
    mk_server_apply_limits(server, snapshot);
    mk_snapshot_get(snapshot);
    mk_server_adopt(server, snapshot);
    atomic_fetch_add(&server->reloads, 1);
    server->side = !server->side;
    tell_all(server, orders, obey);
    mk_listeners_settle(server);
    if (!mk_shared_has_room(&server->shared, 0)) /* with less MaxMemory than before */
        mk_budget_ask(&server->shared);
    mk_snapshot_put(old);
    mk_heap_free(orders);
    mk_log(&server->shared.log, MK_LOG_INFO, MK_LOG_SERVER, "configuration reloaded sites=%zu",
           snapshot->nsites);
    return 0;
}

/* Workers that stop would not be there to obey: one that has seen `swapping` stays until this is over. */
int mk_server_swap(struct mk_server *server, struct mk_snapshot *snapshot)
{
    int err = mk_server_refuse_inside(server);

    if (err < 0)
        return err;
    atomic_store(&server->swapping, true);
    if (server->started && atomic_load(&server->stop_at_ms) == INT64_MAX)
        err = swap(server, snapshot);
    else
        err = mk_server_refuse(server, "a server that does not run cannot be reloaded");
    atomic_store(&server->swapping, false);
    mk_server_wake(server);
    return err;
}

int mk_server_ask_reload(struct mk_server *server)
{
    const struct mk_host *host = server->shared.host;

    if (!MK_HOST_HAS(host, reload))
        return MK_E_UNSUPPORTED;
    return host->reload(host->arg);
}
