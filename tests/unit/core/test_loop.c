/* SPDX-License-Identifier: Apache-2.0 */
#include "core_test.h"

#include "base/heap.h"
#include "base/limits.h"
#include "core/loop.h"

#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

struct probe {
    struct mk_watch watch;
    struct mk_loop *loop;
    int events, runs, gone;
    uint32_t last;
    struct probe *closes; /* another one, or itself, in on_event */
    bool again;           /* asks for another turn in on_event */
    struct mk_post post;
};

static void on_event(struct mk_watch *w, uint32_t events)
{
    struct probe *p = MK_CONTAINER_OF(w, struct probe, watch);

    if (events == MK_RUN)
        p->runs++;
    else
        p->events++;
    p->last = events;
    if (p->again)
        mk_watch_run_soon(p->loop, w);
    if (p->closes && p->closes->watch.fd >= 0)
        mk_watch_close(p->loop, &p->closes->watch);
}

static void on_gone(struct mk_watch *w)
{
    MK_CONTAINER_OF(w, struct probe, watch)->gone++;
}

static void open_probe(struct probe *p, struct mk_loop *loop, unsigned count)
{
    int fd = eventfd(count, EFD_CLOEXEC | EFD_NONBLOCK);

    *p = (struct probe){.loop = loop};
    assert_true(fd >= 0);
    mk_watch_init(&p->watch, fd, on_event, on_gone);
    assert_int_equal(mk_watch_open(loop, &p->watch, EPOLLIN | EPOLLET), 0);
}

static void turn(struct mk_loop *loop)
{
    mk_loop_turn(loop, 0, NULL, NULL);
}

static void events_come_once_an_edge(void **state)
{
    struct mk_loop loop;
    struct probe p;

    (void)state;
    assert_int_equal(mk_loop_init(&loop), 0);
    open_probe(&p, &loop, 1);
    turn(&loop);
    assert_int_equal(p.events, 1);
    assert_true(p.last & EPOLLIN);
    turn(&loop);
    assert_int_equal(p.events, 1);
    assert_int_equal(eventfd_write(p.watch.fd, 1), 0);
    turn(&loop);
    assert_int_equal(p.events, 2);
    mk_watch_pause(&loop, &p.watch);
    assert_int_equal(eventfd_write(p.watch.fd, 1), 0);
    turn(&loop);
    assert_int_equal(p.events, 2);
    assert_int_equal(mk_watch_open(&loop, &p.watch, EPOLLOUT | EPOLLET), 0);
    turn(&loop);
    assert_int_equal(p.last, EPOLLOUT);
    mk_watch_close(&loop, &p.watch);
    turn(&loop);
    assert_int_equal(p.gone, 1);
    assert_int_equal(loop.turns, 6);
    mk_loop_fini(&loop);
}

/* Both have an event in the same turn; the first closes the other, which must not hear of its own. */
static void a_closed_watch_hears_nothing_and_goes_at_the_end(void **state)
{
    struct mk_loop loop;
    struct probe a, b;

    (void)state;
    assert_int_equal(mk_loop_init(&loop), 0);
    open_probe(&a, &loop, 1);
    open_probe(&b, &loop, 1);
    a.closes = &b;
    b.closes = &a;
    turn(&loop);
    assert_int_equal(a.events + b.events, 1);
    assert_int_equal(a.gone + b.gone, 1);
    mk_watch_close(&loop, a.gone ? &b.watch : &a.watch);
    turn(&loop);
    assert_int_equal(a.gone, 1);
    assert_int_equal(b.gone, 1);
    mk_loop_fini(&loop);
}

