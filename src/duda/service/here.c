/* SPDX-License-Identifier: Apache-2.0 */
#include "service/request.h"

#include "kit/clock/clock.h"

/* A call-back that keeps its worker for longer is reported, as a handler of a program is: monkey/web/router.h. */
enum { HELD_MS = 500 };

static __thread struct mk_duda_here here;

/* The call into a service from outside that runs on this thread, with all that it calls in turn. */
static __thread struct {
    int64_t begun_ms;
    const char
        *callback; /* of the last request that it was for, as long as the service; NULL: of none */
} turn;

static void begin_turn(const char *callback)
{
    if (!here.service) {
        turn.begun_ms = clock_tick_ms();
        turn.callback = NULL;
    }
    if (callback)
        turn.callback = callback;
}

static void end_turn(void)
{
    const int64_t held_ms = here.worker ? clock_tick_ms() - turn.begun_ms : 0;

    if (held_ms > HELD_MS)
        mk_duda_log(here.service, MK_LOG_WARN, "call-back %s blocked its worker ms=%lld",
                    turn.callback ? turn.callback : "of no request", (long long)held_ms);
}

const struct mk_duda_here *mk_duda_here(void)
{
    return &here;
}

struct mk_duda_here mk_duda_enter(struct mk_duda_service *service, struct mk_duda_worker *worker)
{
    struct mk_duda_here before = here;

    begin_turn(NULL);
    here = (struct mk_duda_here){service, worker, NULL};
    return before;
}

struct mk_duda_here mk_duda_enter_request(const struct mk_duda_request *rq)
{
    struct mk_duda_here before = here;

    begin_turn(rq->callback);
    here = (struct mk_duda_here){rq->service, rq->worker, rq};
    return before;
}

void mk_duda_leave(struct mk_duda_here before)
{
    if (!before.service && here.service)
        end_turn();
    here = before;
}
