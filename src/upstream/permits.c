/* SPDX-License-Identifier: Apache-2.0 */
#include "upstream/permits.h"

#include "base/heap.h"
#include "base/invariant.h"

int mk_permits_init(struct mk_permits *p, unsigned nlanes, unsigned max, unsigned max_waiting,
                    unsigned max_idle)
{
    *p = (struct mk_permits){
        .max = max, .max_waiting = max_waiting, .max_idle = max_idle, .nlanes = nlanes};
    p->lanes = mk_heap_zalloc(nlanes, sizeof(*p->lanes));
    if (!p->lanes)
        return MK_E_NOMEM;
    mk_list_init(&p->waiting);
    pthread_mutex_init(&p->lock, NULL);
    return 0;
}

void mk_permits_fini(struct mk_permits *p)
{
    MK_ASSERT(p->open == 0 && p->nwaiting == 0);
    pthread_mutex_destroy(&p->lock);
    mk_heap_free(p->lanes);
}

/* ---- under the lock ---- */

static struct mk_permit_wait *pop(struct mk_permits *p)
{
    struct mk_permit_wait *first = MK_CONTAINER_OF(p->waiting.next, struct mk_permit_wait, link);

    mk_list_remove(&first->link);
    first->queued = false;
    p->nwaiting--;
    return first;
}

/** A permit is free. */
static struct mk_permit_wait *pass_on(struct mk_permits *p)
{
    if (p->nwaiting > 0)
        return pop(p);
    p->open--;
    return NULL;
}

/** Ask one more idle connection of some lane. @return false: there is none that was not asked yet. */
static bool ask(struct mk_permits *p, int *tell)
{
    for (unsigned i = 0; i < p->nlanes && p->asked < p->idle; i++) {
        struct mk_permit_lane *lane = &p->lanes[i];

        if (lane->asked == lane->idle)
            continue;
        lane->asked++;
        p->asked++;
        *tell = lane->told ? -1 : (int)i;
        lane->told = true;
        return true;
    }
    return false;
}

/** One that was asked for somebody who has left since is as good as one asked now. */
static int queue(struct mk_permits *p, struct mk_permit_wait *wait, int *tell)
{
    bool comes = p->asked > p->nwaiting || ask(p, tell);

    if (!comes && p->nwaiting - p->asked >= p->max_waiting)
        return MK_E_BUSY;
    mk_list_add_tail(&p->waiting, &wait->link);
    wait->queued = true;
    p->nwaiting++;
    return MK_PERMIT_WAIT;
}

static int take(struct mk_permits *p, struct mk_permit_wait *wait, int *tell)
{
    struct mk_permit_lane *lane = &p->lanes[wait->lane];

    if (!wait->fresh && lane->idle > lane->asked) {
        lane->idle--;
        p->idle--;
        return MK_PERMIT_IDLE;
    }
    if (p->max > 0 && p->open >= p->max)
        return queue(p, wait, tell);
    p->open++;
    return MK_PERMIT_NEW;
}

static enum mk_keep keep(struct mk_permits *p, unsigned lane, struct mk_permit_wait **heir)
{
    if (p->nwaiting > 0) {
        *heir = pop(p);
        return (*heir)->lane == lane && !(*heir)->fresh ? MK_KEEP_HAND : MK_KEEP_CLOSE;
    }
    if (p->closing || p->lanes[lane].idle >= p->max_idle) {
        p->open--;
        return MK_KEEP_CLOSE;
    }
    p->lanes[lane].idle++;
    p->idle++;
    return MK_KEEP_IDLE;
}

/* ---- what others call ---- */

int mk_permits_take(struct mk_permits *p, struct mk_permit_wait *wait, int *tell)
{
    int ret;

    mk_list_init(&wait->link);
    wait->queued = false;
    *tell = -1;
    pthread_mutex_lock(&p->lock);
    ret = take(p, wait, tell);
    pthread_mutex_unlock(&p->lock);
    return ret;
}

bool mk_permits_leave(struct mk_permits *p, struct mk_permit_wait *wait)
{
    bool queued;

    pthread_mutex_lock(&p->lock);
    queued = wait->queued;
    if (queued) {
        mk_list_remove(&wait->link);
        wait->queued = false;
        p->nwaiting--;
    }
    pthread_mutex_unlock(&p->lock);
    return queued;
}

struct mk_permit_wait *mk_permits_put(struct mk_permits *p)
{
    struct mk_permit_wait *heir;

    pthread_mutex_lock(&p->lock);
    heir = pass_on(p);
    pthread_mutex_unlock(&p->lock);
    return heir;
}

enum mk_keep mk_permits_keep(struct mk_permits *p, unsigned lane, struct mk_permit_wait **heir)
{
    enum mk_keep ret;

    *heir = NULL;
    pthread_mutex_lock(&p->lock);
    ret = keep(p, lane, heir);
    pthread_mutex_unlock(&p->lock);
    return ret;
}

struct mk_permit_wait *mk_permits_lose(struct mk_permits *p, unsigned lane)
{
    struct mk_permit_lane *l = &p->lanes[lane];
    struct mk_permit_wait *heir;

    pthread_mutex_lock(&p->lock);
    l->idle--;
    p->idle--;
    if (l->asked > l->idle) {
        l->asked--;
        p->asked--;
    }
    heir = pass_on(p);
    pthread_mutex_unlock(&p->lock);
    return heir;
}

/** Which idle ones a lane gives up: those asked for, as long as somebody still waits; at the end all. */
static unsigned surrendered(const struct mk_permits *p, const struct mk_permit_lane *lane)
{
    if (p->closing)
        return lane->idle;
    return lane->asked < p->nwaiting ? lane->asked : p->nwaiting;
}

unsigned mk_permits_surrender(struct mk_permits *p, unsigned lane, struct mk_list *heirs)
{
    struct mk_permit_lane *l = &p->lanes[lane];
    unsigned n;

    mk_list_init(heirs);
    pthread_mutex_lock(&p->lock);
    n = surrendered(p, l);
    p->asked -= l->asked;
    l->asked = 0;
    l->told = false;
    l->idle -= n;
    p->idle -= n;
    for (unsigned i = 0; i < n; i++) {
        struct mk_permit_wait *heir = pass_on(p);

        if (heir)
            mk_list_add_tail(heirs, &heir->link);
    }
    pthread_mutex_unlock(&p->lock);
    return n;
}

void mk_permits_close(struct mk_permits *p)
{
    pthread_mutex_lock(&p->lock);
    p->closing = true;
    pthread_mutex_unlock(&p->lock);
}

bool mk_permits_must_tell(struct mk_permits *p, unsigned lane)
{
    struct mk_permit_lane *l = &p->lanes[lane];
    bool must;

    pthread_mutex_lock(&p->lock);
    must = l->idle > 0 && !l->told;
    l->told = l->told || must;
    pthread_mutex_unlock(&p->lock);
    return must;
}

void mk_permits_load(struct mk_permits *p, unsigned *open, unsigned *idle, unsigned *waiting)
{
    pthread_mutex_lock(&p->lock);
    *open = p->open;
    *idle = p->idle;
    *waiting = p->nwaiting;
    pthread_mutex_unlock(&p->lock);
}
