/* SPDX-License-Identifier: Apache-2.0 */
#include "core/offload.h"

#include "base/heap.h"
#include "base/invariant.h"
#include "base/limits.h"
#include "core/thread.h"

#include <stdio.h>
#include <sys/resource.h>

enum { NICE = 10 };

struct mk_offload_thread {
    struct mk_offload_thread *next;
    pthread_t thread;
};

void mk_offload_pool_init(struct mk_offload_pool *pool, const char *name, unsigned most,
                          unsigned spare)
{
    *pool = (struct mk_offload_pool){
        .name = name, .most = most, .spare = spare, .room = MK_LIMIT_OFFLOAD_QUEUE};
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    mk_list_init(&pool->lanes);
    mk_list_init(&pool->rest.node);
    mk_list_init(&pool->rest.jobs);
    pool->rest.most = most;
}

void mk_offload_pool_limit(struct mk_offload_pool *pool, unsigned room)
{
    pthread_mutex_lock(&pool->lock);
    pool->room = room;
    pthread_mutex_unlock(&pool->lock);
}

void mk_offload_pool_fini(struct mk_offload_pool *pool)
{
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
}

/* ---- lanes, under the lock ---- */

static unsigned ready_of(const struct mk_offload_lane *lane)
{
    const unsigned free = lane->working < lane->most ? lane->most - lane->working : 0;

    return lane->waiting < free ? lane->waiting : free;
}

static void count(struct mk_offload_pool *pool, struct mk_offload_lane *lane, int waiting,
                  int working)
{
    pool->ready -= ready_of(lane);
    pool->queued += (unsigned)waiting;
    lane->waiting += (unsigned)waiting;
    lane->working += (unsigned)working;
    pool->ready += ready_of(lane);
}

static struct mk_offload_lane *find_lane(struct mk_offload_pool *pool, const void *key)
{
    MK_LIST_EACH (&pool->lanes, n) {
        struct mk_offload_lane *lane = MK_CONTAINER_OF(n, struct mk_offload_lane, node);

        if (lane->key == key)
            return lane;
    }
    return NULL;
}

static struct mk_offload_lane *lane_for(struct mk_offload_pool *pool,
                                        const struct mk_offload_job *job)
{
    struct mk_offload_lane *lane = job->lane ? find_lane(pool, job->lane) : &pool->rest;

    if (!lane) {
        lane = mk_heap_zalloc(1, sizeof(*lane));
        if (!lane)
            return NULL;
        lane->key = job->lane;
        lane->most = job->most > 0 && job->most < pool->most ? job->most : pool->most;
        mk_list_init(&lane->node);
        mk_list_init(&lane->jobs);
    }
    if (!mk_list_is_linked(&lane->node))
        mk_list_add_tail(&pool->lanes, &lane->node);
    return lane;
}

static void leave_if_empty(struct mk_offload_pool *pool, struct mk_offload_lane *lane)
{
    if (lane->waiting > 0 || lane->working > 0)
        return;
    mk_list_remove(&lane->node);
    if (lane != &pool->rest)
        mk_heap_free(lane);
}

/* @return the job whose turn it is; NULL: none may begin. */
static struct mk_offload_job *next_ready(struct mk_offload_pool *pool)
{
    if (pool->ready == 0)
        return NULL;
    MK_LIST_EACH (&pool->lanes, n) {
        struct mk_offload_lane *lane = MK_CONTAINER_OF(n, struct mk_offload_lane, node);

        if (ready_of(lane) > 0)
            return MK_CONTAINER_OF(lane->jobs.next, struct mk_offload_job, node);
    }
    return NULL;
}

/* ---- threads ---- */

/* Waits under the lock. @return NULL when the pool ends. */
static struct mk_offload_job *take(struct mk_offload_pool *pool)
{
    struct mk_offload_job *job;

    while (!pool->ending && !(job = next_ready(pool)))
        pthread_cond_wait(&pool->wake, &pool->lock);
    if (pool->ending)
        return NULL;
    pool->idle--;
    mk_list_remove(&job->node);
    count(pool, job->place, -1, 1);
    mk_list_remove(&job->place->node);
    mk_list_add_tail(&pool->lanes, &job->place->node);
    return job;
}

