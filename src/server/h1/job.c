/* SPDX-License-Identifier: Apache-2.0 */
#include "server/h1/job.h"

#include "base/heap.h"
#include "server/h1/conn.h"
#include "server/worker/worker.h"

enum { ROOM_MIN = 512 }; /* less than this is not worth a read */

/* ---- blocks of input ---- */

/* @param is_fresh  with all of a block, not what others have left of one. @return false: no memory, nothing was changed. */
static inline bool take_input(struct mk_worker *w, struct mk_job *job, bool is_fresh)
{
    struct mk_input *input = w->open_input;

    if (input && (!is_fresh || input->refs == 0)) {
        w->open_input = NULL;
    } else {
        input = mk_pool_get(&w->inputs);
        if (!input)
            return false;
        input->refs = input->used = 0;
    }
    input->refs++;
    job->input = input;
    job->in = input->bytes + input->used;
    job->in_cap = MK_INPUT_ROOM - input->used;
    job->is_last = true;
    return true;
}

/* The rest of a block is nobody's. The next job gets it, or the last of those that still lie in the block gives it back. */
static void open_rest(struct mk_worker *w, struct mk_input *input)
{
    struct mk_input *other = w->open_input;

    if (MK_INPUT_ROOM - input->used < MK_INPUT_SHARED)
        return;
    if (other && other->refs > 0 && input->refs > 0)
        return;
    if (other && input->refs == 0) {
        mk_pool_put(&w->inputs, input);
        return;
    }
    if (other)
        mk_pool_put(&w->inputs, other);
    w->open_input = input;
}

static __attribute__((noinline)) void leave_input(struct mk_worker *w, struct mk_input *input,
                                                  bool is_last)
{
    if (--input->refs == 0)
        input->used = 0;
    if (input != w->open_input && (is_last || input->refs == 0))
        open_rest(w, input);
}

static inline void drop_buffer(struct mk_worker *w, const struct mk_job *job)
{
    struct mk_input *input = job->input;

    if (!input) {
        mk_heap_free(job->in);
    } else if (job->is_last && !w->open_input) { /* nearly always: nobody waits */
        if (--input->refs == 0)
            input->used = 0;
        w->open_input = input;
    } else {
        leave_input(w, input, job->is_last);
    }
}

void mk_job_close_input(struct mk_worker *w)
{
    if (w->open_input)
        mk_pool_put(&w->inputs, w->open_input);
    w->open_input = NULL;
}

void mk_job_seal(struct mk_conn *c)
{
    struct mk_job *job = c->job;

    if (!job->input || !job->is_last)
        return;
    job->is_last = false;
    job->in_cap = job->in_end;
    job->input->used = (uint32_t)(job->in + job->in_end - job->input->bytes);
    open_rest(c->worker, job->input);
}

/* ---- jobs ---- */

struct mk_job *mk_job_get(struct mk_conn *c)
{
    struct mk_job *job = c->job;

    if (job)
        return job;
    job = mk_pool_get(&c->worker->jobs);
    if (!job)
        return NULL;
    if (!take_input(c->worker, job, false)) {
        mk_pool_put(&c->worker->jobs, job);
        return NULL;
    }
    job->in_at = job->in_body = job->in_end = job->request.head_len = 0;
    job->nheld = 0;
    job->request.view = NULL;
    c->job = job;
    return job;
}

void mk_job_put(struct mk_conn *c)
{
    if (!c->job)
        return;
    mk_job_let_go(c->worker, c->job);
    drop_buffer(c->worker, c->job);
    mk_pool_put(&c->worker->jobs, c->job);
    c->job = NULL;
}

/* The head of a request that is under way: handlers have texts of it, so it stays where it is. */
static size_t head_end(const struct mk_job *job)
{
    return job->request.head_len > 0 ? job->in_at + job->request.head_len : 0;
}

