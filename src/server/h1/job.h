/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_H1_JOB_H
#define MK_SERVER_H1_JOB_H

#include "server/request/request.h"
#include "server/worker/worker.h"

/*
 * What a connection borrows while it has something to do: the request, and a buffer for the bytes read. Either is a block
 * of a pool of the worker; a head that does not fit gets a larger buffer from the heap until it is answered.
 *
 * A request that waits for its handler keeps the bytes that came, which its handler may look at, and gives the rest of the
 * buffer back: the next connection reads into it. So the heads of those that wait lie one behind the other.
 */
enum {
    MK_JOB_ARENA = 512, /* first block of the request's arena */
    MK_JOB_HELD_MAX =
        2, /* from a part of a block to one of its own, from there to the heap; or from heap to heap */
};

/** A block of w->inputs. */
struct mk_input {
    uint32_t refs; /* jobs whose bytes lie in it */
    uint32_t
        used; /* bytes at its front that are theirs; what is behind belongs to one job, or to nobody */
    char bytes[];
};

enum {
    MK_INPUT_ROOM = MK_INPUT_SIZE - sizeof(struct mk_input),
    MK_INPUT_SHARED = 2048, /* what is left of a block must be that much for another job */
};

struct mk_job {
    char *in;               /* input buffer: in a block, or heap */
    struct mk_input *input; /* the block; NULL: heap */
    uint32_t in_at;         /* start of the current message's head */
    uint32_t in_body; /* first byte not used yet: of the head while it arrives, then of the body */
    uint32_t in_end;  /* end of the bytes read */
    uint32_t in_cap;
    bool is_last; /* the rest of the block is this job's */
    uint8_t nheld;
    uint8_t held_heap; /* bit i: held[i] is of the heap, not a block */
    void *held
        [MK_JOB_HELD_MAX]; /* buffers in which the texts of its request still lie, after the input was moved */
    struct mk_request request;
    char arena_start[MK_JOB_ARENA] __attribute__((aligned(16)));
};

/** Give a connection a job if it has none. @return it, or NULL without memory. */
struct mk_job *mk_job_get(struct mk_conn *c) MK_MUST_USE;
/** Give it back; no request may be under way. */
void mk_job_put(struct mk_conn *c);

/** Its request waits, and nothing is read before it has ended: give back what is not used of the buffer. Bytes do not move. */
void mk_job_seal(struct mk_conn *c);

/** Give back the block that a worker has open, before its pools end. */
void mk_job_close_input(struct mk_worker *w);

/** Bytes read and not yet used. */
static inline size_t mk_job_input(const struct mk_job *job)
{
    return job->in_end - job->in_body;
}

/** Bytes of the heap that it has. What was left of them is no larger than what is in use. */
static inline size_t mk_job_heap(const struct mk_job *job)
{
    size_t buffers = !job->input;

    for (uint8_t i = 0; i < job->nheld; i++)
        buffers += job->held_heap >> i & 1;
    return buffers * job->in_cap;
}

/** Give back the buffers that only texts of the last request lay in. */
void mk_job_let_go(struct mk_worker *w, struct mk_job *job);

/** Bytes that are not used yet begin a message: the request's head. */
static inline void mk_job_begin_message(struct mk_worker *w, struct mk_job *job)
{
    if (job->nheld > 0)
        mk_job_let_go(w, job);
    job->in_at = job->in_body;
    job->request.text = job->in + job->in_at;
    job->request.head_len = 0;
}

/**
 * Make room for input behind in_end, of a connection with a job: close gaps, take a block of its own, or a larger buffer of
 * max bytes. Handlers have texts of a head that is complete: it also stays where it was until its request has ended.
 * @return room in bytes; 0 when that is full too; MK_E_NOMEM.
 */
ssize_t mk_job_room(struct mk_conn *c, size_t max) MK_MUST_USE;

#endif
