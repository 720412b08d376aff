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
enum mk_ask_state { MK_ASK_NOT_YET, MK_ASK_OPEN, MK_ASK_OVER };

/** Under its lock requests are posted, so that none comes after the last turn of a worker. */
struct mk_asks {
    pthread_mutex_t lock;
    enum mk_ask_state state;
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
    _Atomic int64_t max_memory;      /* of all workers' connections and requests from memory */
    _Atomic uint64_t asked;          /* bytes that requests from memory hold */
    _Atomic int64_t max_body_size;   /* of requests from memory, before they are copied */
    struct mk_asks asks;
    size_t files_per_worker;
    bool openat2;
    bool is_callers;  /* the one worker turns in a loop of the program */
    pthread_t caller; /* on this thread */
};

/** Of a server, which begins with it. */
static inline struct mk_shared *mk_shared_of(struct mk_server *server)
{
    return (struct mk_shared *)server;
}

/** Is the calling thread the one of the program in whose loop the worker turns? */
static inline bool mk_shared_is_caller(const struct mk_shared *shared)
{
    return shared->is_callers && pthread_equal(shared->caller, pthread_self());
}

/** Workers take requests from memory from now on, or no more. Any thread. */
void mk_shared_set_asks(struct mk_shared *shared, enum mk_ask_state state);

/** Has MaxMemory room for so many bytes more? Any thread. */
bool mk_shared_has_room(const struct mk_shared *shared, uint64_t bytes);

/** An accepted connection is gone, or was never made. Any thread. */
void mk_shared_connection_ended(struct mk_shared *shared, const struct mk_peer *peer);

#endif