/* Close the gap before the bytes that are not used yet. */
static void compact(struct mk_job *job)
{
    const size_t to = head_end(job), unread = job->in_end - job->in_body;

    if (to == 0)
        job->in_at = 0;
    memmove(job->in + to, job->in + job->in_body, unread);
    job->in_body = (uint32_t)to;
    job->in_end = (uint32_t)(to + unread);
}

/* @param memory  a block, or of the heap */
static void hold(struct mk_job *job, void *memory, bool is_heap)
{
    const uint8_t bit = (uint8_t)(1U << job->nheld);

    job->held[job->nheld++] = memory;
    job->held_heap = (uint8_t)(is_heap ? job->held_heap | bit : job->held_heap & ~bit);
}

void mk_job_let_go(struct mk_worker *w, struct mk_job *job)
{
    while (job->nheld > 0) {
        void *memory = job->held[--job->nheld];

        if (job->held_heap >> job->nheld & 1)
            mk_heap_free(memory);
        else
            leave_input(w, memory, false);
    }
}

/* The input was moved out of this block. Others may have the rest, but not the bytes of a request that is under way. */
static void leave_moved(struct mk_worker *w, struct mk_job *job, struct mk_input *input,
                        bool is_last, const char *end)
{
    if (job->request.head_len == 0) {
        leave_input(w, input, is_last);
        return;
    }
    hold(job, input, false);
    if (!is_last)
        return;
    input->used = (uint32_t)(end - input->bytes);
    open_rest(w, input);
}

static void leave_heap(struct mk_job *job, char *in)
{
    if (job->request.head_len > 0)
        hold(job, in, true);
    else
        mk_heap_free(in);
}

/* What came was copied to the front of another buffer. */
static void begin_at_front(struct mk_job *job)
{
    job->in_body -= job->in_at;
    job->in_end -= job->in_at;
    job->in_at = 0;
}

/* To a block of its own, with what came. @return false: no memory. */
static bool move(struct mk_worker *w, struct mk_job *job)
{
    struct mk_input *input = job->input;
    const bool was_last = job->is_last;
    const char *from = job->in + job->in_at, *end = job->in + job->in_end;

    if (!take_input(w, job, true))
        return false;
    memcpy(job->in, from, (size_t)(end - from));
    leave_moved(w, job, input, was_last, end);
    begin_at_front(job);
    return true;
}

static bool grow(struct mk_worker *w, struct mk_job *job, size_t cap)
{
    char *larger = mk_heap_alloc(cap);

    if (!larger)
        return false;
    memcpy(larger, job->in + job->in_at, job->in_end - job->in_at);
    if (job->input)
        leave_moved(w, job, job->input, job->is_last, job->in + job->in_end);
    else
        leave_heap(job, job->in);
    job->in = larger;
    job->input = NULL;
    job->in_cap = (uint32_t)cap;
    begin_at_front(job);
    return true;
}

static bool has_room(const struct mk_job *job)
{
    return job->in_cap - job->in_end >= ROOM_MIN;
}

/* A part of a block is full: all of one may be enough. So is another buffer, if others' bytes lie before the head in this one. */
static bool enlarge(struct mk_worker *w, struct mk_job *job, size_t max)
{
    const bool is_large = job->in_cap >= max;

    if ((is_large && job->in_at == 0) || job->nheld == MK_JOB_HELD_MAX)
        return is_large;
    if (job->input && job->in_end - job->in_at + ROOM_MIN <= MK_INPUT_ROOM)
        return move(w, job);
    return grow(w, job, is_large ? job->in_cap : max);
}

ssize_t mk_job_room(struct mk_conn *c, size_t max)
{
    struct mk_job *job = c->job;
    bool fits = true;

    if (job->in_at == job->in_end)
        job->in_at = job->in_body = job->in_end = 0;
    if (!has_room(job)) {
        compact(job);
        fits = has_room(job) || enlarge(c->worker, job, max);
    }
    job->request.text = job->in + job->in_at;
    return fits ? (ssize_t)(job->in_cap - job->in_end) : MK_E_NOMEM;
}
