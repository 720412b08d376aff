/* SPDX-License-Identifier: Apache-2.0 */
#include "server/events/offload.h"

#include "base/heap.h"
#include "base/invariant.h"
#include "server/worker/worker.h"

#include <monkey/events.h>

/* Work on the pool's threads, and its end on the worker. Both travel in the same memory: nothing can fail on the way back. */

struct mk_offloaded {
    struct mk_offload_job job;
    struct mk_post post;
    struct mk_worker *worker;
    struct mk_offload_pool *pool;
    void (*work)(void *arg);
    void (*done)(void *arg);
};

static void do_work(struct mk_offload_job *job)
{
    const struct mk_offloaded *t = MK_CONTAINER_OF(job, struct mk_offloaded, job);

    t->work(job->arg);
}

static void tell_worker(struct mk_offload_job *job)
{
    struct mk_offloaded *t = MK_CONTAINER_OF(job, struct mk_offloaded, job);

    mk_loop_post(&t->worker->loop, &t->post);
}

static void on_done(struct mk_post *post)
{
    struct mk_offloaded t = *MK_CONTAINER_OF(post, struct mk_offloaded, post);

    mk_heap_free(MK_CONTAINER_OF(post, struct mk_offloaded, post));
    t.done(t.job.arg);
}

int mk_offload_work(struct mk_worker *w, const struct mk_work *work, struct mk_offloaded **out)
{
    struct mk_offloaded *t;
    int err;

    if (work->size < sizeof(*work) || (unsigned)work->kind >= MK_WORK_KINDS)
        return MK_E_UNSUPPORTED;
    t = mk_heap_alloc(sizeof(*t));
    if (!t)
        return MK_E_NOMEM;
    *t = (struct mk_offloaded){
        .job = {.lane = work->lane,
                .most = work->most,
                .work = do_work,
                .finish = tell_worker,
                .arg = work->arg},
        .post = {.fn = on_done},
        .worker = w,
        .pool = &w->shared->offload[work->kind],
        .work = work->work,
        .done = work->done,
    };
    if (out)
        *out = t;
    err = mk_offload_pool_add(t->pool, &t->job);
    if (err < 0) {
        mk_heap_free(t);
        if (out)
            *out = NULL;
    }
    return err;
}

int mk_offload_kind(struct mk_worker *w, enum mk_work_kind kind, void (*work)(void *arg),
                    void (*done)(void *arg), void *arg)
{
    return mk_offload_work(
        w,
        &(struct mk_work){
            .size = sizeof(struct mk_work), .kind = kind, .work = work, .done = done, .arg = arg},
        NULL);
}

bool mk_offload_drop(struct mk_offloaded *t)
{
    if (!t || !mk_offload_pool_drop(t->pool, &t->job))
        return false;
    mk_heap_free(t);
    return true;
}

int mk_offload(struct mk_worker *w, void (*work)(void *arg), void (*done)(void *arg), void *arg)
{
    return mk_offload_kind(w, MK_WORK_OTHER, work, done, arg);
}

void mk_offload_init(struct mk_shared *shared, unsigned handler_threads)
{
    static const char *const names[MK_WORK_KINDS] = {
        [MK_WORK_OTHER] = "offload", [MK_WORK_HASH] = "hash", [MK_WORK_LISTING] = "listing",
        [MK_WORK_FILE] = "file",     [MK_WORK_NAME] = "name", [MK_WORK_HANDLER] = "handler",
    };

    for (unsigned i = 0; i < MK_WORK_KINDS; i++)
        mk_offload_pool_init(&shared->offload[i], names[i],
                             i == MK_WORK_HANDLER ? handler_threads : MK_OFFLOAD_THREADS,
                             i == MK_WORK_HANDLER);
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