static void one_without_a_descriptor_can_go_before_the_end(void **state)
{
    struct mk_loop loop;
    struct probe p = {.events = 0};

    (void)state;
    assert_int_equal(mk_loop_init(&loop), 0);
    mk_watch_init(&p.watch, -1, on_event, on_gone);
    mk_watch_run_soon(&loop, &p.watch);
    assert_int_equal(mk_watch_release(&loop, &p.watch), -1);
    assert_int_equal(p.gone, 0);
    mk_watch_bury(&p.watch);
    assert_int_equal(p.gone, 1);
    turn(&loop);
    assert_int_equal(p.events + p.runs, 0);
    assert_int_equal(p.gone, 1);
    mk_loop_fini(&loop);
}

/* fork() copies descriptors, and epoll knows a description until the last copy of it is closed. */
static void a_closed_watch_hears_nothing_of_a_copy_of_its_descriptor(void **state)
{
    struct mk_loop loop;
    struct probe p;
    int copy;
    uint64_t one = 1;

    (void)state;
    assert_int_equal(mk_loop_init(&loop), 0);
    open_probe(&p, &loop, 0);
    copy = dup(p.watch.fd);
    assert_true(copy >= 0);
    mk_watch_close(&loop, &p.watch);
    turn(&loop);
    assert_int_equal(p.gone, 1);
    p.watch.fd = copy; /* its memory is another object's now */
    assert_int_equal(write(copy, &one, sizeof(one)), sizeof(one));
    turn(&loop);
    assert_int_equal(p.events, 0);
    close(copy);
    mk_loop_fini(&loop);
}

static void a_ready_watch_runs_once_a_turn(void **state)
{
    struct mk_loop loop;
    struct probe p, q;

    (void)state;
    assert_int_equal(mk_loop_init(&loop), 0);
    open_probe(&p, &loop, 0);
    open_probe(&q, &loop, 0);
    mk_watch_run_soon(&loop, &p.watch);
    mk_watch_run_soon(&loop, &p.watch);
    turn(&loop);
    assert_int_equal(p.runs, 1);
    turn(&loop);
    assert_int_equal(p.runs, 1);
    p.again = true;
    mk_watch_run_soon(&loop, &p.watch);
    mk_loop_turn(&loop, -1, NULL, NULL); /* does not wait while somebody is ready */
    mk_loop_turn(&loop, -1, NULL, NULL);
    assert_int_equal(p.runs, 3);
    /* A ready one may close one that is ready behind it. */
    p.again = false;
    p.closes = &q;
    mk_watch_run_soon(&loop, &q.watch);
    turn(&loop);
    assert_int_equal(p.runs, 4);
    assert_int_equal(q.runs, 0);
    assert_int_equal(q.gone, 1);
    p.closes = &p;
    mk_watch_run_soon(&loop, &p.watch);
    turn(&loop);
    assert_int_equal(p.gone, 1);
    mk_loop_fini(&loop);
}

static void on_timer(struct mk_timer *t)
{
    t->fn = NULL;
}

/* More descriptors are ready than a turn looks at: the others have the next one, which does not wait. */
static void a_turn_takes_so_many_events(void **state)
{
    enum { COUNT = MK_LIMIT_TURN_EVENTS + 10 };
    struct probe *probes = mk_heap_zalloc(COUNT, sizeof(*probes));
    struct mk_loop loop;
    int events = 0;

    (void)state;
    assert_non_null(probes);
    assert_int_equal(mk_loop_init(&loop), 0);
    for (int i = 0; i < COUNT; i++)
        open_probe(&probes[i], &loop, 1);
    turn(&loop);
    for (int i = 0; i < COUNT; i++)
        events += probes[i].events;
    assert_int_equal(events, MK_LIMIT_TURN_EVENTS);
    turn(&loop);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(probes[i].events, 1);
        mk_watch_close(&loop, &probes[i].watch);
    }
    turn(&loop);
    mk_loop_fini(&loop);
    mk_heap_free(probes);
}

