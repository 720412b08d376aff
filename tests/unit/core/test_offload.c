/* SPDX-License-Identifier: Apache-2.0 */
#include "core_test.h"

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
    atomic_int running, most_running;
};

struct probe {
    struct mk_offload_job job;
    struct site *site;
    bool waits;
    int worked, finished, nice;
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
    mk_offload_pool_init(&s->pool, "offload", MK_OFFLOAD_THREADS, MK_LIMIT_OFFLOAD_QUEUE);
    sem_init(&s->begun, 0, 0);
    sem_init(&s->may_end, 0, 0);
    sem_init(&s->finished, 0, 0);
    atomic_init(&s->running, 0);
    atomic_init(&s->most_running, 0);
}

static void site_close(struct site *s)
{
    mk_offload_pool_end(&s->pool);
    mk_offload_pool_fini(&s->pool);
    sem_destroy(&s->begun);
    sem_destroy(&s->may_end);
    sem_destroy(&s->finished);
}

static int give(struct site *s, struct probe *p, bool waits)
{
    *p = (struct probe){.job = {.work = do_work, .finish = do_finish}, .site = s, .waits = waits};
    return mk_offload_pool_add(&s->pool, &p->job);
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
        waiting[i].job.arg = &waiting[i];
    }
    for (int i = 0; i < 3; i++) {
        struct probe *p = &waiting[dropped[i]];

        assert_ptr_equal(mk_offload_pool_drop(&s.pool, p), &p->job);
        assert_null(mk_offload_pool_drop(&s.pool, p));
    }
    assert_null(mk_offload_pool_drop(&s.pool, &running[0]));
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
        cmocka_unit_test(the_end_waits_for_work_and_finishes_the_rest),
        cmocka_unit_test(every_job_taken_is_finished_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
