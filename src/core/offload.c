/* SPDX-License-Identifier: Apache-2.0 */
#include "core/offload.h"

#include "core/thread.h"

#include <stdio.h>
#include <sys/resource.h>

enum { NICE = 10 };

void mk_offload_pool_init(struct mk_offload_pool *pool, const char *name, unsigned most,
                          unsigned room)
{
    *pool = (struct mk_offload_pool){.name = name, .most = most, .room = room};
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pool->last = &pool->first;
}

void mk_offload_pool_fini(struct mk_offload_pool *pool)
{
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
}

/* Waits under the lock. @return NULL when the pool ends. */
static struct mk_offload_job *take(struct mk_offload_pool *pool)
{
    struct mk_offload_job *job;

    pool->idle++;
    while (!pool->first && !pool->ending)
        pthread_cond_wait(&pool->wake, &pool->lock);
    pool->idle--;
    if (pool->ending)
        return NULL;
    job = pool->first;
    pool->first = job->next;
    if (!pool->first)
        pool->last = &pool->first;
    pool->queued--;
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
        pthread_mutex_unlock(&pool->lock);
        job->work(job);
        job->finish(job);
        pthread_mutex_lock(&pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    mk_thread_leave(stack);
    return NULL;
}

static int start_thread(struct mk_offload_pool *pool)
{
    char name[16];
    int err;

    (void)snprintf(name, sizeof(name), "mk-%s-%u", pool->name, pool->nthreads);
    err = mk_thread_start(&pool->threads[pool->nthreads], name, -1, work_on, pool);
    if (err == 0)
        pool->nthreads++;
    return err;
}

static int add(struct mk_offload_pool *pool, struct mk_offload_job *job)
{
    if (pool->ending || pool->queued >= pool->room)
        return MK_E_BUSY;
    /* Those that were woken and have not come to the lock yet still count as idle, and their jobs as queued. */
    if (pool->queued >= pool->idle && pool->nthreads < pool->most && start_thread(pool) < 0 &&
        pool->nthreads == 0)
        return MK_E_NOMEM;
    job->next = NULL;
    *pool->last = job;
    pool->last = &job->next;
    pool->queued++;
    pthread_cond_signal(&pool->wake);
    return 0;
}

int mk_offload_pool_add(struct mk_offload_pool *pool, struct mk_offload_job *job)
{
    int err;

    pthread_mutex_lock(&pool->lock);
    err = add(pool, job);
    pthread_mutex_unlock(&pool->lock);
    return err;
}

struct mk_offload_job *mk_offload_pool_drop(struct mk_offload_pool *pool, const void *arg)
{
    struct mk_offload_job **at, *job;

    pthread_mutex_lock(&pool->lock);
    for (at = &pool->first; (job = *at) && job->arg != arg; at = &job->next)
        ;
    if (job) {
        *at = job->next;
        if (!job->next)
            pool->last = at;
        pool->queued--;
    }
    pthread_mutex_unlock(&pool->lock);
    return job;
}

void mk_offload_pool_end(struct mk_offload_pool *pool)
{
    struct mk_offload_job *waiting, *next;
    unsigned nthreads;

    pthread_mutex_lock(&pool->lock);
    pool->ending = true;
    waiting = pool->first;
    pool->first = NULL;
    pool->last = &pool->first;
    pool->queued = 0;
    nthreads = pool->nthreads;
    pool->nthreads = 0;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    for (; waiting; waiting = next) {
        next = waiting->next;
        waiting->finish(waiting);
    }
    for (unsigned i = 0; i < nthreads; i++)
        pthread_join(pool->threads[i], NULL);
}
