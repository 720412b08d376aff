/* SPDX-License-Identifier: Apache-2.0 */
#include "core_test.h"

#include "base/heap.h"
#include "base/limits.h"
#include "core/offload.h"

#include <semaphore.h>
#include <stdatomic.h>
#include <sys/resource.h>

enum { MANY = 200, THREADS = 3 };

struct site {
    struct mk_offload_pool pool;
    sem_t begun, may_end; /* of jobs that wait */
    sem_t finished;
    atomic_int running, most_running, turns;
};

struct probe {
    struct mk_offload_job job;
    struct site *site;
    bool waits;
    int worked, finished, nice, turn;
    char name[16];
    pthread_t thread;
};

static void do_work(struct mk_offload_job *job)
{
    struct probe *p = MK_CONTAINER_OF(job, struct probe, job);
    struct site *s = p->site;
    int running = atomic_fetch_add(&s->running, 1) + 1, most = atomic_load(&s->most_running);

    while (running > most && !atomic_compare_exchange_weak(&s->most_running, &most, running))
        ;
    p->worked++;
    p->turn = atomic_fetch_add(&s->turns, 1);
    p->thread = pthread_self();
    p->nice = getpriority(PRIO_PROCESS, 0);
    if (p->waits) {
        sem_post(&s->begun);
        sem_wait(&s->may_end);
    }
    (void)pthread_getname_np(pthread_self(), p->name, sizeof(p->name));
    atomic_fetch_sub(&s->running, 1);
}

static void do_finish(struct mk_offload_job *job)
{
    struct probe *p = MK_CONTAINER_OF(job, struct probe, job);

    p->finished++;
    sem_post(&p->site->finished);
}

static void site_open(struct site *s)
{
    mk_offload_pool_init(&s->pool, "offload", MK_OFFLOAD_THREADS, 0);
    sem_init(&s->begun, 0, 0);
    sem_init(&s->may_end, 0, 0);
    sem_init(&s->finished, 0, 0);
    atomic_init(&s->running, 0);
    atomic_init(&s->most_running, 0);
    atomic_init(&s->turns, 0);
}

static void site_close(struct site *s)
{
    mk_offload_pool_end(&s->pool);
    mk_offload_pool_fini(&s->pool);
    sem_destroy(&s->begun);
    sem_destroy(&s->may_end);
    sem_destroy(&s->finished);
}

static int give_to(struct site *s, struct probe *p, bool waits, const void *lane, unsigned most)
{
    *p = (struct probe){.job = {.lane = lane, .most = most, .work = do_work, .finish = do_finish},
                        .site = s,
                        .waits = waits};
    return mk_offload_pool_add(&s->pool, &p->job);
}

static int give(struct site *s, struct probe *p, bool waits)
{
    return give_to(s, p, waits, NULL, 0);
}

static void await(sem_t *sem, unsigned times)
{
    while (times-- > 0)
        assert_int_equal(sem_wait(sem), 0);
}

static void threads_start_with_work_and_are_nice(void **state)
{
    int own = getpriority(PRIO_PROCESS, 0); /* who runs the tests may be nice himself */
    struct probe p, q;
    struct site s;

    (void)state;
    site_open(&s);
    assert_int_equal(s.pool.nthreads, 0);
    assert_int_equal(give(&s, &p, true), 0);
    assert_int_equal(s.pool.nthreads, 1);
    await(&s.begun, 1);
    assert_int_equal(give(&s, &q, true), 0);
    await(&s.begun, 1);
    sem_post(&s.may_end);
    sem_post(&s.may_end);
    await(&s.finished, 2);
    assert_false(pthread_equal(p.thread, q.thread));
    assert_false(pthread_equal(p.thread, pthread_self()));
    assert_string_equal(p.name, "mk-offload-0");
    assert_string_equal(q.name, "mk-offload-1");
    assert_true(p.nice >= 10);
    assert_int_equal(getpriority(PRIO_PROCESS, 0), own);
    site_close(&s);
}

static void the_queue_is_bounded(void **state)
{
    struct probe running[MK_OFFLOAD_THREADS], waiting[MK_LIMIT_OFFLOAD_QUEUE], late;
    struct site s;

    (void)state;
    site_open(&s);
    for (int i = 0; i < MK_OFFLOAD_THREADS; i++)
        assert_int_equal(give(&s, &running[i], true), 0);
    await(&s.begun, MK_OFFLOAD_THREADS);
    for (int i = 0; i < MK_LIMIT_OFFLOAD_QUEUE; i++)
        assert_int_equal(give(&s, &waiting[i], false), 0);
    assert_int_equal(give(&s, &late, false), MK_E_BUSY);
    for (int i = 0; i < MK_OFFLOAD_THREADS; i++)
        sem_post(&s.may_end);
    await(&s.finished, MK_OFFLOAD_THREADS + MK_LIMIT_OFFLOAD_QUEUE);
    assert_int_equal(give(&s, &late, false), 0);
    await(&s.finished, 1);
    assert_int_equal(atomic_load(&s.most_running), MK_OFFLOAD_THREADS);
    for (int i = 0; i < MK_LIMIT_OFFLOAD_QUEUE; i++)
        assert_int_equal(waiting[i].worked + waiting[i].finished, 2);
    site_close(&s);
}