static void *work_on(void *arg)
{
    struct mk_offload_pool *pool = arg;
    struct mk_offload_job *job;
    void *stack = mk_thread_enter();

    /* In Linux this is of the calling thread alone; requests in hand go before work on the side. */
    (void)setpriority(PRIO_PROCESS, 0, NICE);
    pthread_mutex_lock(&pool->lock);
    while ((job = take(pool)) != NULL) {
        struct mk_offload_lane *lane = job->place;

        pthread_mutex_unlock(&pool->lock);
        job->work(job);
        job->finish(job);
        pthread_mutex_lock(&pool->lock);
        pool->idle++;
        count(pool, lane, 0, -1);
        leave_if_empty(pool, lane);
    }
    pthread_mutex_unlock(&pool->lock);
    mk_thread_leave(stack);
    return NULL;
}

/* It counts as idle before it comes to the lock. */
static int start_thread(struct mk_offload_pool *pool)
{
    struct mk_offload_thread *t = mk_heap_alloc(sizeof(*t));
    char name[16];
    int err;

    if (!t)
        return MK_E_NOMEM;
    (void)snprintf(name, sizeof(name), "mk-%s-%u", pool->name, pool->nthreads);
    err = mk_thread_start(&t->thread, name, -1, work_on, pool);
    if (err < 0) {
        mk_heap_free(t);
        return err;
    }
    t->next = pool->threads;
    pool->threads = t;
    pool->nthreads++;
    pool->idle++;
    return 0;
}

/* For one more job that waits. @return 0, MK_E_BUSY or MK_E_NOMEM. */
static int make_room(struct mk_offload_pool *pool)
{
    if (pool->ready > pool->idle && pool->nthreads < pool->most + pool->spare &&
        start_thread(pool) < 0 && pool->nthreads == 0)
        return MK_E_NOMEM;
    /* what idle threads are about to take needs none */
    return pool->queued - (pool->ready < pool->idle ? pool->ready : pool->idle) > pool->room
               ? MK_E_BUSY
               : 0;
}

static int add(struct mk_offload_pool *pool, struct mk_offload_job *job)
{
    int err;

    if (pool->ending)
        return MK_E_BUSY;
    job->place = lane_for(pool, job);
    if (!job->place)
        return MK_E_NOMEM;
    count(pool, job->place, 1, 0);
    err = make_room(pool);
    if (err < 0) {
        count(pool, job->place, -1, 0);
        leave_if_empty(pool, job->place);
        return err;
    }
    mk_list_add_tail(&job->place->jobs, &job->node);
    pthread_cond_signal(&pool->wake);
    return 0;
}

int mk_offload_pool_add(struct mk_offload_pool *pool, struct mk_offload_job *job)
{
    int err;

    mk_list_init(&job->node);
    pthread_mutex_lock(&pool->lock);
    err = add(pool, job);
    pthread_mutex_unlock(&pool->lock);
    return err;
}

bool mk_offload_pool_drop(struct mk_offload_pool *pool, struct mk_offload_job *job)
{
    bool waits;

    pthread_mutex_lock(&pool->lock);
    waits = !pool->ending && mk_list_is_linked(&job->node);
    if (waits) {
        mk_list_remove(&job->node);
        count(pool, job->place, -1, 0);
        leave_if_empty(pool, job->place);
    }
    pthread_mutex_unlock(&pool->lock);
    return waits;
}

/* @return the jobs that wait, in a list of their own; their lanes are left. */
static void take_all(struct mk_offload_pool *pool, struct mk_list *jobs)
{
    mk_list_init(jobs);
    MK_LIST_EACH (&pool->lanes, n) {
        struct mk_offload_lane *lane = MK_CONTAINER_OF(n, struct mk_offload_lane, node);

        mk_list_splice_tail(jobs, &lane->jobs);
        count(pool, lane, -(int)lane->waiting, 0);
        leave_if_empty(pool, lane);
    }
}

void mk_offload_pool_end(struct mk_offload_pool *pool)
{
    struct mk_offload_thread *threads, *t;
    struct mk_list waiting;

    pthread_mutex_lock(&pool->lock);
    pool->ending = true;
    take_all(pool, &waiting);
    threads = pool->threads;
    pool->threads = NULL;
    pool->nthreads = 0;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    while (!mk_list_is_empty(&waiting)) {
        struct mk_offload_job *job = MK_CONTAINER_OF(waiting.next, struct mk_offload_job, node);

        mk_list_remove(&job->node);
        job->finish(job);
    }
    while ((t = threads) != NULL) {
        threads = t->next;
        pthread_join(t->thread, NULL);
        mk_heap_free(t);
    }
}
