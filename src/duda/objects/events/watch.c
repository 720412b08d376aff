/* SPDX-License-Identifier: Apache-2.0 */
#include "objects/events/event.h"

#include "service/service.h"

#include <monkey/events.h>

#include <sys/ioctl.h>

/* A descriptor that a service watches on one worker. */
struct watch {
    struct duda_event_handler h; /* first: lookup() gives it; its mode is the one before SLEEP */
    struct watch *next;
    struct mk_io *io;
    struct mk_duda_service *service;
    struct mk_duda_worker *worker;
    dev_t device; /* of the file behind it */
    ino_t inode;
    bool is_busy; /* one of its call-backs runs */
    bool is_gone; /* deleted meanwhile */
    bool is_odd;  /* a call-back gave no result of the interface, which was logged */
};

enum { WATCH_CHAINS = 64 };

/* Of a service on one worker, by descriptor. */
struct watches {
    struct watch *chains[WATCH_CHAINS];
};

static struct watches *watches_here(void)
{
    const struct mk_duda_here *here = mk_duda_here();

    return here->service && here->worker
               ? mk_duda_local(here->service, here->worker, MK_DUDA_PART_WATCH)
               : NULL;
}

static struct watch **place_of(struct watches *all, int fd)
{
    struct watch **at = &all->chains[(unsigned)fd % WATCH_CHAINS];

    while (*at && (*at)->h.sockfd != fd)
        at = &(*at)->next;
    return at;
}

static struct watch *find(int fd)
{
    struct watches *all = watches_here();

    return all && fd >= 0 ? *place_of(all, fd) : NULL;
}

static void forget(struct watches *all, struct watch *w)
{
    struct watch **place = place_of(all, w->h.sockfd);

    if (*place == w)
        *place = w->next;
    w->is_gone = true;
    if (!w->is_busy)
        free(w);
}

/*
 * A service may close its descriptor without event->delete(). Its number may then be that of a connection, which must lose
 * neither its descriptor nor its place in the loop: the io is left alone, at the cost of its memory.
 */
static bool is_stale(const struct watch *w)
{
    struct stat st;

    return fstat(w->h.sockfd, &st) < 0 || st.st_dev != w->device || st.st_ino != w->inode;
}

/* Watch no more. @param closes  the descriptor, too */
static void let_go(struct watches *all, struct watch *w, bool closes)
{
    if (!is_stale(w)) {
        int fd = mk_io_release(w->io);

        if (closes)
            (void)close(fd);
    }
    forget(all, w);
}

/* ---- events ---- */

/* @return what the service says, or `missing` without this call-back */
static int call(struct watch *w, int (*callback)(int, void *), int missing)
{
    struct mk_duda_here before;
    int result;

    if (!callback)
        return missing;
    before = mk_duda_enter(w->service, w->worker);
    result = callback(w->h.sockfd, w->h.cb_data);
    mk_duda_leave(before);
    if (result != DUDA_EVENT_OWNED && result != DUDA_EVENT_CLOSE && result != DUDA_EVENT_CONTINUE &&
        !w->is_odd) {
        w->is_odd = true;
        mk_duda_log(w->service, MK_LOG_WARN, "event: a call-back of descriptor %d returned %d",
                    w->h.sockfd, result);
    }
    return result;
}

/*
 * The descriptor has ended, or the service wants it closed: its on_close is called once. With OWNED the descriptor is
 * the service's, which may have closed it already.
 */
static void end(struct watch *w, int (*last)(int, void *))
{
    struct watches *all = mk_duda_local(w->service, w->worker, MK_DUDA_PART_WATCH);
    int result = call(w, last, DUDA_EVENT_CLOSE);

    if (w->is_gone)
        return;
    let_go(all, w, result != DUDA_EVENT_OWNED);
}

/* The first implementation called on_close alone, and on_error never. */
static int (*last_of(const struct watch *w, unsigned events))(int, void *)
{
    if (events & MK_IO_TIMEOUT && w->h.cb_on_timeout)
        return w->h.cb_on_timeout;
    if (w->h.cb_on_close)
        return w->h.cb_on_close;
    return w->h.cb_on_error ? w->h.cb_on_error : w->h.cb_on_read;
}

