/* SPDX-License-Identifier: Apache-2.0 */
#include "server/run/server.h"

#include "base/code.h"
#include "base/heap.h"
#include "core/fd.h"
#include "core/thread.h"
#include "server/run/plugin_life.h"
#include "server/events/offload.h"
#include "server/run/server_int.h"
#include "server/worker/extension.h"
#include "setup/host.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static const struct mk_host plain_host = {.size = sizeof(struct mk_host)};

void mk_sem_wait(sem_t *sem)
{
    while (sem_wait(sem) < 0 && errno == EINTR)
        ;
}

MK_AT_START void mk_server_thread_ended(struct mk_server *server)
{
    uint64_t one = 1;

    if (atomic_fetch_sub(&server->running, 1) == 1)
        (void)!write(server->done_fd, &one, sizeof(one));
}

/* ---- making and ending ---- */

/* Mapped, not from the heap: most of a worker is a buffer whose pages cost nothing until they are used. */
enum { WORKER_MAP = 128 << 10 };

_Static_assert(sizeof(struct mk_worker_thread) <= WORKER_MAP, "a worker fits its mapping");

static struct mk_worker *new_worker(struct mk_server *server, unsigned index)
{
    struct mk_worker_thread *t = mk_heap_map(WORKER_MAP);

    if (!t)
        return NULL;
    if (mk_worker_thread_init(t, server, index) < 0) {
        mk_heap_unmap(t, WORKER_MAP);
        return NULL;
    }
    return &t->worker;
}

static int add_workers(struct mk_server *server)
{
    unsigned wanted = server->shared.nworkers;
    bool fair = server->snapshot->set.scheduler == MK_SCHEDULER_FAIR && wanted > 1;

    server->shared.workers = mk_heap_zalloc(wanted, sizeof(struct mk_worker *));
    if (!server->shared.workers)
        return MK_E_NOMEM;
    for (unsigned i = 0; i < wanted; i++) {
        server->shared.workers[i] = new_worker(server, i);
        if (!server->shared.workers[i])
            return MK_E_NOMEM;
        if (fair &&
            !(mk_server_thread(server, i)->handoff = mk_heap_zalloc(1, sizeof(struct mk_handoff))))
            return MK_E_NOMEM;
    }
    if (!fair)
        return 0;
    server->acceptor = mk_heap_zalloc(1, sizeof(*server->acceptor));
    if (server->acceptor && mk_acceptor_init(server->acceptor, server) < 0) {
        mk_heap_free(server->acceptor);
        server->acceptor = NULL;
    }
    return server->acceptor ? 0 : MK_E_NOMEM;
}

static void note_making(struct mk_server *server)
{
    struct mk_clock clock = {0};

    mk_clock_update(&clock);
    server->made_s = clock.wall_s;
    server->made_ms = clock.mono_ms;
}

void mk_server_adopt(struct mk_server *server, struct mk_snapshot *snapshot)
{
    server->snapshot = snapshot;
    snapshot->alive = &server->snapshots;
    atomic_fetch_add(&server->snapshots, 1);
}

struct mk_server *mk_server_create(struct mk_snapshot *snapshot, const struct mk_host *host)
{
    struct mk_server *server = mk_heap_zalloc(1, sizeof(*server));

