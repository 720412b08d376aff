/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_RUN_SERVER_INT_H
#define MK_SERVER_RUN_SERVER_INT_H

#include "server/run/acceptor.h"
#include "server/run/sentry.h"
#include "server/worker/shared.h"
#include "server/run/server.h"
#include "server/run/worker_thread.h"

#include <semaphore.h>

/** What the last reload found, line by line. Any thread may read it. */
struct mk_reload_report {
    pthread_mutex_t lock;
    char *text; /* NULL: nothing */
    size_t len;
};

/** A server: its workers, what they share, and its listeners. */
struct mk_server {
    struct mk_shared shared;      /* first: mk_shared_of */
    struct mk_snapshot *snapshot; /* the current one; control thread only */
    struct mk_listener *listeners;
    int64_t made_s, made_ms; /* wall and monotonic time of its making */
    atomic_uint snapshots;   /* in use: the current one, and those that old requests still need */
    _Atomic uint64_t reloads, reloads_failed;
    struct mk_reload_report reload_report;
    bool side; /* of the listeners' transports, the one in force; control thread only */
    struct mk_acceptor *acceptor; /* Fair with several workers; NULL otherwise */
    struct mk_sentry sentry;
    _Atomic int over_capacity;
    atomic_uint waiting_ports; /* with clients that are left to wait for room */
    _Atomic int64_t
        stop_at_ms;           /* INT64_MAX: running. Monotonic time at which what is open is cut */
    _Atomic unsigned running; /* threads not ended */
    atomic_bool acceptor_ended;
    int done_fd; /* readable when running falls to 0 */
    bool started, has_stopped;
    atomic_bool swapping; /* a configuration is put in force: workers obey before they end */
    struct mk_gate {
        sem_t prepared, go;  /* posted by each worker; by the control thread for each */
        atomic_bool is_open; /* read behind go */
    } gate;
    struct mk_plugin_facts *plugins; /* they stay the same as long as the server lives */
    size_t nplugins;
    struct mk_arena plugin_names; /* what they point to */
    char plugin_why[MK_PLUGIN_WHY];
    char why[512];
};

static inline struct mk_worker_thread *mk_server_thread(const struct mk_server *server,
                                                        unsigned index)
{
    return mk_worker_thread_of(server->shared.workers[index]);
}

/** Make a snapshot, whose reference it gets, the current one. */
void mk_server_adopt(struct mk_server *server, struct mk_snapshot *snapshot);

void mk_reload_report_init(struct mk_reload_report *report);
void mk_reload_report_fini(struct mk_reload_report *report);
/** The error log is open: it gets the warnings of the first configuration, unless it is stderr, where programs print them. */
void mk_start_report_log(struct mk_server *server);

/** Let all its threads look at what changed. */
void mk_server_wake(struct mk_server *server);

/** A thread of the server ends; the last one makes done_fd readable. */
void mk_server_thread_ended(struct mk_server *server);

/** Let the only worker begin on the calling thread. @return 0 or a plugin's error: the worker's why. */
int mk_server_begin_here(struct mk_server *server) MK_MUST_USE;
/** On the thread in whose loop the worker turns, between two turns: call fn(post) as the worker would. */
void mk_server_call_here(struct mk_server *server, void (*fn)(struct mk_post *post),
                         struct mk_post *post);
/** Turn the worker on this thread until it has ended. @return 0, or MK_E_TIMEOUT. */
int mk_server_turn_to_end(struct mk_server *server, int timeout_ms) MK_MUST_USE;

/** Log a wrong call, with the sentence as server->why. @return MK_E_INVALID. */
int mk_server_refuse(struct mk_server *server, const char *why);
/** @return 0, or MK_E_INVALID on a thread of the server's workers, which would wait for itself: refused. */
int mk_server_refuse_inside(struct mk_server *server);

/** Wait, whatever signals arrive. */
void mk_sem_wait(sem_t *sem);

/** Open the log that the settings name and log there from now on. @return 0 or an error; server->why. */
int mk_server_open_log(struct mk_server *server, const char *target) MK_MUST_USE;

/** Divide the process's descriptors: how many files a worker keeps open. */
void mk_server_share_descriptors(struct mk_server *server);
/** Put the limits and log levels of these settings in force. */
void mk_server_apply_limits(struct mk_server *server, const struct mk_snapshot *snapshot);

#endif
