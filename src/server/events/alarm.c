/* SPDX-License-Identifier: Apache-2.0 */
#include "base/heap.h"
#include "base/invariant.h"
#include "server/worker/worker.h"

#include <monkey/events.h>

struct mk_alarm {
    struct mk_timer timer;
    struct mk_late late;
    struct mk_worker *worker;
    mk_alarm_fn fn;
    void *arg;
};

/* Nothing is touched behind fn, which may have freed the alarm. */
static void on_alarm_timer(struct mk_timer *t)
{
    struct mk_alarm *a = MK_CONTAINER_OF(t, struct mk_alarm, timer);

    a->fn(a, a->arg);
}

static void on_late(struct mk_late *late)
{
    struct mk_alarm *a = MK_CONTAINER_OF(late, struct mk_alarm, late);

    a->fn(a, a->arg);
}

struct mk_alarm *mk_alarm_new(struct mk_worker *w, mk_alarm_fn fn, void *arg)
{
    struct mk_alarm *a = mk_heap_alloc(sizeof(*a));

    if (!a)
        return NULL;
    *a = (struct mk_alarm){.worker = w, .fn = fn, .arg = arg};
    mk_timer_init(&a->timer, on_alarm_timer);
    mk_late_init(&a->late, on_late);
    return a;
}

void mk_alarm_set(struct mk_alarm *alarm, unsigned ms)
{
    struct mk_loop *loop = &alarm->worker->loop;

    mk_late_cancel(&alarm->late);
    mk_timer_set(&loop->wheel, &alarm->timer, loop->clock.mono_ms + ms);
}

void mk_alarm_soon(struct mk_alarm *alarm)
{
    mk_timer_cancel(&alarm->timer);
    mk_late_set(&alarm->worker->loop, &alarm->late);
}

void mk_alarm_cancel(struct mk_alarm *alarm)
{
    mk_timer_cancel(&alarm->timer);
    mk_late_cancel(&alarm->late);
}

void mk_alarm_free(struct mk_alarm *alarm)
{
    if (!alarm)
        return;
    mk_alarm_cancel(alarm);
    mk_heap_free(alarm);
}
