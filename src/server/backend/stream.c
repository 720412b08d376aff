/* SPDX-License-Identifier: Apache-2.0 */
#include "server/backend/stream.h"

#include "base/heap.h"
#include "base/invariant.h"
#include "base/limits.h"
#include "core/fd.h"
#include "server/worker/worker.h"

#include <errno.h>
#include <sys/socket.h>

/* ---- states ---- */

#define TO(name) (1U << MK_STREAM_##name)

const struct mk_states mk_stream_states = {
    .what = "stream", .id = "stream", .in = MK_LOG_CONN, MK_STATES_OF(MK_STREAM_STATES)};

void mk_stream_go(struct mk_stream *s, enum mk_stream_state to)
{
    struct mk_log *log = mk_worker_log(s->worker);

    MK_INVARIANT(mk_states_allow(&mk_stream_states, s->state, to));
    if (MK_UNLIKELY(mk_log_traces(log, MK_LOG_CONN)))
        mk_states_trace(&mk_stream_states, log, s->id, 0, s->state, to);
    s->state = (uint8_t)to;
}

/* ---- events ---- */

static void on_stream_gone(struct mk_watch *w)
{
    struct mk_stream *s = MK_CONTAINER_OF(w, struct mk_stream, watch);

    mk_heap_free(s->protocol);
    mk_heap_free(s);
}

static void tell_owner(struct mk_stream *s, unsigned events)
{
    if (s->first)
        events |= MK_IO_READ | MK_IO_WRITE;
    s->first = false;
    s->fn(s, events, s->arg);
}

static void tell_what_waits(struct mk_stream *s)
{
    unsigned events = s->soon;

    s->soon = 0;
    if (events || s->first)
        tell_owner(s, events);
}

/*
 * What came before a reset is the owner's, however late it reads: what a transport of its own has in buffers, too, which
 * only a read can tell. For a client that left nobody reads.
 */
