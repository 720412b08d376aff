/* SPDX-License-Identifier: Apache-2.0 */
#ifndef MK_CORE_LOOP_H
#define MK_CORE_LOOP_H

#include "base/code.h"
#include "core/clock.h"
#include "core/timer.h"

#include <monkey/types.h>

#include <pthread.h>
#include <stdatomic.h>
#include <sys/epoll.h>

/*
 * One thread's event loop. The rules of life, the same for every watched object:
 *
 *  1. Its memory belongs to whoever embeds the mk_watch; the loop never frees it by itself.
 *  2. init, then open and later close; open registers the descriptor once.
 *  3. on_event gets epoll's bits, or MK_RUN when it had been queued with mk_watch_run_soon.
 *  4. close takes it out of epoll and the ready list, and calls on_gone at the end of the turn: memory goes
 *     back there and nowhere else, since an event of this turn may still name it.
 *  5. Everything runs on the loop's thread, but mk_loop_post and mk_loop_wake.
 */

enum { MK_RUN = 1 << 20 }; /* not an epoll bit: the turn the watch asked for */

struct mk_loop;
struct mk_watch;
typedef void (*mk_event_fn)(struct mk_watch *w, uint32_t events);
typedef void (*mk_gone_fn)(struct mk_watch *w);

struct mk_watch {
    mk_event_fn on_event;
    mk_gone_fn on_gone;
    struct mk_list ready; /* in the loop's ready list, or in its list of the gone */
    int fd;               /* -1 once closed */
    bool in_epoll;
};

/** Something to be done at the end of a turn; whoever embeds it keeps it until fn is called or it is taken off. */
struct mk_late {
    struct mk_list link;
    void (*fn)(struct mk_late *late);
};

/** Work brought from another thread; the sender's memory until fn is called, then fn's. */
struct mk_post {
    struct mk_post *next;
    void (*fn)(struct mk_post *post);
};

/** Somebody who looks after loops that turn, and sleeps while none does. */
struct mk_lookout {
    atomic_bool asleep;
    void (*wake)(struct mk_lookout *lookout); /* any thread */
};

struct mk_loop {
    struct mk_lookout *lookout; /* NULL: none */
    int epfd, wakefd;
    atomic_bool sleeping; /* in epoll_wait, or about to be: whoever brings work must wake it */
    struct mk_clock clock;
    struct mk_wheel wheel;
    struct mk_list ready;
    struct mk_list late;
    struct mk_list gone;
    atomic_bool posted; /* posts may be there */
    pthread_mutex_t post_lock;
    struct mk_post *posts, **posts_tail; /* under post_lock */
    uint64_t turns;
};

/** @return 0, MK_E_NOFD, MK_E_NOMEM or MK_E_SYS. */
int mk_loop_init(struct mk_loop *loop) MK_MUST_USE;
void mk_loop_fini(struct mk_loop *loop);

void mk_watch_init(struct mk_watch *w, int fd, mk_event_fn on_event, mk_gone_fn on_gone);
/** Register with epoll for these events, or change them when registered. @return 0, MK_E_NOMEM or MK_E_SYS. */
MK_INSIDE int mk_watch_open(struct mk_loop *loop, struct mk_watch *w, uint32_t events) MK_MUST_USE;
/** Take out of epoll; the descriptor stays open. */
void mk_watch_pause(struct mk_loop *loop, struct mk_watch *w);
/** End the registration, close the descriptor and let on_gone have the object at the end of the turn. */
void mk_watch_close(struct mk_loop *loop, struct mk_watch *w);
/** The same, but the descriptor stays open. @return it, the caller's. */
int mk_watch_release(struct mk_loop *loop, struct mk_watch *w) MK_MUST_USE;
/** Let on_gone have a closed one before the turn ends. It never was in epoll, and no function under way has the object. */
MK_INSIDE void mk_watch_bury(struct mk_watch *w);
/** Call on_event(MK_RUN) after the events of this turn; twice is once. */
MK_INSIDE void mk_watch_run_soon(struct mk_loop *loop, struct mk_watch *w);

static inline void mk_late_init(struct mk_late *late, void (*fn)(struct mk_late *late))
{
    mk_list_init(&late->link);
    late->fn = fn;
}
/** Call fn at the end of this turn, behind everything else; set by such an fn: of the next, which does not wait. */
void mk_late_set(struct mk_loop *loop, struct mk_late *late);
/** Not any more. fn may free it: it is taken off before it is called. */
void mk_late_cancel(struct mk_late *late);

/** Run fn(post) on the loop's thread. Any thread. */
MK_INSIDE void mk_loop_post(struct mk_loop *loop, struct mk_post *post);
/** Make a sleeping loop turn. Any thread. */
void mk_loop_wake(struct mk_loop *loop);

/**
 * One turn: wait at most max_wait_ms (-1: until something happens), handle events, timers, posts
 * and one round of the ready list, then what was set for the end of the turn, and bury the gone.
 * @param before_sleep  called with arg after sleeping was announced; true: there is work, do not wait. May be NULL
 */
void mk_loop_turn(struct mk_loop *loop, int max_wait_ms, bool (*before_sleep)(void *arg),
                  void *arg);

/** Milliseconds until the next turn has something to do that epfd does not show: 0 now, -1 never. On the loop's thread. */
int mk_loop_wait_ms(struct mk_loop *loop);

/**
 * After a turn of a loop that somebody else's loop watches: from now on epfd becomes readable when work is brought.
 * @param before_sleep  as for mk_loop_turn, not NULL
 */
void mk_loop_rest(struct mk_loop *loop, bool (*before_sleep)(void *arg), void *arg);

/**
 * For a loop whose thread has ended: run what was posted and set for the end of a turn, and bury the gone.
 * @return whether there was anything.
 */
bool mk_loop_drain(struct mk_loop *loop);

#endif
