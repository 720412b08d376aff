/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/events/dthread.h"

#include "objects/events/fiber.h"
#include "service/dthreads.h"

enum { OUTSIDE = -1 }; /* in place of a number: the code that runs in no dthread */

/*
 * A number is used again when its dthread is dead and no channel names it any more, so that a channel never takes a
 * stranger for its receiver.
 */
struct thread {
    struct mk_duda_fiber *fiber; /* NULL: dead */
    duda_dthread_func func;
    void *arg;
    int status;
    int resumer;          /* where control goes when it ends: alive, or OUTSIDE */
    unsigned named;       /* so often as sender or receiver */
    const void *waits_in; /* the channel in which it is suspended */
};

/* The dthreads of one thread of the system. */
struct scheduler {
    struct mk_duda_fiber *outside, *ended; /* ended: to be freed by the next that runs */
    int running, nthreads;
    struct thread threads[MK_DUDA_DTHREADS_MAX];
    struct mk_list channels;
};

struct buffer {
    void *data;
    struct mk_list _head;
};

static _Thread_local struct scheduler *here; /* NULL: there is neither dthread nor channel */

static bool is_ready(void)
{
    if (here)
        return true;
    here = calloc(1, sizeof(*here));
    if (!here)
        return false;
    here->outside = mk_duda_fiber_of_thread();
    if (!here->outside) {
        free(here);
        here = NULL;
        return false;
    }
    here->running = OUTSIDE;
    mk_list_init(&here->channels);
    return true;
}

static void drop_if_idle(void)
{
    if (!here || mk_duda_ndthreads > 0 || here->running != OUTSIDE ||
        here->channels.next != &here->channels)
        return;
    mk_duda_fiber_free(here->outside);
    free(here);
    here = NULL;
}

static struct thread *thread_of(int id)
{
    return here && id >= 0 && id < here->nthreads ? &here->threads[id] : NULL;
}

static int dthread_status(int id)
{
    const struct thread *t = thread_of(id);

    return t ? t->status : DTHREAD_DEAD;
}

static int dthread_running(void)
{
    return here ? here->running : OUTSIDE;
}

/* ---- life ---- */

static int free_number(void)
{
    int id = 0;

    while (id < here->nthreads && (here->threads[id].fiber || here->threads[id].named))
        id++;
    return id < MK_DUDA_DTHREADS_MAX ? id : -1;
}

/* Of its fiber, only its record ends here. */
static void bury(int id)
{
    struct thread *t = thread_of(id);

    t->status = DTHREAD_DEAD;
    t->fiber = NULL;
    t->waits_in = NULL;
    mk_duda_ndthreads--;
    for (int i = 0; i < here->nthreads; i++)
        if (here->threads[i].resumer == id)
            here->threads[i].resumer = t->resumer;
}

static void switch_to(int id)
{
    struct thread *from = thread_of(here->running), *to = thread_of(id);

    if (from)
        from->status = DTHREAD_SUSPEND;
    if (to)
        to->status = DTHREAD_RUNNING;
    here->running = id;
    mk_duda_fiber_switch(from ? from->fiber : here->outside, to ? to->fiber : here->outside);
    mk_duda_fiber_free(here->ended);
    here->ended = NULL;
}

static void run(void *arg)
{
    struct thread *t = arg, *back;
    struct mk_duda_fiber *own;

    mk_duda_fiber_free(here->ended);
    here->ended = NULL;
    t->func(t->arg);
    own = t->fiber;
    bury(here->running);
    here->running = t->resumer;
    back = thread_of(t->resumer);
    if (back)
        back->status = DTHREAD_RUNNING;
    here->ended = own;
    mk_duda_fiber_leave(own, back ? back->fiber : here->outside);
}

static int dthread_create(duda_dthread_func func, void *arg)
{
    struct mk_duda_fiber *fiber = NULL;
    int id = func && is_ready() ? free_number() : -1;

    if (id >= 0)
        fiber = mk_duda_fiber_new(run, &here->threads[id]);
    if (!fiber) {
        drop_if_idle();
        return -1;
    }
    if (id == here->nthreads)
        here->nthreads++;
    here->threads[id] = (struct thread){
        .fiber = fiber, .func = func, .arg = arg, .status = DTHREAD_READY, .resumer = OUTSIDE};
    mk_duda_ndthreads++;
    return id;
}

/* Did this one resume, directly or not, the one that runs? */
static bool has_resumed_us(int id)
{
    for (int i = here->running; i != OUTSIDE; i = here->threads[i].resumer)
        if (here->threads[i].resumer == id)
            return true;
    return false;
}

static void dthread_resume(int id)
{
    if (dthread_status(id) == DTHREAD_DEAD || id == here->running)
        return;
    /* One that resumed us goes on where it was: control leaves it at its end as it would have before. */
    if (!has_resumed_us(id))
        here->threads[id].resumer = here->running;
    switch_to(id);
    drop_if_idle();
}

static void dthread_yield(void)
{
    if (dthread_running() != OUTSIDE)
        switch_to(OUTSIDE);
}

/* ---- channels ---- */

static duda_dthread_channel_t *chan_create(int size)
{
    duda_dthread_channel_t *chan = size >= 0 && is_ready() ? calloc(1, sizeof(*chan)) : NULL;

    if (!chan) {
        drop_if_idle();
        return NULL;
    }
    chan->size = size;
    chan->sender = chan->receiver = OUTSIDE;
    mk_list_init(&chan->bufs);
    mk_list_add(&chan->_head, &here->channels);
    return chan;
}

