/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_SERVICE_SESSION_STEPS_H
#define MK_DUDA_SERVICE_SESSION_STEPS_H

#include "service/request.h"

/* What a request has to do about its session when that is on another machine. objects/session/session.c has the steps. */

enum mk_duda_session_step {
    MK_DUDA_SESSION_DONE,  /* nothing more */
    MK_DUDA_SESSION_LATER, /* wait */
    MK_DUDA_SESSION_FAILED /* refuse the request: it cannot be reached */
};

struct mk_duda_session_steps {
    enum mk_duda_session_step (*fetch)(struct mk_duda_request *rq);
    enum mk_duda_session_step (*commit)(struct mk_duda_request *rq);
    void (*leave)(struct mk_duda_request *rq);
};

/** Before the call-back of a request: have its session there. mk_duda_fetched() follows LATER, unless the request ends. */
static inline enum mk_duda_session_step mk_duda_session_fetch(struct mk_duda_request *rq)
{
    const struct mk_duda_session_steps *steps = rq->service->sessions;

    return steps ? steps->fetch(rq) : MK_DUDA_SESSION_DONE;
}

/** Before its answer leaves: have its changes there. mk_duda_answer_release() follows LATER likewise. */
static inline enum mk_duda_session_step mk_duda_session_commit(struct mk_duda_request *rq)
{
    return rq->session ? rq->service->sessions->commit(rq) : MK_DUDA_SESSION_DONE;
}

/** The request is over. */
static inline void mk_duda_session_leave(struct mk_duda_request *rq)
{
    if (rq->session)
        rq->service->sessions->leave(rq);
}

#endif
