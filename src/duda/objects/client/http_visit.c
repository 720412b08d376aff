/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/client/http_visit.h"

#include "objects/client/http_call.h"

#include <stdlib.h>

static void on_request_end(void *arg)
{
    struct mk_duda_visit *v = arg;

    v->rq = NULL;
    while (v->calls)
        http_call_drop(v->calls);
    if (v->busy == 0)
        free(v);
}

struct mk_duda_visit *http_visit_of(struct mk_duda_request *rq)
{
    struct mk_duda_visit *v = rq->visit;

    if (v)
        return v;
    v = calloc(1, sizeof(*v));
    if (!v || mk_duda_request_gc(rq, on_request_end, v) < 0) {
        free(v);
        return NULL;
    }
    v->rq = rq;
    rq->visit = v;
    return v;
}

void http_visit_park(struct mk_duda_visit *v)
{
    struct mk_duda_request *rq = v->rq;

    if (!v->calls || rq->is_waiting || rq->state != MK_DUDA_REQUEST_CALLED)
        return;
    v->is_parked = rq->is_waiting = true;
    mk_request_timeout(rq->r, rq->service->wait_ms);
    mk_request_ends_on_hangup(rq->r, true);
}

static void go_on(struct mk_duda_visit *v)
{
    if (v->is_parked && v->rq->is_waiting) {
        v->rq->is_waiting = false;
        mk_request_ends_on_hangup(v->rq->r, false);
    }
    v->is_parked = false;
}

void http_visit_check(struct mk_duda_visit *v)
{
    if (v && v->rq && !v->calls)
        go_on(v);
}

struct mk_duda_here http_visit_enter(struct mk_duda_visit *v, const struct mk_duda_seat *seat)
{
    if (!v)
        return mk_duda_enter(seat->service, seat->worker);
    v->busy++;
    go_on(v);
    return mk_duda_enter_request(v->rq);
}

void http_visit_leave(struct mk_duda_visit *v, struct mk_duda_here before)
{
    mk_duda_leave(before);
    if (!v)
        return;
    v->busy--;
    if (v->rq)
        http_visit_park(v);
    else if (v->busy == 0)
        free(v);
}
