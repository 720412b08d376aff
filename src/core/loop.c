/* SPDX-License-Identifier: Apache-2.0 */
#include "core/loop.h"

#include "base/code.h"
#include "base/invariant.h"
#include "base/limits.h"
#include "core/calls.h"
#include "core/fd.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

int mk_loop_init(struct mk_loop *loop)
{
    struct epoll_event ev = {.events = EPOLLIN | EPOLLET, .data.ptr = NULL};

    *loop = (struct mk_loop){.epfd = -1, .wakefd = -1};
    mk_clock_update(&loop->clock);
    mk_wheel_init(&loop->wheel, loop->clock.mono_ms);
    mk_list_init(&loop->ready);
    mk_list_init(&loop->late);
    mk_list_init(&loop->gone);
    loop->posts_tail = &loop->posts;
    pthread_mutex_init(&loop->post_lock, NULL);
    loop->epfd = epoll_create1(EPOLL_CLOEXEC);
    if (loop->epfd < 0)
        goto fail;
    loop->wakefd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (loop->wakefd < 0 || epoll_ctl(loop->epfd, EPOLL_CTL_ADD, loop->wakefd, &ev) < 0)
        goto fail;
    return 0;

fail : {
    int err = mk_error_from_errno(errno);

    mk_loop_fini(loop);
    return err;
}
}

MK_AT_START void mk_loop_fini(struct mk_loop *loop)
{
    mk_fd_close(&loop->wakefd);
    mk_fd_close(&loop->epfd);
    pthread_mutex_destroy(&loop->post_lock);
}

void mk_watch_init(struct mk_watch *w, int fd, mk_event_fn on_event, mk_gone_fn on_gone)
{
    w->on_event = on_event;
    w->on_gone = on_gone;
    w->fd = fd;
    w->in_epoll = false;
    mk_list_init(&w->ready);
}

int mk_watch_open(struct mk_loop *loop, struct mk_watch *w, uint32_t events)
{
    struct epoll_event ev = {.events = events, .data.ptr = w};

    if (epoll_ctl(loop->epfd, w->in_epoll ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, w->fd, &ev) < 0)
        return mk_error_from_errno(errno);
    w->in_epoll = true;
    return 0;
}

void mk_watch_pause(struct mk_loop *loop, struct mk_watch *w)
{
    if (w->in_epoll)
        (void)epoll_ctl(loop->epfd, EPOLL_CTL_DEL, w->fd, NULL);
    w->in_epoll = false;
}

static void begin_to_go(struct mk_loop *loop, struct mk_watch *w)
{
    w->fd = -1;
    w->in_epoll = false;
    mk_list_remove(&w->ready);
    mk_list_add_tail(&loop->gone, &w->ready);
}

void mk_watch_close(struct mk_loop *loop, struct mk_watch *w)
{
    /* A copy in a child that was forked and has not executed yet would keep the registration alive. */
    mk_watch_pause(loop, w);
    mk_fd_close(&w->fd);
    begin_to_go(loop, w);
}

int mk_watch_release(struct mk_loop *loop, struct mk_watch *w)
{
    int fd = w->fd;

    mk_watch_pause(loop, w);
    begin_to_go(loop, w);
    return fd;
}

void mk_watch_bury(struct mk_watch *w)
{
    mk_list_remove(&w->ready);
    w->on_gone(w);
}

void mk_watch_run_soon(struct mk_loop *loop, struct mk_watch *w)
{
    if (!mk_list_is_linked(&w->ready))
        mk_list_add_tail(&loop->ready, &w->ready);
}

void mk_late_set(struct mk_loop *loop, struct mk_late *late)
{
    if (!mk_list_is_linked(&late->link))
        mk_list_add_tail(&loop->late, &late->link);
}

void mk_late_cancel(struct mk_late *late)
{
    mk_list_remove(&late->link);
}

void mk_loop_wake(struct mk_loop *loop)
{
    uint64_t one = 1;

    /* A full counter (EAGAIN) means that a wake-up is pending anyway. */
    if (atomic_exchange(&loop->sleeping, false))
        (void)!write(loop->wakefd, &one, sizeof(one));
}

void mk_loop_post(struct mk_loop *loop, struct mk_post *post)
{
    post->next = NULL;
    pthread_mutex_lock(&loop->post_lock);
    *loop->posts_tail = post;
    loop->posts_tail = &post->next;
    atomic_store(&loop->posted, true);
    pthread_mutex_unlock(&loop->post_lock);
    mk_loop_wake(loop);
}

