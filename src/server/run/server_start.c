/* SPDX-License-Identifier: Apache-2.0 */
#include "base/code.h"
#include "base/str.h"
#include "core/thread.h"
#include "server/run/plugin_life.h"
#include "server/run/server_int.h"
#include "setup/reach.h"

#include <stdio.h>

/* The workers of a server start: all of them, or none. */

static int cpu_of(const struct mk_server_settings *set, unsigned index)
{
    uint64_t cpu;

    if (set->cpu_affinity.count == 0 ||
        mk_str_to_u64(set->cpu_affinity.items[index % set->cpu_affinity.count], 1023, &cpu) < 0)
        return -1;
    return (int)cpu;
}

/* Before the threads run: a reload may change the listeners as soon as they do. */
static int open_ports(struct mk_server *server)
{
    struct mk_acceptor *a = server->acceptor;
    int err = a ? mk_ports_update(&a->ports, server, NULL, &a->loop) : 0;

    for (unsigned i = 0; !a && err == 0 && i < server->shared.nworkers; i++)
        err = mk_ports_update(&mk_server_thread(server, i)->ports, server,
                              server->shared.workers[i], &server->shared.workers[i]->loop);
    if (err < 0)
        (void)snprintf(server->why, sizeof(server->why), "cannot watch all listening sockets: %s",
                       mk_error_text(err));
    return err;
}

static int thread_failed(struct mk_server *server, int err)
{
    (void)snprintf(server->why, sizeof(server->why), "cannot start a thread: %s",
                   mk_error_text(err));
    return err;
}

/* Wait until so many workers are prepared; let all of them serve, or none. */
static int open_gate(struct mk_server *server, unsigned count, int err)
{
    for (unsigned i = 0; i < count; i++)
        mk_sem_wait(&server->gate.prepared);
    for (unsigned i = 0; err == 0 && i < count; i++) {
        err = mk_server_thread(server, i)->begin_error;
        if (err < 0)
            (void)snprintf(server->why, sizeof(server->why), "%s", server->shared.workers[i]->why);
    }
    atomic_store(&server->gate.is_open, err == 0);
    if (err == 0)
        mk_shared_set_asks(&server->shared, MK_ASK_OPEN);
    for (unsigned i = 0; i < count; i++)
        sem_post(&server->gate.go);
    return err;
}

static int start_workers(struct mk_server *server)
{
    unsigned count = 0;
    int err = 0;

    while (err == 0 && count < server->shared.nworkers) {
        err = mk_worker_thread_start(mk_server_thread(server, count),
                                     cpu_of(&server->snapshot->set, count));
        if (err < 0)
            (void)thread_failed(server, err);
        else
            count++;
    }
    return open_gate(server, count, err);
}

MK_AT_START static int start_threads(struct mk_server *server)
{
    int err;

    atomic_store(&server->running, server->shared.nworkers + (server->acceptor ? 1 : 0));
    atomic_store(&server->acceptor_ended, server->acceptor == NULL);
    if (server->nplugins > 1) /* beside liana, whose calls do not block */
        mk_sentry_start(server);
    err = start_workers(server);
    if (err < 0 || !server->acceptor)
        return err;
    err = mk_acceptor_start(server->acceptor);
    return err < 0 ? thread_failed(server, err) : 0;
}

/* Threads that could not be started count as ended, so that waiting for the others comes to an end. */
static void count_unstarted(struct mk_server *server)
{
    for (unsigned i = 0; i < server->shared.nworkers; i++) {
        if (!mk_server_thread(server, i)->started)
            mk_server_thread_ended(server);
    }
    if (server->acceptor && !server->acceptor->started) {
        atomic_store(&server->acceptor_ended, true);
        mk_server_thread_ended(server);
    }
}

static void log_unreachable(void *arg, const char *text, size_t len)
{
    struct mk_server *server = arg;

    mk_log(&server->shared.log, MK_LOG_ERROR, MK_LOG_CONF, "%.*s", (int)len - 1, text);
}

/* @param run  lets the workers begin @return 0, or an error: nothing runs. */
static int start(struct mk_server *server, int (*run)(struct mk_server *server))
{
    int err;

    if (server->started)
        return mk_server_refuse(server, "the server was started before");
    err = open_ports(server);
    if (err == 0)
        err = mk_plugins_start(server, server->snapshot, NULL);
    if (err < 0) {
        mk_log(&server->shared.log, MK_LOG_ERROR, MK_LOG_SERVER, "%s", server->why);
        return err;
    }
    server->started = true;
    err = run(server);
    if (err == 0) {
        mk_snapshot_unreachable(server->snapshot, log_unreachable, server);
        mk_log(&server->shared.log, MK_LOG_INFO, MK_LOG_SERVER, "started workers=%u scheduler=%s",
               server->shared.nworkers, server->acceptor ? "Fair" : "ReusePort");
        return 0;
    }
    mk_log(&server->shared.log, MK_LOG_ERROR, MK_LOG_SERVER, "%s", server->why);
    count_unstarted(server);
    mk_server_stop(server, 0);
    (void)!mk_server_wait(server, -1);
    return err;
}

MK_AT_START int mk_server_start(struct mk_server *server)
{
    if (!server)
        return MK_E_INVALID;
    return start(server, start_threads);
}

MK_AT_START static int start_on_caller(struct mk_server *server)
{
    int err = mk_server_begin_here(server);

    if (err < 0)
        (void)snprintf(server->why, sizeof(server->why), "%s", server->shared.workers[0]->why);
    else
        mk_shared_set_asks(&server->shared, MK_ASK_OPEN);
    return err;
}

MK_AT_START int mk_server_start_here(struct mk_server *server)
{
    if (!server)
        return MK_E_INVALID;
    if (server->shared.nworkers == 1)
        return start(server, start_on_caller);
    return mk_server_refuse(server,
                            "a server in a loop of the program has one worker: set Workers 1");
}
