/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_SESSION_H
#define MK_DUDA_OBJECTS_SESSION_H

#include <stdbool.h>

struct mk_duda_request;
struct mk_duda_service;

/** Was session->init() called? */
bool mk_duda_has_sessions(const struct mk_duda_service *s);

/** What a request has to do about a session on another machine. */
enum mk_duda_session_step {
    MK_DUDA_SESSION_DONE,  /* nothing more */
    MK_DUDA_SESSION_LATER, /* wait */
    MK_DUDA_SESSION_FAILED /* refuse the request: it cannot be reached */
};

/** Before the call-back of a request: have its session there. mk_duda_fetched() follows LATER, unless the request ends. */
enum mk_duda_session_step mk_duda_session_fetch(struct mk_duda_request *rq);
/** Before its answer leaves: have its changes there. mk_duda_answer_release() follows LATER likewise. */
enum mk_duda_session_step mk_duda_session_commit(struct mk_duda_request *rq);
/** The request is over. */
void mk_duda_session_leave(struct mk_duda_request *rq);

#endif
