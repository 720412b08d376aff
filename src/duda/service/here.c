/* SPDX-License-Identifier: Apache-2.0 */
#include "service/request.h"

#include "service/blocked.h"

#include "kit/clock/clock.h"

#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A call-back that keeps its worker for longer is reported, as a handler of a program is: monkey/web/router.h. */
enum { HELD_MS = 500 };

/* The call into a service from outside that runs on a thread, with all that it calls in turn. */
struct turn {
    int64_t begun_ms;
    const char *_Atomic service; /* NULL: no call runs */
    const char *_Atomic
        callback; /* of the last request that it was for, as long as the service; NULL: of none */
    struct mk_errand errand;
    int tid;
};

/* One variable: where the C library has no room for it beside the stack, finding one costs a call. */
static __thread struct {
    struct mk_duda_here here;
    struct turn turn;
} thread;

/* For another thread, which looks while the call lasts. */
static void note(const char *_Atomic *what, const char *text)
{
    atomic_store_explicit(what, text, memory_order_relaxed);
}

/* On that thread. */
static void describe(const struct mk_errand *errand, char *text, size_t size)
{
    const struct turn *t = (const void *)((const char *)errand - offsetof(struct turn, errand));
    const char *service = atomic_load_explicit(&t->service, memory_order_relaxed);
    const char *callback = atomic_load_explicit(&t->callback, memory_order_relaxed);
    int len = service ? snprintf(text, size, " service=%s callback=\"%s\"", service,
                                 callback ? callback : "of no request")
                      : 0;

    if (len > 0 && (size_t)len < size)
        mk_duda_stack_of(t->tid, text + len, size - (size_t)len);
}

void mk_duda_watch_here(struct mk_worker *worker)
{
    struct turn *turn = &thread.turn;

    turn->tid = (int)syscall(SYS_gettid);
    turn->errand = (struct mk_errand){.size = sizeof(turn->errand), .describe = describe};
    mk_duda_blocked_enter();
    mk_worker_set_errand(worker, &turn->errand);
}

static void end_turn(const struct mk_duda_here *here, struct turn *turn)
{
    const int64_t held_ms = here->worker ? clock_tick_ms() - turn->begun_ms : 0;
    const char *callback = atomic_load_explicit(&turn->callback, memory_order_relaxed);

    note(&turn->service, NULL);
    if (held_ms > HELD_MS)
        mk_duda_log(here->service, MK_LOG_WARN, "call-back %s blocked its worker ms=%lld",
                    callback ? callback : "of no request", (long long)held_ms);
}

const struct mk_duda_here *mk_duda_here(void)
{
    return &thread.here;
}

static inline struct mk_duda_here enter(struct mk_duda_here now, const char *callback)
{
    const struct mk_duda_here before = thread.here;
    struct turn *turn = &thread.turn;

    if (!before.service) {
        turn->begun_ms = clock_tick_ms();
        note(&turn->service, now.service->spec.name);
        note(&turn->callback, callback);
    } else if (callback) {
        note(&turn->callback, callback);
    }
    thread.here = now;
    return before;
}

struct mk_duda_here mk_duda_enter(struct mk_duda_service *service, struct mk_duda_worker *worker)
{
    return enter((struct mk_duda_here){service, worker, NULL}, NULL);
}

struct mk_duda_here mk_duda_enter_request(const struct mk_duda_request *rq)
{
    return enter((struct mk_duda_here){rq->service, rq->worker, rq}, rq->callback);
}

void mk_duda_leave(struct mk_duda_here before)
{
    if (!before.service && thread.here.service)
        end_turn(&thread.here, &thread.turn);
    thread.here = before;
}