/* Bytes that came before the end are read first. */
static bool has_ended(const struct watch *w, unsigned events)
{
    int left = 0;

    if (events & MK_IO_TIMEOUT)
        return true;
    if (!(events & (MK_IO_ERROR | MK_IO_HANGUP)))
        return false;
    return !(events & MK_IO_READ) || !w->h.cb_on_read || ioctl(w->h.sockfd, FIONREAD, &left) < 0 ||
           left == 0;
}

static void on_events(struct mk_io *io, unsigned events, void *arg)
{
    struct watch *w = arg;
    int result = DUDA_EVENT_OWNED;

    (void)io;
    w->is_busy = true;
    if (has_ended(w, events)) {
        end(w, last_of(w, events));
    } else {
        if (events & MK_IO_READ)
            result = call(w, w->h.cb_on_read, DUDA_EVENT_CONTINUE);
        if (events & MK_IO_WRITE && !w->is_gone && result != DUDA_EVENT_CLOSE)
            result = call(w, w->h.cb_on_write, DUDA_EVENT_CONTINUE);
        if (result == DUDA_EVENT_CLOSE && !w->is_gone)
            end(w, w->h.cb_on_close);
    }
    w->is_busy = false;
    if (w->is_gone)
        free(w);
}

static unsigned wanted(int mode, int behavior)
{
    unsigned edge = behavior == (int)DUDA_EVENT_EDGE_TRIGGERED ? MK_IO_EDGE : 0;

    switch (mode) {
    case DUDA_EVENT_READ:
        return MK_IO_READ | edge;
    case DUDA_EVENT_WRITE:
        return MK_IO_WRITE | edge;
    case DUDA_EVENT_RW:
        return MK_IO_READ | MK_IO_WRITE | edge;
    default:
        return 0;
    }
}

/* ---- calls ---- */

int mk_duda_watch_add(int fd, int mode, int behavior, int (*on_read)(int, void *),
                      int (*on_write)(int, void *), int (*on_error)(int, void *),
                      int (*on_close)(int, void *), int (*on_timeout)(int, void *), void *arg)
{
    const struct mk_duda_here *here = mk_duda_here();
    struct watches *all = watches_here();
    struct watch *w = all && fd >= 0 ? calloc(1, sizeof(*w)) : NULL;
    struct stat st;

    if (!w || fstat(fd, &st) < 0) {
        free(w);
        return -1;
    }
    w->h = (struct duda_event_handler){fd,       mode,     behavior,   on_read, on_write,
                                       on_error, on_close, on_timeout, arg};
    w->service = here->service;
    w->worker = here->worker;
    w->device = st.st_dev;
    w->inode = st.st_ino;
    (void)mk_duda_watch_delete(fd); /* watched already, or before it was closed and came again */
    if (mk_io_open(&w->io, here->worker->worker, fd, wanted(mode, behavior), on_events, w) < 0) {
        free(w);
        return -1;
    }
    w->next = all->chains[(unsigned)fd % WATCH_CHAINS];
    all->chains[(unsigned)fd % WATCH_CHAINS] = w;
    return 0;
}

struct duda_event_handler *mk_duda_watch_lookup(int fd)
{
    struct watch *w = find(fd);

    return w ? &w->h : NULL;
}

int mk_duda_watch_mode(int fd, int mode, int behavior)
{
    struct watch *w = find(fd);
    bool sleeps = mode == DUDA_EVENT_SLEEP;

    if (!w)
        return -1;
    if (mode == DUDA_EVENT_WAKEUP) {
        mode = w->h.mode;
        behavior = w->h.behavior;
    }
    if (mk_io_want(w->io, sleeps ? 0 : wanted(mode, behavior)) < 0)
        return -1;
    if (!sleeps) {
        w->h.mode = mode;
        w->h.behavior = behavior;
    }
    return 0;
}

int mk_duda_watch_delete(int fd)
{
    struct watch *w = find(fd);

    if (!w)
        return -1;
    let_go(watches_here(), w, false);
    return 0;
}

static void worker_stop(struct mk_duda_service *s, struct mk_duda_worker *worker)
{
    struct watches *all = mk_duda_local(s, worker, MK_DUDA_PART_WATCH);

    for (unsigned i = 0; i < WATCH_CHAINS; i++)
        for (struct watch *w = all->chains[i], *next; w; w = next) {
            next = w->next;
            let_go(all, w, true);
        }
}

const struct mk_duda_part mk_duda_watch_part = {
    .local_size = sizeof(struct watches),
    .worker_stop = worker_stop,
};
