/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_SERVER_H1_JOB_H
#define MK_SERVER_H1_JOB_H

#include "server/request/request.h"

/*
 * What a connection borrows while it has something to do: the request and the bytes read. One block of
 * the worker's pool; a head that does not fit gets a larger buffer from the heap until it is answered.
 */
enum {
    MK_JOB_SIZE = 4096,
    MK_JOB_ARENA = 512, /* first block of the request's arena */
};

struct mk_job {
    char *in;         /* input buffer: own_in, or heap */
    uint32_t in_at;   /* start of the current message's head */
    uint32_t in_body; /* first byte not used yet: of the head while it arrives, then of the body */
    uint32_t in_end;  /* end of the bytes read */
    uint32_t in_cap;
    struct mk_request request;
    char arena_start[MK_JOB_ARENA] __attribute__((aligned(16)));
    char own_in[];
};

/** Give a connection a job if it has none. @return it, or NULL without memory. */
struct mk_job *mk_job_get(struct mk_conn *c) MK_MUST_USE;
/** Give it back; no request may be under way. */
void mk_job_put(struct mk_conn *c);

/** Bytes read and not yet used. */
static inline size_t mk_job_input(const struct mk_job *job)
{
    return job->in_end - job->in_body;
}

/** Bytes that are not used yet begin a message: the request's head. */
static inline void mk_job_begin_message(struct mk_job *job)
{
    job->in_at = job->in_body;
    job->request.text = job->in + job->in_at;
    job->request.head_len = 0;
}

/**
 * Make room for input behind in_end: close gaps, or take a larger buffer of max bytes.
 * @return room in bytes; 0 when that is full too; MK_E_NOMEM.
 */
ssize_t mk_job_room(struct mk_job *job, size_t max) MK_MUST_USE;

#endif
