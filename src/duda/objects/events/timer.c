/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/objects.h"
#include "service/service.h"

#include <monkey/events.h>

#include <stdlib.h>

/* Timers of a service on a worker: alarms of its loop. */

struct duda_timer {
    struct duda_timer *next;
    struct mk_duda_seat *seat;
    struct mk_alarm *alarm;
    void (*callback)(void *arg);
    void *arg;
    unsigned every_ms; /* 0: once */
    bool is_cancelled, is_running;
};

/* The state of the part on a worker. */
struct timers {
    struct duda_timer *first;
};

static struct timers *timers_of(const struct mk_duda_seat *seat)
{
    return seat->parts[MK_DUDA_PART_TIMER];
}

static void drop(struct duda_timer *t)
{
    mk_alarm_free(t->alarm);
    free(t);
}

static void end(struct duda_timer *t)
{
    struct duda_timer **at = &timers_of(t->seat)->first;

    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    drop(t);
}

static void ring(struct mk_alarm *alarm, void *arg)
{
    struct duda_timer *t = arg;
    struct mk_duda_here before = mk_duda_enter(t->seat->service, t->seat->worker);

    t->is_running = true;
    t->callback(t->arg);
    t->is_running = false;
    mk_duda_leave(before);
    if (t->is_cancelled || t->every_ms == 0)
        end(t);
    else
        mk_alarm_set(alarm, t->every_ms);
}

static duda_timer_t *start(unsigned ms, unsigned every_ms, void (*callback)(void *arg), void *arg)
{
    const struct mk_duda_here *here = mk_duda_here();
    struct mk_duda_seat *seat =
        here->worker && here->service ? here->service->seats[here->worker->index] : NULL;
    struct duda_timer *t = seat && callback ? malloc(sizeof(*t)) : NULL;

    if (!t)
        return NULL;
    *t = (struct duda_timer){.seat = seat, .callback = callback, .arg = arg, .every_ms = every_ms};
    t->alarm = mk_alarm_new(here->worker->worker, ring, t);
    if (!t->alarm) {
        free(t);
        return NULL;
    }
    t->next = timers_of(seat)->first;
    timers_of(seat)->first = t;
    mk_alarm_set(t->alarm, ms);
    return t;
}

/* ---- calls ---- */

static duda_timer_t *after(unsigned ms, void (*callback)(void *arg), void *arg)
{
    return start(ms, 0, callback, arg);
}

static duda_timer_t *every(unsigned ms, void (*callback)(void *arg), void *arg)
{
    enum { SHORTEST = 100 };

    ms = ms > SHORTEST ? ms : SHORTEST;
    return start(ms, ms, callback, arg);
}

static int cancel(duda_timer_t *timer)
{
    const struct mk_duda_here *here = mk_duda_here();
    struct timers *timers =
        here->service ? mk_duda_local(here->service, here->worker, MK_DUDA_PART_TIMER) : NULL;
    struct duda_timer *t = timers ? timers->first : NULL;

    while (t && t != timer)
        t = t->next;
    if (!t || t->is_cancelled)
        return -1;
    t->is_cancelled = true;
    if (!t->is_running)
        end(t);
    return 0;
}

static void stop(struct mk_duda_service *s, struct mk_duda_worker *w)
{
    struct timers *timers = mk_duda_local(s, w, MK_DUDA_PART_TIMER);
    struct duda_timer *t = timers ? timers->first : NULL;

    while (t) {
        struct duda_timer *next = t->next;

        drop(t);
        t = next;
    }
    if (timers)
        timers->first = NULL;
}

const struct mk_duda_part mk_duda_timer_part = {.local_size = sizeof(struct timers),
                                                .worker_stop = stop};

const struct duda_api_timer mk_duda_timer = {.after = after, .every = every, .cancel = cancel};
