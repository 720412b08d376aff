/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_WORKER_SHARED_H
#define MK_SERVER_WORKER_SHARED_H

#include "core/log.h"
#include "core/offload.h"
#include "server/worker/per_address.h"

#include <monkey/events.h>
#include <monkey/server.h>

#include <pthread.h>

struct mk_extension;
struct mk_worker;

/** May the server be asked (<monkey/ask.h>)? */
enum mk_asking_state { MK_ASKING_NOT_YET, MK_ASKING_OPEN, MK_ASKING_OVER };

/** Under its lock requests are posted, so that none comes after the last turn of a worker. */
struct mk_asking {
    pthread_mutex_t lock;
    enum mk_asking_state state;
    unsigned next; /* the worker of the next request, modulo their number */
};

/**
 * What the workers of a server share. Each member is an atomic, has a lock of its own, or is written before the
 * workers' threads start.
 */
struct mk_shared {
    struct mk_log log;
    const struct mk_host *host; /* borrowed; never NULL */
    struct mk_worker **workers;
    unsigned nworkers;
    struct mk_per_address per_address;
    struct mk_offload_pool offload[MK_WORK_KINDS];
    struct mk_extension *_Atomic extensions;
    _Atomic int64_t connections;
    _Atomic int64_t max_connections; /* from the settings or the descriptor limit */
    _Atomic int64_t max_memory;      /* of all workers' budgets */
    _Atomic int64_t max_body_size;   /* of requests from memory, before they are copied */
    struct mk_asking asking;
    size_t files_per_worker;
    bool openat2;
};

/** Of a server, which begins with it. */
static inline struct mk_shared *mk_shared_of(struct mk_server *server)
{
    return (struct mk_shared *)server;
}

/** Workers take requests from memory from now on, or no more. Any thread. */
void mk_shared_set_asking(struct mk_shared *shared, enum mk_asking_state state);

/** An accepted connection is gone, or was never made. Any thread. */
void mk_shared_connection_ended(struct mk_shared *shared, const struct mk_peer *peer);

#endif
