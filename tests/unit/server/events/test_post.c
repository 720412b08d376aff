/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <monkey/events.h>

#include <pthread.h>

enum { THREADS = 3, POSTS = 200, WORKERS = 3 };

struct tally {
    _Atomic unsigned calls[WORKERS];
    _Atomic unsigned chained; /* left to post from inside a call */
    struct mk_server *server;
};

static void count_call(struct mk_worker *w, void *arg)
{
    struct tally *t = arg;

    atomic_fetch_add(&t->calls[mk_worker_index(w)], 1);
    assert_ptr_equal(mk_worker_server(w), t->server);
}

/* Goes on to the worker before its own until the chain is used up. */
static void go_round(struct mk_worker *w, void *arg)
{
    struct tally *t = arg;
    unsigned before = (mk_worker_index(w) + WORKERS - 1) % WORKERS;

    count_call(w, arg);
    if (atomic_load(&t->chained) == 0)
        return;
    atomic_fetch_sub(&t->chained, 1);
    assert_int_equal(mk_worker_post(mk_server_worker(t->server, before), go_round, t), 0);
}

static unsigned total(struct tally *t)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < WORKERS; i++)
        sum += atomic_load(&t->calls[i]);
    return sum;
}

struct stage {
    struct plan plan;
    char dir[32];
    struct mk_server *server;
    long live;
};

static void open_server(struct stage *s, struct tally *t)
{
    const struct row rows[] = {
        {"SERVER", "Workers", "3", 0},
        {"SERVER", "LogLevel", "error", 0},
        {"HOST", "DocumentRoot", s->dir, 0},
        {NULL, NULL, NULL, 0},
    };

    dir_make(s->dir);
    s->live = mk_heap_live();
    plan_make(&s->plan, rows);
    s->server = mk_server_create(&s->plan.snapshot, NULL);
    assert_non_null(s->server);
    *t = (struct tally){.server = s->server};
}

static void close_server(struct stage *s)
{
    mk_server_free(s->server);
    plan_free(&s->plan);
    assert_int_equal(mk_heap_live(), s->live);
    dir_remove(s->dir);
}

static void workers_are_found_by_number(void **state)
{
    struct tally t;
    struct stage s;

    (void)state;
    open_server(&s, &t);
    for (unsigned i = 0; i < WORKERS; i++)
        assert_int_equal(mk_worker_index(mk_server_worker(s.server, i)), i);
    assert_null(mk_server_worker(s.server, WORKERS));
    assert_true(mk_worker_now_ms(s.server->shared.workers[0]) > 0);
    assert_true(mk_worker_wall_s(s.server->shared.workers[0]) > 1600000000);
    close_server(&s);
}

static void *post_many(void *arg)
{
    struct tally *t = arg;

    for (unsigned i = 0; i < POSTS; i++) {
        assert_int_equal(mk_worker_post(mk_server_worker(t->server, i % WORKERS), count_call, t),
                         0);
        if (i % 10 == 0)
            assert_int_equal(mk_server_each_worker(t->server, count_call, t), 0);
    }
    return NULL;
}

/* The server stops while other threads still post: late ones are called by whoever frees it. */
static void each_post_is_called_once(void **state)
{
    pthread_t threads[THREADS];
    struct tally t;
    struct stage s;

    (void)state;
    open_server(&s, &t);
    assert_int_equal(mk_server_start(s.server), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, post_many, &t), 0);
    mk_server_stop(s.server, 0);
    assert_int_equal(mk_server_wait(s.server, -1), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    close_server(&s);
    assert_int_equal(total(&t), THREADS * (POSTS + POSTS / 10 * WORKERS));
}

static void calls_may_post_until_the_end(void **state)
{
    struct tally t;
    struct stage s;

    (void)state;
    open_server(&s, &t);
    t.chained = 100;
    assert_int_equal(mk_worker_post(s.server->shared.workers[0], go_round, &t), 0);
    assert_int_equal(total(&t), 0);
    close_server(&s);
    assert_int_equal(total(&t), 101);
}

static void without_memory_it_is_none_or_all(void **state)
{
    struct tally t;
    struct stage s;

    (void)state;
    open_server(&s, &t);
    for (long n = 0; n < WORKERS; n++) {
        mk_heap_fail_after(n);
        assert_int_equal(mk_server_each_worker(s.server, count_call, &t), MK_E_NOMEM);
        mk_heap_fail_after(-1);
    }
    mk_heap_fail_after(0);
    assert_int_equal(mk_worker_post(s.server->shared.workers[0], count_call, &t), MK_E_NOMEM);
    mk_heap_fail_after(-1);
    assert_int_equal(mk_server_each_worker(s.server, count_call, &t), 0);
    close_server(&s);
    for (unsigned i = 0; i < WORKERS; i++)
        assert_int_equal(t.calls[i], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_are_found_by_number),
        cmocka_unit_test(each_post_is_called_once),
        cmocka_unit_test(calls_may_post_until_the_end),
        cmocka_unit_test(without_memory_it_is_none_or_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
