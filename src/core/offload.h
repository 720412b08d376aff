/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_CORE_OFFLOAD_H
#define MK_CORE_OFFLOAD_H

#include "base/code.h"
#include "base/list.h"

#include <monkey/types.h>

#include <pthread.h>
#include <stdbool.h>

/*
 * A few threads of low priority for work that blocks. They start when they are first needed, and a bounded queue waits
 * for them. A server has one pool for each kind of work, so that a crowd of one kind keeps nobody waiting who needs another.
 * Within a pool, jobs wait in lanes, which take turns: the first of each, in the order in which they were served last.
 */

enum { MK_OFFLOAD_THREADS = 2 };

/** The owner's memory until finish is called, then finish's. Zeroed but for what is the owner's. */
struct mk_offload_job {
    struct mk_list node;           /* the pool's, of its lane; in no list while it does not wait */
    struct mk_offload_lane *place; /* the pool's */
    const void *lane;              /* which of the pool's: any address; NULL: that of all others */
    unsigned most; /* of this lane that work at a time; 0: as many as of each lane */
    void (*work)(struct mk_offload_job *job);
    void (*finish)(
        struct mk_offload_job
            *job); /* once, behind work on its thread, or in its place: mk_offload_pool_end */
    void *arg;     /* for both */
};

/** Jobs that take turns with those of other lanes; it exists while it has any. */
struct mk_offload_lane {
    struct mk_list node; /* of the pool's lanes */
    struct mk_list jobs; /* that wait */
    const void *key;
    unsigned waiting, working, most;
};

struct mk_offload_pool {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    struct mk_list lanes;        /* under lock, as all below; the next one to be served first */
    struct mk_offload_lane rest; /* of jobs without a lane */
    const char *name;            /* of its threads; static */
    unsigned queued, ready;      /* jobs that wait; those among them that a thread may begin */
    unsigned idle, nthreads;
    unsigned most;  /* jobs of one lane that work at a time */
    unsigned spare; /* threads beyond that, for other lanes */
    unsigned room;  /* jobs that may wait */
    bool ending;
    struct mk_offload_thread *threads;
};

/**
 * Starts nothing and cannot fail.
 * @param name  of its threads, at most 10 bytes; static
 * @param most  threads that work for one lane, at least 1
 * @param spare  threads beyond that, which only other lanes get
 */
void mk_offload_pool_init(struct mk_offload_pool *pool, const char *name, unsigned most,
                          unsigned spare);

/** Bound the jobs that may wait. Those that wait already stay. Any thread. */
void mk_offload_pool_limit(struct mk_offload_pool *pool, unsigned room);

/**
 * Have a job done. Any thread.
 * @return 0; MK_E_BUSY: the queue is full or the pool has ended; MK_E_NOMEM: also when no thread could be started.
 *         On error neither of the job's functions is called.
 */
MK_INSIDE int mk_offload_pool_add(struct mk_offload_pool *pool,
                                  struct mk_offload_job *job) MK_MUST_USE;

/**
 * Take back a job that waits, so that another has its place. Any thread.
 * @param job  that was added, and whose finish has not ended its memory
 * @return true: its functions are not called; false: it does not wait.
 */
bool mk_offload_pool_drop(struct mk_offload_pool *pool, struct mk_offload_job *job) MK_MUST_USE;

/** Finish the jobs that still wait, without working them, and wait for those that run. Twice is once. */
void mk_offload_pool_end(struct mk_offload_pool *pool);
/** After mk_offload_pool_end. */
void mk_offload_pool_fini(struct mk_offload_pool *pool);

#endif
