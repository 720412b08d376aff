/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include "base/limits.h"

#include <monkey/events.h>

#include <pthread.h>
#include <semaphore.h>

struct probe {
    struct mk_worker *worker;
    sem_t begun, may_end;
    pthread_t worked_on, done_on;
    unsigned worked, done;
    int again; /* what mk_offload said inside done */
    bool ask_again;
};

static void work(void *arg)
{
    struct probe *p = arg;

    p->worked++;
    p->worked_on = pthread_self();
    sem_post(&p->begun);
    sem_wait(&p->may_end);
}

static void done(void *arg)
{
    struct probe *p = arg;

    p->done++;
    p->done_on = pthread_self();
    if (p->ask_again)
        p->again = mk_offload(p->worker, work, done, p);
}

static void open_probe(struct probe *p, struct mk_worker *w)
{
    *p = (struct probe){.worker = w};
    sem_init(&p->begun, 0, 0);
    sem_init(&p->may_end, 0, 0);
}

static void done_comes_to_the_worker(void **state)
{
    struct fixture f;
    struct probe p;

    (void)state;
    dir_make(f.dir);
    fixture_open(&f, NULL);
    open_probe(&p, f.worker);
    sem_post(&p.may_end);
    assert_int_equal(mk_offload(f.worker, work, done, &p), 0);
    for (int i = 0; i < 50 && p.done == 0; i++)
        mk_loop_turn(&f.worker->loop, 100, NULL, NULL);
    assert_int_equal(p.worked, 1);
    assert_int_equal(p.done, 1);
    assert_true(pthread_equal(p.done_on, pthread_self()));
    assert_false(pthread_equal(p.worked_on, pthread_self()));
    fixture_close(&f);
    dir_remove(f.dir);
}

/* While one runs and others wait: all are done by whoever frees the server, and nothing new is begun. */
static void a_freed_server_is_done_with_everything(void **state)
{
    struct probe running[MK_OFFLOAD_THREADS], waiting;
    struct fixture f;

    (void)state;
    dir_make(f.dir);
    fixture_open(&f, NULL);
    assert_int_equal(mk_server_start(f.server), 0);
    for (int i = 0; i < MK_OFFLOAD_THREADS; i++) {
        open_probe(&running[i], f.worker);
        assert_int_equal(mk_offload(f.worker, work, done, &running[i]), 0);
        assert_int_equal(sem_wait(&running[i].begun), 0);
    }
    open_probe(&waiting, f.worker);
    waiting.ask_again = true;
    assert_int_equal(mk_offload(f.worker, work, done, &waiting), 0);
    mk_server_stop(f.server, 0);
    assert_int_equal(mk_server_wait(f.server, -1), 0); /* does not wait for work on the side */
    for (int i = 0; i < MK_OFFLOAD_THREADS; i++) {
        assert_int_equal(running[i].done, 0);
        sem_post(&running[i].may_end);
    }
    sem_post(&waiting.may_end); /* for the case that its turn came before the end */
    fixture_close(&f);
    for (int i = 0; i < MK_OFFLOAD_THREADS; i++)
        assert_int_equal(running[i].done, 1);
    assert_int_equal(waiting.done, 1);
    assert_int_equal(waiting.again, MK_E_BUSY);
    assert_true(pthread_equal(waiting.done_on, pthread_self()));
    dir_remove(f.dir);
}

static void work_that_waits_is_taken_back(void **state)
{
    struct mk_work asked = {.size = sizeof(asked), .work = work, .done = done};
    struct probe running[MK_OFFLOAD_THREADS], waiting;
    struct mk_offloaded *begun, *queued;
    struct fixture f;

    (void)state;
    dir_make(f.dir);
    fixture_open(&f, NULL);
    for (int i = 0; i < MK_OFFLOAD_THREADS; i++) {
        open_probe(&running[i], f.worker);
        asked.arg = &running[i];
        assert_int_equal(mk_offload_work(f.worker, &asked, &begun), 0);
        assert_int_equal(sem_wait(&running[i].begun), 0);
    }
    open_probe(&waiting, f.worker);
    asked.arg = &waiting;
    assert_int_equal(mk_offload_work(f.worker, &asked, &queued), 0);
    assert_true(mk_offload_drop(queued));
    assert_false(mk_offload_drop(begun));
    assert_false(mk_offload_drop(NULL));
    asked.size = offsetof(struct mk_work, arg);
    assert_int_equal(mk_offload_work(f.worker, &asked, NULL), MK_E_UNSUPPORTED);
    for (int i = 0; i < MK_OFFLOAD_THREADS; i++)
        sem_post(&running[i].may_end);
    fixture_close(&f);
    assert_int_equal(waiting.worked + waiting.done, 0);
    assert_int_equal(running[0].done, 1);
    dir_remove(f.dir);
}