static void timers_end_the_wait(void **state)
{
    struct mk_loop loop;
    struct mk_timer timer;
    int turns = 0;

    (void)state;
    assert_int_equal(mk_loop_init(&loop), 0);
    mk_timer_init(&timer, on_timer);
    mk_timer_set(&loop.wheel, &timer, loop.clock.mono_ms + 100);
    for (; timer.fn && turns < 10; turns++)
        mk_loop_turn(&loop, -1, NULL, NULL);
    assert_null(timer.fn);
    assert_true(turns < 5);
    mk_loop_fini(&loop);
}

static bool there_is_work(void *arg)
{
    return ++*(int *)arg > 0;
}

static void work_seen_before_sleeping_ends_the_wait(void **state)
{
    struct mk_loop loop;
    int asked = 0;

    (void)state;
    assert_int_equal(mk_loop_init(&loop), 0);
    mk_loop_turn(&loop, -1, there_is_work, &asked);
    assert_int_equal(asked, 1);
    mk_loop_turn(&loop, 0, there_is_work, &asked); /* no sleep, no question */
    assert_int_equal(asked, 1);
    mk_loop_fini(&loop);
}

/* ---- from another thread ---- */

enum { POSTS = 2000 };

struct mail {
    struct mk_loop *loop;
    struct mk_post posts[POSTS];
};

static atomic_int received;
static int in_order;

static void on_post(struct mk_post *post)
{
    static struct mk_post *last;

    if (atomic_fetch_add(&received, 1) == 0 || post == last + 1)
        in_order++;
    last = post;
}

static void *send_posts(void *arg)
{
    struct mail *mail = arg;

    for (int i = 0; i < POSTS; i++) {
        mail->posts[i].fn = on_post;
        mk_loop_post(mail->loop, &mail->posts[i]);
        if (i % 100 == 0)
            (void)usleep(100); /* let the loop fall asleep now and then */
    }
    return NULL;
}

static void posts_arrive_in_order_and_wake_the_loop(void **state)
{
    static struct mail mail;
    struct mk_loop loop;
    pthread_t thread;

    (void)state;
    assert_int_equal(mk_loop_init(&loop), 0);
    mail.loop = &loop;
    assert_int_equal(pthread_create(&thread, NULL, send_posts, &mail), 0);
    while (atomic_load(&received) < POSTS)
        mk_loop_turn(&loop, -1, NULL, NULL);
    pthread_join(thread, NULL);
    assert_int_equal(in_order, POSTS);
    mk_loop_fini(&loop);
}

static atomic_int wake_seen;

static bool look(void *arg)
{
    (void)arg;
    return atomic_load(&wake_seen) != 0;
}

static void *wake_later(void *arg)
{
    (void)usleep(2000);
    atomic_store(&wake_seen, 1);
    mk_loop_wake(arg);
    return NULL;
}

static void a_wake_up_is_never_lost(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        struct mk_loop loop;
        pthread_t thread;

        atomic_store(&wake_seen, 0);
        assert_int_equal(mk_loop_init(&loop), 0);
        assert_int_equal(pthread_create(&thread, NULL, wake_later, &loop), 0);
        while (!look(NULL))
            mk_loop_turn(&loop, -1, look, NULL);
        pthread_join(thread, NULL);
        mk_loop_fini(&loop);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_come_once_an_edge),
        cmocka_unit_test(a_closed_watch_hears_nothing_and_goes_at_the_end),
        cmocka_unit_test(one_without_a_descriptor_can_go_before_the_end),
        cmocka_unit_test(a_closed_watch_hears_nothing_of_a_copy_of_its_descriptor),
        cmocka_unit_test(a_ready_watch_runs_once_a_turn),
        cmocka_unit_test(a_turn_takes_so_many_events),
        cmocka_unit_test(timers_end_the_wait),
        cmocka_unit_test(work_seen_before_sleeping_ends_the_wait),
        cmocka_unit_test(posts_arrive_in_order_and_wake_the_loop),
        cmocka_unit_test(a_wake_up_is_never_lost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
