/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/intake/uploads.h"

#include <pthread.h>
#include <stdlib.h>

enum { TICK_MS = 1000 }; /* from one look at an upload to the next */

struct uploads {
    pthread_mutex_t lock;
    struct upload *first; /* under lock, as all below */
    unsigned nended;      /* within TICK_MS from then on: what they held may not be free yet */
    int64_t since_ms;
    uploads_waiting_fn waiting;
    void *of;
};

struct uploads *uploads_new(uploads_waiting_fn waiting, void *of)
{
    struct uploads *all = calloc(1, sizeof(*all));

    if (!all)
        return NULL;
    (void)pthread_mutex_init(&all->lock, NULL);
    all->waiting = waiting;
    all->of = of;
    return all;
}

void uploads_free(struct uploads *all)
{
    if (!all)
        return;
    (void)pthread_mutex_destroy(&all->lock);
    free(all);
}

/* ---- under the mutex ---- */

/* Those that end before this one: slower ones, and of equals the ones that came later. */
static unsigned count_slower(const struct uploads *all, const struct upload *upload,
                             int64_t balance, int64_t now_ms)
{
    unsigned slower = 0;
    bool is_behind = false;

    for (const struct upload *u = all->first; u; u = u->next) {
        int64_t other = arrival_balance(&u->arrival, now_ms);

        if (u == upload)
            is_behind = true;
        else if (other < balance || (other == balance && !is_behind))
            slower++;
    }
    return slower;
}

static unsigned count_ended(struct uploads *all, int64_t now_ms)
{
    if (now_ms - all->since_ms >= TICK_MS) {
        all->since_ms = now_ms;
        all->nended = 0;
    }
    return all->nended;
}

/* ---- one of them ---- */

/* @return whether it is one that must end for those who wait. */
static bool must_end(struct upload *upload, int64_t now_ms)
{
    struct uploads *all = upload->all;
    int64_t balance = arrival_balance(&upload->intake->arrival, now_ms);
    unsigned waiting = balance < 0 ? all->waiting(all->of) : 0;
    bool must;

    pthread_mutex_lock(&all->lock);
    upload->arrival = upload->intake->arrival;
    must = waiting > 0 &&
           count_slower(all, upload, balance, now_ms) + count_ended(all, now_ms) < waiting;
    if (must)
        all->nended++;
    pthread_mutex_unlock(&all->lock);
    return must;
}

static void on_tick(struct mk_alarm *alarm, void *arg)
{
    struct upload *upload = arg;

    if (!upload->intake->owes) {
        upload_leave(upload);
        return;
    }
    mk_alarm_set(alarm, TICK_MS);
    if (must_end(upload, mk_worker_now_ms(upload->worker)))
        upload->end(upload);
}

static void join(struct upload *upload, struct uploads *all)
{
    pthread_mutex_lock(&all->lock);
    upload->all = all;
    upload->link = &all->first;
    upload->next = all->first;
    if (upload->next)
        upload->next->link = &upload->next;
    all->first = upload;
    pthread_mutex_unlock(&all->lock);
}

int upload_begin(struct upload *upload, struct uploads *all, struct mk_worker *w,
                 const struct intake *intake, void (*end)(struct upload *upload))
{
    if (intake->mode != INTAKE_AUTO || !intake->owes || upload->all)
        return 0;
    *upload = (struct upload){.worker = w, .intake = intake, .end = end};
    upload->arrival = intake->arrival;
    upload->alarm = mk_alarm_new(w, on_tick, upload);
    if (!upload->alarm)
        return MK_E_NOMEM;
    join(upload, all);
    mk_alarm_set(upload->alarm, TICK_MS);
    return 0;
}

void upload_leave(struct upload *upload)
{
    struct uploads *all = upload->all;

    if (!all)
        return;
    pthread_mutex_lock(&all->lock);
    *upload->link = upload->next;
    if (upload->next)
        upload->next->link = upload->link;
    upload->all = NULL;
    pthread_mutex_unlock(&all->lock);
    mk_alarm_free(upload->alarm);
    upload->alarm = NULL;
}
