/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_CORE_OFFLOAD_H
#define MK_CORE_OFFLOAD_H

#include "base/code.h"

#include <monkey/types.h>

#include <pthread.h>
#include <stdbool.h>

/*
 * A few threads of low priority for work that blocks. They start when they are first needed, and a bounded queue waits
 * for them. A server has one pool for each kind of work, so that a crowd of one kind keeps nobody waiting who needs another.
 */

enum { MK_OFFLOAD_THREADS = 2, MK_OFFLOAD_THREADS_MAX = 8 };

/** The owner's memory until finish is called, then finish's. */
struct mk_offload_job {
    struct mk_offload_job *next;
    void (*work)(struct mk_offload_job *job);
    void (*finish)(
        struct mk_offload_job
            *job); /* once, behind work on its thread, or in its place: mk_offload_pool_end */
    void *arg;     /* for both, and for mk_offload_pool_drop */
};

struct mk_offload_pool {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct mk_offload_job *first, **last; /* under lock, as all below */
    const char *name;                     /* of its threads; static */
    unsigned queued, idle, nthreads;
    unsigned most, room; /* threads at most, and jobs that wait for them */
    bool ending;
    pthread_t threads[MK_OFFLOAD_THREADS_MAX];
};

/**
 * Starts nothing and cannot fail.
 * @param name  of its threads, at most 10 bytes; static
 * @param most  of its threads, 1 to MK_OFFLOAD_THREADS_MAX
 * @param room  jobs that may wait
 */
void mk_offload_pool_init(struct mk_offload_pool *pool, const char *name, unsigned most,
                          unsigned room);

/**
 * Have a job done. Any thread.
 * @return 0; MK_E_BUSY: the queue is full or the pool has ended; MK_E_NOMEM: no thread could be started.
 *         On error neither of the job's functions is called.
 */
MK_INSIDE int mk_offload_pool_add(struct mk_offload_pool *pool,
                                  struct mk_offload_job *job) MK_MUST_USE;

/**
 * Take back a job that waits, so that another has its place. Any thread.
 * @param arg  of the job
 * @return it, whose functions are not called; NULL: no job with this arg waits.
 */
struct mk_offload_job *mk_offload_pool_drop(struct mk_offload_pool *pool,
                                            const void *arg) MK_MUST_USE;

/** Finish the jobs that still wait, without working them, and wait for those that run. Twice is once. */
void mk_offload_pool_end(struct mk_offload_pool *pool);
/** After mk_offload_pool_end. */
void mk_offload_pool_fini(struct mk_offload_pool *pool);

#endif
