/* SPDX-License-Identifier: Apache-2.0 */
#include "server/h1/job.h"

#include "base/heap.h"
#include "server/h1/conn.h"
#include "server/worker/worker.h"

enum { ROOM_MIN = 512 }; /* less than this is not worth a read */

struct mk_job *mk_job_get(struct mk_conn *c)
{
    struct mk_job *job = c->job;

    if (job)
        return job;
    job = mk_pool_get(&c->worker->jobs);
    if (!job)
        return NULL;
    job->in = job->own_in;
    job->in_at = job->in_body = job->in_end = job->request.head_len = 0;
    job->in_cap = MK_JOB_SIZE - offsetof(struct mk_job, own_in);
    job->request.view = NULL;
    c->job = job;
    return job;
}

static void drop_large_buffer(struct mk_job *job)
{
    if (job->in != job->own_in)
        mk_heap_free(job->in);
}

void mk_job_put(struct mk_conn *c)
{
    if (!c->job)
        return;
    drop_large_buffer(c->job);
    mk_pool_put(&c->worker->jobs, c->job);
    c->job = NULL;
}

/* Close the gaps: used bytes before the message, and between its head and the unread body. */
static void compact(struct mk_job *job)
{
    size_t unread = job->in_end - job->in_body;

    if (job->in_at > 0)
        memmove(job->in, job->in + job->in_at, job->request.head_len);
    memmove(job->in + job->request.head_len, job->in + job->in_body, unread);
    job->in_at = 0;
    job->in_body = job->request.head_len;
    job->in_end = job->in_body + (uint32_t)unread;
}

static int grow(struct mk_job *job, size_t cap)
{
    char *larger = mk_heap_alloc(cap);

    if (!larger)
        return MK_E_NOMEM;
    memcpy(larger, job->in, job->in_end);
    drop_large_buffer(job);
    job->in = larger;
    job->in_cap = (uint32_t)cap;
    return 0;
}

ssize_t mk_job_room(struct mk_job *job, size_t max)
{
    bool fits = true;

    if (job->in_at == job->in_end)
        job->in_at = job->in_body = job->in_end = 0;
    if (job->in_cap - job->in_end < ROOM_MIN) {
        compact(job);
        fits = job->in_cap - job->in_end >= ROOM_MIN || job->in_cap >= max || grow(job, max) == 0;
    }
    job->request.text = job->in + job->in_at;
    return fits ? (ssize_t)(job->in_cap - job->in_end) : MK_E_NOMEM;
}
