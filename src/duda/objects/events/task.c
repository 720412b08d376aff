/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/objects.h"
#include "service/request.h"

#include <monkey/web/task.h>

#include <stdlib.h>

/* Work of a request on threads of the server: the tasks of libmonkey-web. */

struct job {
    struct mk_duda_service *service; /* held: work may outlive the request */
    struct mk_duda_request *rq;      /* only for done, while the request lives */
    void (*work)(void *arg);
    void (*done)(duda_request_t *dr, void *arg);
    void (*end)(void *arg);
    void *arg;
};

static void run_work(const struct mk_task *task, void *arg)
{
    struct job *job = arg;
    struct mk_duda_here before = mk_duda_enter(job->service, NULL);

    (void)task;
    job->work(job->arg);
    mk_duda_leave(before);
}

static enum mk_verdict answer(struct mk_request *r, void *arg)
{
    struct job *job = arg;
    struct mk_duda_request *rq = job->rq;
    struct mk_duda_here before = mk_duda_enter_request(rq);

    rq->is_waiting = false;
    mk_request_ends_on_hangup(r, false);
    rq->is_inside = true;
    job->done(&rq->dr, job->arg);
    rq->is_inside = false;
    mk_duda_leave(before);
    return mk_duda_verdict(rq);
}

static void end(void *arg)
{
    struct job *job = arg;
    struct mk_duda_here before = mk_duda_enter(job->service, NULL);

    if (job->end)
        job->end(job->arg);
    mk_duda_leave(before);
    mk_duda_put(job->service);
    free(job);
}

static int start(struct mk_duda_request *rq, struct job *job)
{
    const struct mk_task_calls calls = {.size = sizeof(calls),
                                        .work = run_work,
                                        .answer = answer,
                                        .end = end,
                                        .kind = (const void *)(uintptr_t)job->work};

    if (mk_task_start(rq->r, &calls, job) < 0)
        return -1;
    counted_get(&rq->service->refs);
    rq->is_waiting = true;
    mk_request_timeout(rq->r, rq->service->wait_ms);
    mk_request_ends_on_hangup(rq->r, true);
    return 0;
}

static int run(duda_request_t *dr, void (*work)(void *arg),
               void (*done)(duda_request_t *dr, void *arg), void (*end_fn)(void *arg), void *arg)
{
    struct mk_duda_request *rq = mk_duda_request_check(dr, "task->run");
    struct job *job;

    if (!rq || !rq->r || rq->state != MK_DUDA_REQUEST_CALLED || mk_duda_request_waits(rq) ||
        !work || !done)
        return -1;
    job = malloc(sizeof(*job));
    if (!job)
        return -1;
    *job = (struct job){rq->service, rq, work, done, end_fn, arg};
    if (start(rq, job) == 0)
        return 0;
    free(job);
    return -1;
}

const struct duda_api_task mk_duda_task = {.run = run};