    if (!server)
        return NULL;
    mk_log_init(&server->shared.log);
    mk_offload_init(&server->shared, (unsigned)snapshot->set.handler_threads);
    pthread_mutex_init(&server->shared.asks.lock, NULL);
    mk_reload_report_init(&server->reload_report);
    server->shared.host = host ? host : &plain_host;
    if (MK_HOST_HAS(host, log)) {
        server->shared.log.take = host->log;
        server->shared.log.take_arg = host->arg;
    }
    server->shared.nworkers =
        snapshot->set.workers ? (unsigned)snapshot->set.workers : mk_thread_cpus();
    if (server->shared.nworkers > MK_LIMIT_WORKERS)
        server->shared.nworkers = MK_LIMIT_WORKERS;
    server->shared.openat2 = mk_file_has_openat2();
    atomic_init(&server->stop_at_ms, INT64_MAX);
    (void)sem_init(&server->gate.prepared, 0, 0);
    (void)sem_init(&server->gate.go, 0, 0);
    mk_arena_init(&server->plugin_names, NULL, 0, SIZE_MAX);
    mk_per_address_init(&server->shared.per_address, snapshot->set.max_connections_per_ip);
    mk_server_share_descriptors(server);
    mk_server_apply_limits(server, snapshot);
    note_making(server);
    mk_snapshot_get(snapshot);
    mk_server_adopt(server, snapshot);
    server->done_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (server->done_fd >= 0 && mk_plugins_keep_facts(server) == 0 && add_workers(server) == 0)
        return server;
    mk_server_free(server);
    return NULL;
}

static void each_worker(struct mk_server *server, void (*fn)(struct mk_worker_thread *t))
{
    for (unsigned i = 0;
         server->shared.workers && i < server->shared.nworkers && server->shared.workers[i]; i++)
        fn(mk_server_thread(server, i));
}

/* What was posted to workers that have ended; such calls may post to any other of them. */
static void drain(struct mk_server *server)
{
    bool any = true;

    while (any) {
        any = false;
        for (unsigned i = 0;
             server->shared.workers && i < server->shared.nworkers && server->shared.workers[i];
             i++)
            any = mk_loop_drain(&server->shared.workers[i]->loop) || any;
    }
}

MK_AT_START static void free_worker(struct mk_worker_thread *t)
{
    mk_worker_thread_fini(t);
    mk_heap_unmap(t, WORKER_MAP);
}

MK_AT_START void mk_server_free(struct mk_server *server)
{
    if (!server || mk_server_refuse_inside(server) < 0)
        return;
    if (server->started) {
        server->shared.caller =
            pthread_self(); /* if it turns on a thread of the program, then on this one */
        mk_server_stop(server, 0);
        (void)!mk_server_wait(server, -1);
    }
    mk_sentry_join(server);
    if (server->acceptor)
        mk_acceptor_fini(server->acceptor);
    each_worker(server, mk_worker_thread_join);
    mk_offload_end(&server->shared);
    mk_extensions_end(&server->shared);
    drain(server);
    each_worker(server, mk_worker_thread_leave);
    server->snapshot->alive = NULL;    /* it may outlive us in the hands of who made it */
    mk_snapshot_put(server->snapshot); /* plugins stop while there still are workers to post to */
    drain(server);
    each_worker(server, free_worker);
    mk_heap_free(server->acceptor);
    mk_heap_free(server->shared.workers);
    mk_listeners_free(server);
    mk_extensions_free(&server->shared);
    mk_reload_report_fini(&server->reload_report);
    mk_offload_fini(&server->shared);
    mk_per_address_fini(&server->shared.per_address);
    pthread_mutex_destroy(&server->shared.asks.lock);
    mk_fd_close(&server->done_fd);
    mk_arena_fini(&server->plugin_names);
    mk_log_fini(&server->shared.log);
    mk_heap_free(server);
}

MK_AT_START const char *mk_server_why(const struct mk_server *server)
{
    return server && server->why[0] ? server->why : "no reason known";
}

MK_AT_START int mk_server_listen(struct mk_server *server)
{
    int err;

    if (!server)
        return MK_E_INVALID;
    if (server->started)
        return mk_server_refuse(server, "the server was started before");
    err = mk_server_open_log(server, server->snapshot->set.error_log);
    if (err == 0) {
        mk_start_report_log(server);
        err = mk_listeners_open(server, &server->snapshot->set, server->why, sizeof(server->why));
    }
    if (err < 0)
        mk_log(&server->shared.log, MK_LOG_ERROR, MK_LOG_SERVER, "%s", server->why);
    return err;
}

/* ---- stopping ---- */

