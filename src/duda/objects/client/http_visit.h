/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_DUDA_OBJECTS_HTTP_VISIT_H
#define MK_DUDA_OBJECTS_HTTP_VISIT_H

#include "service/request.h"

/* A request whose calls of `http` are under way: it is parked between their functions. */

struct http_call;

struct mk_duda_visit {
    struct mk_duda_request *rq; /* NULL: it has ended */
    struct http_call *calls;
    unsigned busy;  /* functions of its calls on the stack */
    bool is_parked; /* by us */
};

/** @return that of the request; NULL: no memory */
struct mk_duda_visit *http_visit_of(struct mk_duda_request *rq) MK_MUST_USE;

/** Park the request while it has calls, unless it is parked or answered. */
void http_visit_park(struct mk_duda_visit *v);
/** Continue it when it has no calls any more. NULL is allowed. */
void http_visit_check(struct mk_duda_visit *v);

/** A function of the service is about to be called. @param v  NULL: without a request. @return for http_visit_leave */
struct mk_duda_here http_visit_enter(struct mk_duda_visit *v, const struct mk_duda_seat *seat);
/** It has returned, and may have ended the request: v is not valid any more. */
void http_visit_leave(struct mk_duda_visit *v, struct mk_duda_here before);

#endif