/* @return whether there was one. */
static bool run_posts(struct mk_loop *loop)
{
    struct mk_post *post;

    if (!atomic_load_explicit(&loop->posted, memory_order_acquire))
        return false;
    pthread_mutex_lock(&loop->post_lock);
    atomic_store(&loop->posted, false);
    post = loop->posts;
    loop->posts = NULL;
    loop->posts_tail = &loop->posts;
    pthread_mutex_unlock(&loop->post_lock);
    while (post) {
        struct mk_post *next = post->next;

        post->fn(post);
        post = next;
    }
    return true;
}

static void run_ready(struct mk_loop *loop)
{
    struct mk_list round;

    if (mk_list_is_empty(&loop->ready))
        return;
    mk_list_init(&round);
    mk_list_splice_tail(&round, &loop->ready);
    while (!mk_list_is_empty(&round)) {
        struct mk_watch *w = MK_CONTAINER_OF(round.next, struct mk_watch, ready);

        mk_list_remove(&w->ready);
        w->on_event(w, MK_RUN);
    }
}

/* One round: what sets itself again comes with the next turn. */
static void run_late(struct mk_loop *loop)
{
    struct mk_list round;

    if (mk_list_is_empty(&loop->late))
        return;
    mk_list_init(&round);
    mk_list_splice_tail(&round, &loop->late);
    while (!mk_list_is_empty(&round)) {
        struct mk_late *late = MK_CONTAINER_OF(round.next, struct mk_late, link);

        mk_list_remove(&late->link);
        late->fn(late);
    }
}

static void bury_gone(struct mk_loop *loop)
{
    while (!mk_list_is_empty(&loop->gone))
        mk_watch_bury(MK_CONTAINER_OF(loop->gone.next, struct mk_watch, ready));
}

static int wait_ms(struct mk_loop *loop, int max_wait_ms)
{
    int due_ms = mk_wheel_wait_ms(&loop->wheel, loop->clock.mono_ms);

    if (!mk_list_is_empty(&loop->ready) || !mk_list_is_empty(&loop->late) ||
        !mk_list_is_empty(&loop->gone))
        return 0;
    if (due_ms < 0 || (max_wait_ms >= 0 && max_wait_ms < due_ms))
        return max_wait_ms;
    return due_ms;
}

static int wait_for_events(struct mk_loop *loop, struct epoll_event *events, int max_wait_ms,
                           bool (*before_sleep)(void *arg), void *arg)
{
    int timeout_ms = wait_ms(loop, max_wait_ms), n;

    if (timeout_ms != 0) {
        atomic_store(&loop->sleeping, true);
        if (atomic_load(&loop->posted) || (before_sleep && before_sleep(arg)))
            timeout_ms = 0;
    }
    n = mk_call_epoll_wait(loop->epfd, events, MK_LIMIT_TURN_EVENTS, timeout_ms);
    atomic_store_explicit(&loop->sleeping, false, memory_order_relaxed);
    return n;
}

static void drain_wakefd(struct mk_loop *loop)
{
    uint64_t count;

    (void)!read(loop->wakefd, &count, sizeof(count));
}

int mk_loop_wait_ms(struct mk_loop *loop)
{
    mk_clock_update(&loop->clock);
    return wait_ms(loop, -1);
}

void mk_loop_rest(struct mk_loop *loop, bool (*before_sleep)(void *arg), void *arg)
{
    atomic_store(&loop->sleeping, true);
    if (atomic_load(&loop->posted) || before_sleep(arg))
        mk_loop_wake(loop);
}

void mk_loop_turn(struct mk_loop *loop, int max_wait_ms, bool (*before_sleep)(void *arg), void *arg)
{
    struct epoll_event events[MK_LIMIT_TURN_EVENTS];
    int n = wait_for_events(loop, events, max_wait_ms, before_sleep, arg);

    loop->turns++;
    if (MK_UNLIKELY(loop->lookout &&
                    atomic_load_explicit(&loop->lookout->asleep, memory_order_relaxed)))
        loop->lookout->wake(loop->lookout);
    mk_clock_update(&loop->clock);
    for (int i = 0; i < n; i++) {
        struct mk_watch *w = events[i].data.ptr;

        if (!w)
            drain_wakefd(loop);
        else if (w->fd >= 0) /* closed by an earlier event of this turn otherwise */
            w->on_event(w, events[i].events);
    }
    mk_wheel_run(&loop->wheel, loop->clock.mono_ms);
    (void)run_posts(loop);
    run_ready(loop);
    run_late(loop);
    bury_gone(loop);
}

bool mk_loop_drain(struct mk_loop *loop)
{
    bool any = run_posts(loop) || !mk_list_is_empty(&loop->late) || !mk_list_is_empty(&loop->gone);

    run_late(loop);
    bury_gone(loop);
    return any;
}