/* A crowd of one kind fills its own queue. */
static void kinds_do_not_wait_for_each_other(void **state)
{
    enum { CROWD = MK_OFFLOAD_THREADS + MK_LIMIT_OFFLOAD_QUEUE };
    static struct probe crowd[CROWD + 1];
    struct probe other[MK_WORK_KINDS];
    struct fixture f;

    (void)state;
    dir_make(f.dir);
    fixture_open(&f, NULL);
    for (int i = 0; i <= CROWD; i++) {
        open_probe(&crowd[i], f.worker);
        assert_int_equal(mk_offload_kind(f.worker, MK_WORK_LISTING, work, done, &crowd[i]),
                         i < CROWD ? 0 : MK_E_BUSY);
        if (i < MK_OFFLOAD_THREADS)
            assert_int_equal(sem_wait(&crowd[i].begun), 0);
    }
    for (int kind = 0; kind < MK_WORK_KINDS; kind++) {
        open_probe(&other[kind], f.worker);
        sem_post(&other[kind].may_end);
        if (kind == MK_WORK_LISTING)
            continue;
        assert_int_equal(
            mk_offload_kind(f.worker, (enum mk_work_kind)kind, work, done, &other[kind]), 0);
        for (int i = 0; i < 50 && other[kind].done == 0; i++)
            mk_loop_turn(&f.worker->loop, 100, NULL, NULL);
        assert_int_equal(other[kind].done, 1);
    }
    assert_int_equal(mk_offload_kind(f.worker, MK_WORK_KINDS, work, done, &other[0]),
                     MK_E_UNSUPPORTED);
    for (int i = 0; i <= CROWD; i++)
        sem_post(&crowd[i].may_end);
    fixture_close(&f);
    dir_remove(f.dir);
}

/* Though few connections are allowed: over each of HTTP/2, many requests come. */
static void thousands_may_wait_for_handlers(void **state)
{
    static const struct row few[] = {
        {"SERVER", "MaxConnections", "10", 0}, {"SERVER", "HandlerThreads", "1", 0}, {0}};
    enum { CROWD = 1 + MK_LIMIT_HANDLER_QUEUE };
    static struct probe crowd[CROWD + 1];
    struct fixture f;

    (void)state;
    dir_make(f.dir);
    fixture_open(&f, few);
    for (int i = 0; i <= CROWD; i++) {
        open_probe(&crowd[i], f.worker);
        assert_int_equal(mk_offload_kind(f.worker, MK_WORK_HANDLER, work, done, &crowd[i]),
                         i < CROWD ? 0 : MK_E_BUSY);
        if (i == 0)
            assert_int_equal(sem_wait(&crowd[i].begun), 0);
    }
    for (int i = 0; i <= CROWD; i++)
        sem_post(&crowd[i].may_end);
    fixture_close(&f);
    dir_remove(f.dir);
}

static void no_memory_is_told(void **state)
{
    struct fixture f;
    struct probe p;

    (void)state;
    dir_make(f.dir);
    fixture_open(&f, NULL);
    open_probe(&p, f.worker);
    mk_heap_fail_after(0);
    assert_int_equal(mk_offload(f.worker, work, done, &p), MK_E_NOMEM);
    mk_heap_fail_after(-1);
    fixture_close(&f);
    assert_int_equal(p.worked + p.done, 0);
    dir_remove(f.dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(done_comes_to_the_worker),
        cmocka_unit_test(a_freed_server_is_done_with_everything),
        cmocka_unit_test(work_that_waits_is_taken_back),
        cmocka_unit_test(kinds_do_not_wait_for_each_other),
        cmocka_unit_test(thousands_may_wait_for_handlers),
        cmocka_unit_test(no_memory_is_told),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