static bool has_unread(const struct mk_stream *s)
{
    char byte;

    return s->link == &s->own &&
           (!s->own.transport->is_plain || recv(s->own.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0);
}

static void on_stream_event(struct mk_watch *w, uint32_t bits)
{
    struct mk_stream *s = MK_CONTAINER_OF(w, struct mk_stream, watch);

    switch ((enum mk_stream_state)s->state) {
    case MK_STREAM_WAITING:
    case MK_STREAM_SHAKING:
        if (s->connect) /* a taken one waits for its head to leave */
            s->connect(s, bits);
        break;
    case MK_STREAM_OPEN:
        if (bits != MK_RUN)
            mk_stream_on_epoll(s, bits);
        else if (s->failing && !has_unread(s))
            mk_stream_break(s, MK_IO_ERROR);
        else
            tell_what_waits(s);
        break;
    case MK_STREAM_BROKEN:
    case MK_STREAM_CLOSED:
    case MK_STREAM_STATE_COUNT:
        break;
    }
}

static void on_stream_timer(struct mk_timer *t)
{
    struct mk_stream *s = MK_CONTAINER_OF(t, struct mk_stream, timer);

    if (s->state == MK_STREAM_OPEN || !s->connect) {
        tell_owner(s, MK_IO_TIMEOUT);
        return;
    }
    s->error = ETIMEDOUT;
    mk_stream_break(s, MK_IO_TIMEOUT);
}

/* ---- with a link of its own ---- */

/* The kernel tells of an error once: behind that, the input seems to end. EPIPE: it had ended before. */
static bool is_cut(const struct mk_stream *s)
{
    return s->error && s->error != EPIPE;
}

static ssize_t read_dialled(struct mk_stream *s, void *buf, size_t len)
{
    ssize_t n;

    if (!s->readable)
        return MK_E_AGAIN;
    n = mk_link_recv(s->link, buf, len);
    if (n == MK_E_AGAIN || (n > 0 && s->link->is_drained && !s->hung_up))
        s->readable = false; /* the next edge tells of more */
    return n == 0 && is_cut(s) ? MK_E_PEER : n;
}

/* Its descriptor is its own. */
static void close_link(struct mk_stream *s)
{
    mk_link_close(&s->own);
    mk_watch_pause(&s->worker->loop, &s->watch);
    mk_fd_close(&s->watch.fd);
}

static const struct mk_stream_kind dialled = {
    .read = read_dialled,
    .cut = close_link,
    .release = close_link,
};

struct mk_stream *mk_stream_new(struct mk_worker *w, mk_stream_fn fn, void *arg)
{
    struct mk_stream *s = mk_heap_zalloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->worker = w;
    s->id = ((uint64_t)w->index << 48) + ++w->nstreams;
    s->kind = &dialled;
    s->fn = fn;
    s->arg = arg;
    mk_watch_init(&s->watch, -1, on_stream_event, on_stream_gone);
    mk_timer_init(&s->timer, on_stream_timer);
    mk_list_add_tail(&w->streams, &s->all);
    return s;
}

void mk_stream_begin(struct mk_stream *s)
{
    mk_stream_go(s, MK_STREAM_OPEN);
    s->readable = true;
    s->first = true;
}

void mk_stream_tell_soon(struct mk_stream *s, unsigned events)
{
    s->soon |= (uint8_t)events;
    mk_watch_run_soon(&s->worker->loop, &s->watch);
}

/* A transport that must read to be able to write, or the reverse, may go on with either after any change. */
static unsigned stream_events_of(const struct mk_stream *s, uint32_t bits)
{
    unsigned events = s->link->waits_for ? MK_IO_READ | MK_IO_WRITE : 0U;

    if (bits & (EPOLLIN | EPOLLRDHUP | EPOLLHUP))
        events |= MK_IO_READ;
    if (bits & EPOLLOUT)
        events |= MK_IO_WRITE;
    if (bits & (EPOLLRDHUP | EPOLLHUP))
        events |= MK_IO_HANGUP;
    return events;
}

/* What came before a reset can still be read: one more event for that, and the error when nothing is left. */
static void fail_soon(struct mk_stream *s)
{
    socklen_t len = sizeof(s->error);

    s->failing = true;
    if (s->link == &s->own && !s->error)
        (void)getsockopt(s->link->fd, SOL_SOCKET, SO_ERROR, &s->error, &len);
    mk_watch_run_soon(&s->worker->loop, &s->watch);
    tell_owner(s, MK_IO_READ | MK_IO_HANGUP);
}

void mk_stream_on_epoll(struct mk_stream *s, uint32_t bits)
{
    unsigned events = stream_events_of(s, bits);

    if (events & MK_IO_READ)
        s->readable = true;
    if (events & MK_IO_HANGUP)
        s->hung_up = true;
    if (s->failing)
        return;
    if (bits & EPOLLERR)
        fail_soon(s);
    else if (events || s->first)
        tell_owner(s, events);
}

/* ---- who is told of its end ---- */

struct mk_stream_watcher {
    struct mk_stream_watcher *next;
    mk_taken_fn fn;
    void *arg;
};

int mk_stream_on_end(struct mk_stream *s, mk_taken_fn fn, void *arg)
{
    struct mk_stream_watcher *w = mk_heap_alloc(sizeof(*w));

    if (!w)
        return MK_E_NOMEM;
    *w = (struct mk_stream_watcher){s->watchers, fn, arg};
    s->watchers = w;
    return 0;
}

/* Once, whichever comes first: it breaks, or its owner closes it. */
static void tell_watchers(struct mk_stream *s, bool whole)
{
    const struct mk_taken taken = {
        .size = sizeof(taken), .received = s->received, .sent = s->sent, .whole = whole};

    while (s->watchers) {
        struct mk_stream_watcher *w = s->watchers;

        s->watchers = w->next;
        w->fn(w->arg, &taken);
        mk_heap_free(w);
    }
}

/* ---- its end ---- */

/* @return whether it had a link. */
static bool let_go(struct mk_stream *s)
{
    bool had_one = s->link != NULL;

    mk_timer_cancel(&s->timer);
    s->link = NULL;
    return had_one;
}

void mk_stream_break(struct mk_stream *s, unsigned events)
{
    if (s->state >= MK_STREAM_BROKEN)
        return;
    mk_stream_go(s, MK_STREAM_BROKEN);
    s->first = false;
    tell_watchers(s, false);
    if (let_go(s))
        s->kind->cut(s);
    tell_owner(s, events);
}

void mk_streams_end(struct mk_worker *w)
{
    struct mk_list untold;

    w->ended = true;
    mk_list_init(&untold);
    mk_list_splice_tail(&untold, &w->streams);
    while (!mk_list_is_empty(&untold)) { /* whoever is told may close any of the others */
        struct mk_stream *s = MK_CONTAINER_OF(untold.next, struct mk_stream, all);

        mk_list_remove(&s->all);
        mk_list_add_tail(&w->streams, &s->all);
        mk_stream_break(s, MK_IO_ERROR);
    }
}

void mk_streams_free(struct mk_worker *w)
{
    while (!mk_list_is_empty(&w->streams))
        mk_stream_close(MK_CONTAINER_OF(w->streams.next, struct mk_stream, all));
    (void)mk_loop_drain(&w->loop);
}

/* ---- what their owners call ---- */

ssize_t mk_stream_read(struct mk_stream *s, void *buf, size_t len)
{
    ssize_t n;

    if (s->state >= MK_STREAM_BROKEN)
        return MK_E_PEER;
    if (s->state != MK_STREAM_OPEN)
        return MK_E_AGAIN;
    n = s->kind->read(s, buf, len);
    if (n > 0)
        s->received += (uint64_t)n;
    s->lost = s->lost || n == MK_E_PEER;
    return n;
}

ssize_t mk_stream_write(struct mk_stream *s, const struct iovec *iov, int niov)
{
    ssize_t n;

    if (s->state >= MK_STREAM_BROKEN)
        return MK_E_PEER;
    if (s->state != MK_STREAM_OPEN)
        return MK_E_AGAIN;
    if (s->kind->write) {
        n = s->kind->write(s, iov, niov);
        s->lost = s->lost || n == MK_E_PEER;
        return n;
    }
    n = s->link->transport->send(
        s->link, iov, niov < MK_LIMIT_STREAM_PARTS ? niov : MK_LIMIT_STREAM_PARTS, false);
    if (n > 0)
        s->sent += (uint64_t)n;
    s->lost = s->lost || n == MK_E_PEER;
    if (n == MK_E_PEER && !s->error)
        s->error = errno;
    if (s->kind->on_write)
        s->kind->on_write(s, n);
    return n;
}

void mk_stream_shutdown(struct mk_stream *s)
{
    if (s->state != MK_STREAM_OPEN)
        return;
    if (s->kind->shutdown)
        s->kind->shutdown(s);
    else
        mk_link_shutdown(s->link);
}

int mk_stream_fd(const struct mk_stream *s)
{
    bool waits = s->kind->has_input && s->kind->has_input(s);

    return s->state == MK_STREAM_OPEN && s->link->transport->is_plain && !waits ? s->link->fd : -1;
}

void mk_stream_tell(struct mk_stream *s, mk_stream_fn fn, void *arg)
{
    s->fn = fn;
    s->arg = arg;
}

void mk_stream_timeout(struct mk_stream *s, unsigned ms)
{
    struct mk_loop *loop = &s->worker->loop;

    if (ms == 0 || s->state >= MK_STREAM_BROKEN)
        mk_timer_cancel(&s->timer);
    else
        mk_timer_set(&loop->wheel, &s->timer, loop->clock.mono_ms + ms);
}

void mk_stream_run_soon(struct mk_stream *s)
{
    if (s->state == MK_STREAM_OPEN)
        mk_stream_tell_soon(s, MK_IO_READ | MK_IO_WRITE);
}

void mk_stream_hold(struct mk_stream *s, size_t bytes)
{
    if (s && s->link && s->kind->hold)
        s->kind->hold(s, bytes);
}

int mk_stream_error(const struct mk_stream *s)
{
    return s->error;
}

static void close_by(struct mk_stream *s, void (*release)(struct mk_stream *s), bool whole)
{
    mk_stream_go(s, MK_STREAM_CLOSED);
    tell_watchers(s, whole && !s->failing && !s->lost);
    mk_list_remove(&s->all);
    if (let_go(s))
        release(s);
    mk_watch_close(&s->worker->loop, &s->watch);
}

void mk_stream_close(struct mk_stream *s)
{
    if (s && s->state != MK_STREAM_CLOSED)
        close_by(s, s->kind->release, true);
}

void mk_stream_abort(struct mk_stream *s)
{
    if (s && s->state != MK_STREAM_CLOSED)
        close_by(s, s->kind->abort ? s->kind->abort : s->kind->release, false);
}