void mk_server_wake(struct mk_server *server)
{
    for (unsigned i = 0; i < server->shared.nworkers; i++)
        mk_loop_wake(&server->shared.workers[i]->loop);
    if (server->acceptor)
        mk_loop_wake(&server->acceptor->loop);
}

MK_AT_START void mk_server_stop(struct mk_server *server, unsigned grace_ms)
{
    mk_server_stop_because(server, grace_ms, "the program asked for it");
}

MK_AT_START void mk_server_stop_because(struct mk_server *server, unsigned grace_ms,
                                        const char *why)
{
    struct mk_clock clock = {0};
    int64_t stop_at_ms;

    if (!server || !server->started)
        return;
    mk_shared_set_asks(&server->shared, MK_ASK_OVER);
    mk_clock_update(&clock);
    stop_at_ms = clock.mono_ms + grace_ms;
    if (stop_at_ms < atomic_load(&server->stop_at_ms)) {
        atomic_store(&server->stop_at_ms, stop_at_ms);
        if (!server->has_stopped)
            mk_log(&server->shared.log, MK_LOG_INFO, MK_LOG_SERVER,
                   "stopping reason=\"%s\" grace_ms=%u", why, grace_ms);
    }
    mk_server_wake(server);
}

MK_AT_START int mk_server_wait(struct mk_server *server, int timeout_ms)
{
    struct pollfd p = {.events = POLLIN};

    if (!server || mk_server_refuse_inside(server) < 0)
        return MK_E_INVALID;
    if (!server->started)
        return 0;
    if (mk_shared_is_caller(&server->shared) && mk_server_turn_to_end(server, timeout_ms) < 0)
        return MK_E_TIMEOUT;
    p.fd = server->done_fd;
    while (poll(&p, 1, timeout_ms) < 0) {
        if (errno != EINTR)
            return MK_E_SYS;
    }
    if (!p.revents)
        return MK_E_TIMEOUT;
    if (!server->has_stopped)
        mk_log(&server->shared.log, MK_LOG_INFO, MK_LOG_SERVER, "stopped");
    server->has_stopped = true;
    return 0;
}

const struct mk_snapshot *mk_server_snapshot(const struct mk_server *server)
{
    return server->snapshot;
}

int mk_server_fd(const struct mk_server *server)
{
    return server ? server->done_fd : MK_E_INVALID;
}

/* ---- facts ---- */

MK_AT_START void mk_server_addresses(const struct mk_server *server, mk_text_fn fn, void *arg)
{
    for (const struct mk_listener *l = server ? server->listeners : NULL; l; l = l->next) {
        if (l->open)
            fn(arg, l->endpoint.text, strlen(l->endpoint.text));
    }
}

MK_AT_START unsigned mk_server_port(const struct mk_server *server, unsigned index)
{
    for (const struct mk_listener *l = server ? server->listeners : NULL; l; l = l->next) {
        if (l->open && index-- == 0)
            return mk_addr_port(&l->addr);
    }
    return 0;
}

unsigned mk_server_workers(const struct mk_server *server)
{
    return server ? server->shared.nworkers : 0;
}

MK_AT_START int mk_server_stats(const struct mk_server *server, unsigned worker,
                                struct mk_worker_stats *stats)
{
    const struct mk_counters *c;
    struct mk_worker_stats all;
    size_t size;

    if (!stats || worker >= mk_server_workers(server))
        return MK_E_INVALID;
    size = stats->size; /* an older caller has fewer members */
    c = &server->shared.workers[worker]->counters;
    all = (struct mk_worker_stats){
        .size = size,
        .accepted = atomic_load(&c->accepted),
        .requests = atomic_load(&c->requests),
        .bytes_in = atomic_load(&c->bytes_in),
        .bytes_out = atomic_load(&c->bytes_out),
        .refused = atomic_load(&c->refused),
        .turns = atomic_load(&c->turns),
        .connections = atomic_load(&c->connections),
    };
    memcpy(stats, &all, size < sizeof(all) ? size : sizeof(all));
    return 0;
}