static void name(int *member, int id)
{
    struct thread *old = thread_of(*member), *now = thread_of(id);

    if (old && old->named)
        old->named--;
    if (now)
        now->named++;
    *member = now ? id : OUTSIDE;
}

/* What is suspended in a channel that goes can never go on. */
static void end_those_in(const duda_dthread_channel_t *chan)
{
    for (int i = 0; i < here->nthreads; i++) {
        struct mk_duda_fiber *fiber = here->threads[i].fiber;

        if (here->threads[i].waits_in != chan || i == here->running)
            continue;
        bury(i);
        mk_duda_fiber_free(fiber);
    }
}

static void drop_channel(duda_dthread_channel_t *chan)
{
    struct mk_list *at, *next;

    end_those_in(chan);
    name(&chan->sender, OUTSIDE);
    name(&chan->receiver, OUTSIDE);
    mk_list_foreach_safe(at, next, &chan->bufs)
    {
        free(mk_list_entry(at, struct buffer, _head));
    }
    mk_list_del(&chan->_head);
    free(chan);
}

static void chan_free(duda_dthread_channel_t *chan)
{
    if (!chan || !here)
        return;
    drop_channel(chan);
    drop_if_idle();
}

static int chan_get_sender(duda_dthread_channel_t *chan)
{
    return chan ? chan->sender : OUTSIDE;
}

static void chan_set_sender(duda_dthread_channel_t *chan, int id)
{
    if (chan)
        name(&chan->sender, id);
}

static int chan_get_receiver(duda_dthread_channel_t *chan)
{
    return chan ? chan->receiver : OUTSIDE;
}

static void chan_set_receiver(duda_dthread_channel_t *chan, int id)
{
    if (chan)
        name(&chan->receiver, id);
}

/* Is there nobody behind this end? The code outside all dthreads is always there, except for itself. */
static bool is_deserted(int end)
{
    return end == OUTSIDE ? dthread_running() == OUTSIDE : dthread_status(end) == DTHREAD_DEAD;
}

static int chan_done(duda_dthread_channel_t *chan)
{
    if (!chan)
        return MK_TRUE;
    if (chan->used == 0 &&
        (chan->ended || (chan->sender != OUTSIDE && dthread_status(chan->sender) == DTHREAD_DEAD)))
        chan->done = MK_TRUE;
    return chan->done;
}

static void chan_end(duda_dthread_channel_t *chan)
{
    if (chan)
        chan->ended = MK_TRUE;
}

/* Let the other end go on. */
static void wait_for(duda_dthread_channel_t *chan, int other)
{
    struct thread *self = thread_of(here->running);

    if (self)
        self->waits_in = chan;
    if (other == OUTSIDE)
        dthread_yield();
    else
        dthread_resume(other);
    if (self)
        self->waits_in = NULL;
}

static int chan_send(duda_dthread_channel_t *chan, void *bytes)
{
    struct buffer *b;

    if (!chan || !here || chan->ended)
        return DTHREAD_CHANNEL_BROKEN;
    while (chan->used > chan->size && chan->receiver != dthread_running() &&
           !is_deserted(chan->receiver))
        wait_for(chan, chan->receiver);
    if (chan->used > chan->size || (chan->receiver != OUTSIDE && is_deserted(chan->receiver)))
        return DTHREAD_CHANNEL_BROKEN;
    b = malloc(sizeof(*b));
    if (!b)
        return DTHREAD_CHANNEL_BROKEN;
    b->data = bytes;
    mk_list_add(&b->_head, &chan->bufs);
    chan->used++;
    return DTHREAD_CHANNEL_OK;
}

static void *chan_recv(duda_dthread_channel_t *chan)
{
    struct buffer *first;
    void *bytes;

    if (!chan || !here)
        return NULL;
    while (chan->used == 0 && !chan_done(chan) && chan->sender != dthread_running() &&
           !is_deserted(chan->sender))
        wait_for(chan, chan->sender);
    if (chan->used == 0)
        return NULL;
    first = mk_list_entry_first(&chan->bufs, struct buffer, _head);
    bytes = first->data;
    mk_list_del(&first->_head);
    free(first);
    chan->used--;
    return bytes;
}

void mk_duda_dthread_forget(void)
{
    struct mk_list *at, *next;

    if (!here || here->running != OUTSIDE)
        return;
    for (int i = 0; i < here->nthreads; i++) {
        struct mk_duda_fiber *fiber = here->threads[i].fiber;

        if (!fiber)
            continue;
        bury(i);
        mk_duda_fiber_free(fiber);
    }
    mk_list_foreach_safe(at, next, &here->channels)
    {
        drop_channel(mk_list_entry(at, duda_dthread_channel_t, _head));
    }
    drop_if_idle();
}

const struct duda_api_dthread mk_duda_dthread = {
    .create = dthread_create,
    .status = dthread_status,
    .yield = dthread_yield,
    .resume = dthread_resume,
    .chan_create = chan_create,
    .chan_free = chan_free,
    .chan_get_sender = chan_get_sender,
    .chan_set_sender = chan_set_sender,
    .chan_get_receiver = chan_get_receiver,
    .chan_set_receiver = chan_set_receiver,
    .chan_done = chan_done,
    .chan_end = chan_end,
    .chan_send = chan_send,
    .chan_recv = chan_recv,
    .running = dthread_running,
};
