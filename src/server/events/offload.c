/* SPDX-License-Identifier: Apache-2.0 */
#include "server/events/offload.h"

#include "base/heap.h"
#include "base/invariant.h"
#include "base/limits.h"
#include "server/worker/worker.h"

#include <monkey/events.h>

/* Work on the pool's threads, and its end on the worker. Both travel in the same memory: nothing can fail on the way back. */

struct task {
    struct mk_offload_job job;
    struct mk_post post;
    struct mk_worker *worker;
    void (*work)(void *arg);
    void (*done)(void *arg);
};

static void do_work(struct mk_offload_job *job)
{
    const struct task *t = MK_CONTAINER_OF(job, struct task, job);

    t->work(job->arg);
}

static void tell_worker(struct mk_offload_job *job)
{
    struct task *t = MK_CONTAINER_OF(job, struct task, job);

    mk_loop_post(&t->worker->loop, &t->post);
}

static void on_done(struct mk_post *post)
{
    struct task t = *MK_CONTAINER_OF(post, struct task, post);

    mk_heap_free(MK_CONTAINER_OF(post, struct task, post));
    t.done(t.job.arg);
}

int mk_offload_kind(struct mk_worker *w, enum mk_work_kind kind, void (*work)(void *arg),
                    void (*done)(void *arg), void *arg)
{
    struct task *t;
    int err;

    if ((unsigned)kind >= MK_WORK_KINDS)
        return MK_E_UNSUPPORTED;
    t = mk_heap_alloc(sizeof(*t));
    if (!t)
        return MK_E_NOMEM;
    *t = (struct task){
        .job = {.work = do_work, .finish = tell_worker, .arg = arg},
        .post = {.fn = on_done},
        .worker = w,
        .work = work,
        .done = done,
    };
    err = mk_offload_pool_add(&w->shared->offload[kind], &t->job);
    if (err < 0)
        mk_heap_free(t);
    return err;
}

bool mk_offload_drop(struct mk_worker *w, enum mk_work_kind kind, const void *arg)
{
    struct mk_offload_job *job = mk_offload_pool_drop(&w->shared->offload[kind], arg);

    if (job)
        mk_heap_free(MK_CONTAINER_OF(job, struct task, job));
    return job != NULL;
}

int mk_offload(struct mk_worker *w, void (*work)(void *arg), void (*done)(void *arg), void *arg)
{
    return mk_offload_kind(w, MK_WORK_OTHER, work, done, arg);
}

void mk_offload_init(struct mk_shared *shared)
{
    static const char *const names[MK_WORK_KINDS] = {
        [MK_WORK_OTHER] = "offload", [MK_WORK_HASH] = "hash", [MK_WORK_LISTING] = "listing",
        [MK_WORK_FILE] = "file",     [MK_WORK_NAME] = "name", [MK_WORK_HANDLER] = "handler",
    };

    for (unsigned i = 0; i < MK_WORK_KINDS; i++)
        mk_offload_pool_init(&shared->offload[i], names[i], MK_OFFLOAD_THREADS,
                             MK_LIMIT_OFFLOAD_QUEUE);
    shared->offload[MK_WORK_HANDLER].most = MK_OFFLOAD_THREADS_MAX;
    shared->offload[MK_WORK_HANDLER].room = MK_LIMIT_HANDLER_QUEUE;
}

void mk_offload_end(struct mk_shared *shared)
{
    for (unsigned i = 0; i < MK_WORK_KINDS; i++)
        mk_offload_pool_end(&shared->offload[i]);
}

void mk_offload_fini(struct mk_shared *shared)
{
    for (unsigned i = 0; i < MK_WORK_KINDS; i++)
        mk_offload_pool_fini(&shared->offload[i]);
}
