/* SPDX-License-Identifier: Apache-2.0 */
#include "base/heap.h"
#include "base/invariant.h"
#include "server/worker/worker.h"

#include <monkey/events.h>

#include <errno.h>

/* A plugin's descriptor on a worker's loop. */

struct mk_io {
    struct mk_watch watch;
    struct mk_timer timer;
    struct mk_worker *worker;
    mk_io_fn fn;
    void *arg;
    unsigned wants; /* of enum mk_io_events */
    uint32_t mask;  /* what epoll was told */
    bool hung_up;   /* the end was told while nobody wanted to read */
};

static struct mk_io *io_of(struct mk_watch *w)
{
    return MK_CONTAINER_OF(w, struct mk_io, watch);
}

/*
 * A state that nobody asked about would come back every turn: the end of the peer's sending half is
 * therefore told once while reading is not wanted, and where nothing is wanted only changes are told.
 */
static uint32_t mask_of(const struct mk_io *io)
{
    uint32_t mask = 0;

    if (io->wants & MK_IO_READ)
        mask |= EPOLLIN;
    if (io->wants & MK_IO_WRITE)
        mask |= EPOLLOUT;
    if (mask == 0 || (io->wants & MK_IO_EDGE))
        mask |= EPOLLET;
    if ((mask & (EPOLLIN | EPOLLET)) || !io->hung_up)
        mask |= EPOLLRDHUP;
    return mask;
}

/* @return 0 or the errno of epoll. */
static int tell_epoll(struct mk_io *io, uint32_t mask)
{
    errno = 0;
    if (mk_watch_open(&io->worker->loop, &io->watch, mask) < 0)
        return errno;
    io->mask = mask;
    return 0;
}

static unsigned io_events_of(const struct mk_io *io, uint32_t bits)
{
    unsigned events = 0;

    if (bits & EPOLLERR)
        events |= MK_IO_ERROR;
    if (bits & (EPOLLHUP | EPOLLRDHUP))
        events |= MK_IO_HANGUP;
    /* The end of a pipe is an EPOLLHUP alone. */
    if (bits & (EPOLLIN | EPOLLHUP | EPOLLRDHUP))
        events |= io->wants & MK_IO_READ;
    if (bits & EPOLLOUT)
        events |= io->wants & MK_IO_WRITE;
    return events;
}

static void on_io_event(struct mk_watch *w, uint32_t bits)
{
    struct mk_io *io = io_of(w);
    unsigned events = io_events_of(io, bits);

    if (bits & EPOLLRDHUP) {
        io->hung_up = true;
        if (mask_of(io) != io->mask)
            (void)tell_epoll(io, mask_of(io)); /* the worst is to be told once more */
    }
    if (events)
        io->fn(io, events, io->arg);
}

static void on_io_timer(struct mk_timer *t)
{
    struct mk_io *io = MK_CONTAINER_OF(t, struct mk_io, timer);

    io->fn(io, MK_IO_TIMEOUT, io->arg);
}

static void on_io_gone(struct mk_watch *w)
{
    mk_heap_free(io_of(w));
}

int mk_io_open(struct mk_io **out, struct mk_worker *w, int fd, unsigned events, mk_io_fn fn,
               void *arg)
{
    struct mk_io *io = mk_heap_alloc(sizeof(*io));
    int err;

    *out = NULL;
    if (!io)
        return MK_E_NOMEM;
    *io = (struct mk_io){.worker = w, .fn = fn, .arg = arg, .wants = events};
    mk_watch_init(&io->watch, fd, on_io_event, on_io_gone);
    mk_timer_init(&io->timer, on_io_timer);
    err = tell_epoll(io, mask_of(io));
    if (err != 0) {
        mk_heap_free(io);
        return err == ENOMEM || err == ENOSPC ? MK_E_NOMEM : MK_E_INVALID;
    }
    *out = io;
    return 0;
}

int mk_io_want(struct mk_io *io, unsigned events)
{
    unsigned before = io->wants;
    uint32_t mask;

    io->wants = events;
    mask = mask_of(io);
    if (mask == io->mask && !(events & MK_IO_EDGE))
        return 0;
    if (tell_epoll(io, mask) == 0)
        return 0;
    io->wants = before;
    return MK_E_NOMEM;
}

void mk_io_timeout(struct mk_io *io, unsigned ms)
{
    struct mk_loop *loop = &io->worker->loop;

    if (ms == 0)
        mk_timer_cancel(&io->timer);
    else
        mk_timer_set(&loop->wheel, &io->timer, loop->clock.mono_ms + ms);
}

int mk_io_fd(const struct mk_io *io)
{
    return io->watch.fd;
}

void mk_io_close(struct mk_io *io)
{
    if (!io)
        return;
    mk_timer_cancel(&io->timer);
    /* A plugin may have given a copy of the descriptor away, to a child process say: that would keep it in epoll. */
    mk_watch_pause(&io->worker->loop, &io->watch);
    mk_watch_close(&io->worker->loop, &io->watch);
}

int mk_io_release(struct mk_io *io)
{
    mk_timer_cancel(&io->timer);
    return mk_watch_release(&io->worker->loop, &io->watch);
}