/* From the middle, the front and the back: those around stay in their order, and others can come. */
static void jobs_that_wait_are_taken_back(void **state)
{
    static const int dropped[] = {2, 0, 4};
    struct probe running[MK_OFFLOAD_THREADS], waiting[5], late;
    struct site s;

    (void)state;
    site_open(&s);
    for (int i = 0; i < MK_OFFLOAD_THREADS; i++)
        assert_int_equal(give(&s, &running[i], true), 0);
    await(&s.begun, MK_OFFLOAD_THREADS);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(give(&s, &waiting[i], false), 0);
    }
    for (int i = 0; i < 3; i++) {
        struct probe *p = &waiting[dropped[i]];

        assert_true(mk_offload_pool_drop(&s.pool, &p->job));
        assert_false(mk_offload_pool_drop(&s.pool, &p->job));
    }
    assert_false(mk_offload_pool_drop(&s.pool, &running[0].job));
    assert_int_equal(s.pool.queued, 2);
    assert_int_equal(give(&s, &late, false), 0);
    for (int i = 0; i < MK_OFFLOAD_THREADS; i++)
        sem_post(&s.may_end);
    await(&s.finished, MK_OFFLOAD_THREADS + 3);
    site_close(&s);
    for (int i = 0; i < 5; i++)
        assert_int_equal(waiting[i].worked + waiting[i].finished, i % 2 == 1 ? 2 : 0);
    assert_int_equal(late.worked, 1);
}

/* Whatever their number: one of each lane, then again. Within a lane they keep their order. */
static void lanes_take_turns(void **state)
{
    static const char lane[3];
    struct probe first, many[6], some[2], one;
    const long live = mk_heap_live();
    struct site s;

    (void)state;
    site_open(&s);
    s.pool.most = 1;
    assert_int_equal(give_to(&s, &first, true, &lane[0], 0), 0);
    await(&s.begun, 1);
    for (int i = 0; i < 6; i++)
        assert_int_equal(give_to(&s, &many[i], false, &lane[0], 0), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(give_to(&s, &some[i], false, &lane[1], 0), 0);
    assert_int_equal(give_to(&s, &one, false, &lane[2], 0), 0);
    sem_post(&s.may_end);
    await(&s.finished, 10);
    site_close(&s);
    assert_int_equal(mk_heap_live(), live);
    assert_int_equal(many[0].turn, 1);
    assert_int_equal(some[0].turn, 2);
    assert_int_equal(one.turn, 3);
    assert_int_equal(many[1].turn, 4);
    assert_int_equal(some[1].turn, 5);
    for (int i = 2; i < 6; i++)
        assert_int_equal(many[i].turn, 4 + i);
}

/* All threads of a lane are held for as long as they like: another lane has one beyond them. */
static void a_lane_leaves_the_spare_thread_to_others(void **state)
{
    enum { CROWD = MK_OFFLOAD_THREADS + 3 };
    static const char lane[2];
    struct probe crowd[CROWD], other[2];
    struct site s;

    (void)state;
    site_open(&s);
    s.pool.spare = 1;
    for (int i = 0; i < CROWD; i++)
        assert_int_equal(give_to(&s, &crowd[i], true, &lane[0], 0), 0);
    await(&s.begun, MK_OFFLOAD_THREADS);
    assert_int_equal(s.pool.nthreads, MK_OFFLOAD_THREADS);
    for (int i = 0; i < 2; i++)
        assert_int_equal(give_to(&s, &other[i], false, &lane[1], 0), 0);
    await(&s.finished, 2);
    assert_int_equal(s.pool.nthreads, MK_OFFLOAD_THREADS + 1);
    for (int i = 0; i < CROWD; i++)
        sem_post(&s.may_end);
    await(&s.finished, CROWD);
    site_close(&s);
    assert_int_equal(other[0].worked + other[1].worked, 2);
    assert_int_equal(atomic_load(&s.most_running), MK_OFFLOAD_THREADS + 1);
}

static void a_lane_may_have_fewer_threads(void **state)
{
    static const char lane;
    struct probe first, next, other;
    struct site s;

    (void)state;
    site_open(&s);
    assert_int_equal(give_to(&s, &first, true, &lane, 1), 0);
    await(&s.begun, 1);
    assert_int_equal(give_to(&s, &next, true, &lane, 1), 0);
    assert_int_equal(s.pool.nthreads, 1);
    assert_int_equal(give(&s, &other, false), 0);
    await(&s.finished, 1);
    assert_int_equal(next.worked, 0);
    sem_post(&s.may_end);
    sem_post(&s.may_end);
    await(&s.finished, 2);
    site_close(&s);
    assert_int_equal(next.turn, 2);
}

static void a_lane_without_memory_is_told(void **state)
{
    static const char lane;
    const long live = mk_heap_live();
    struct probe p;
    struct site s;

    (void)state;
    site_open(&s);
    for (long n = 0; n < 2; n++) { /* the lane, the thread */
        mk_heap_fail_after(n);
        assert_int_equal(give_to(&s, &p, false, &lane, 0), MK_E_NOMEM);
        mk_heap_fail_after(-1);
    }
    assert_int_equal(s.pool.queued, 0);
    assert_int_equal(s.pool.ready, 0);
    assert_int_equal(mk_heap_live(), live);
    assert_int_equal(give_to(&s, &p, false, &lane, 0), 0);
    await(&s.finished, 1);
    site_close(&s);
    assert_int_equal(mk_heap_live(), live);
}

static void *let_them_end(void *arg)
{
    struct site *s = arg;

    await(&s->finished, 5); /* the jobs that wait are finished first */
    for (int i = 0; i < MK_OFFLOAD_THREADS; i++)
        sem_post(&s->may_end);
    return NULL;
}

static void the_end_waits_for_work_and_finishes_the_rest(void **state)
{
    struct probe running[MK_OFFLOAD_THREADS], waiting[5], late;
    pthread_t helper;
    struct site s;

    (void)state;
    site_open(&s);
    for (int i = 0; i < MK_OFFLOAD_THREADS; i++)
        assert_int_equal(give(&s, &running[i], true), 0);
    await(&s.begun, MK_OFFLOAD_THREADS);
    for (int i = 0; i < 5; i++)
        assert_int_equal(give(&s, &waiting[i], false), 0);
    assert_int_equal(pthread_create(&helper, NULL, let_them_end, &s), 0);
    mk_offload_pool_end(&s.pool);
    assert_int_equal(pthread_join(helper, NULL), 0);
    for (int i = 0; i < MK_OFFLOAD_THREADS; i++) {
        assert_int_equal(running[i].worked, 1);
        assert_int_equal(running[i].finished, 1);
    }
    for (int i = 0; i < 5; i++) {
        assert_int_equal(waiting[i].worked, 0);
        assert_int_equal(waiting[i].finished, 1);
    }
    assert_int_equal(give(&s, &late, false), MK_E_BUSY);
    site_close(&s);
}

struct giver {
    struct site *site;
    struct probe probes[MANY];
    unsigned taken;
};

static void *give_many(void *arg)
{
    struct giver *g = arg;

    for (int i = 0; i < MANY; i++)
        g->taken += give(g->site, &g->probes[i], false) == 0;
    return NULL;
}

/* From several threads, while the pool ends: what was taken is finished once, what was not is not. */
static void every_job_taken_is_finished_once(void **state)
{
    static struct giver givers[THREADS];
    pthread_t threads[THREADS];
    struct site s;

    (void)state;
    site_open(&s);
    for (int i = 0; i < THREADS; i++) {
        givers[i] = (struct giver){.site = &s};
        assert_int_equal(pthread_create(&threads[i], NULL, give_many, &givers[i]), 0);
    }
    await(&s.finished, 10);
    mk_offload_pool_end(&s.pool);
    for (int i = 0; i < THREADS; i++) {
        unsigned finished = 0;

        assert_int_equal(pthread_join(threads[i], NULL), 0);
        for (int j = 0; j < MANY; j++) {
            assert_true(givers[i].probes[j].finished <= 1);
            finished += (unsigned)givers[i].probes[j].finished;
        }
        assert_int_equal(finished, givers[i].taken);
    }
    site_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_start_with_work_and_are_nice),
        cmocka_unit_test(the_queue_is_bounded),
        cmocka_unit_test(jobs_that_wait_are_taken_back),
        cmocka_unit_test(lanes_take_turns),
        cmocka_unit_test(a_lane_leaves_the_spare_thread_to_others),
        cmocka_unit_test(a_lane_may_have_fewer_threads),
        cmocka_unit_test(a_lane_without_memory_is_told),
        cmocka_unit_test(the_end_waits_for_work_and_finishes_the_rest),
        cmocka_unit_test(every_job_taken_is_finished_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
