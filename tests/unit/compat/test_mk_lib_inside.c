/* SPDX-License-Identifier: Apache-2.0 */
#include "compat_scene.h"

#include "compat/context.h"

#include <monkey/mk_lib.h>

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>

/* The 1.8 interface: calls inside its callbacks, in a wrong order, for nothing, and by two threads at once. */

static mk_ctx_t *own;

static void handle(mk_request_t *request, void *data)
{
    (void)data;
    (void)mk_http_status(request, 200);
}

static void on_worker(void *data)
{
    (void)data;
}

static void on_message(mk_mq_t *queue, void *message, size_t size, void *data)
{
    (void)queue, (void)message, (void)size, (void)data;
}

/* ---- every call that changes or ends a context ---- */

/* X(name, call) */
#define CALLS(X)                                                                                   \
    X(set_key, mk_lib_config_set(own, "Workers", "1", NULL))                                       \
    X(create_host, mk_vhost_create(own, "b"))                                                      \
    X(set_host, mk_vhost_set(own, 0, "Name", "b", NULL))                                           \
    X(add_handler, mk_vhost_handler(own, 0, "/", handle, NULL))                                    \
    X(add_callback, mk_worker_callback(own, on_worker, NULL))                                      \
    X(create_queue, mk_mq_create(own, "other", on_message, NULL))                                  \
    X(start, mk_start(own))                                                                        \
    X(stop, mk_stop(own))                                                                          \
    X(destroy, mk_destroy(own))

enum { REFUSED = -1 };

#include "refusals.h"

/* ---- inside callbacks ---- */

static sem_t has_message;

static void handle_wrongly(mk_request_t *request, void *data)
{
    (void)data;
    call_all();
    (void)mk_http_status(request, mk_mq_send(own, 0, "m", 1) == 0 ? 200 : 500);
}

static void on_worker_wrongly(void *data)
{
    (void)data;
    call_all();
}

static void on_message_wrongly(mk_mq_t *queue, void *message, size_t size, void *data)
{
    (void)queue, (void)message, (void)size, (void)data;
    call_all();
    sem_post(&has_message);
}

static void make_own(void)
{
    own = mk_create();
    assert_non_null(own);
    assert_int_equal(
        mk_lib_config_set(own, "Listen", compat_address("socket"), "Workers", "1", NULL), 0);
    assert_int_equal(mk_vhost_create(own, "a"), 0);
}

static void no_callback_changes_its_context(void **state)
{
    (void)state;
    sem_init(&has_message, 0, 0);
    make_own();
    assert_int_equal(mk_vhost_handler(own, 0, "/", handle_wrongly, NULL), 0);
    assert_int_equal(mk_worker_callback(own, on_worker_wrongly, NULL), 0);
    assert_int_equal(mk_mq_create(own, "q", on_message_wrongly, NULL), 0);
    assert_int_equal(mk_start(own), 0);
    compat_expect("socket", "/", 200, "");
    while (sem_wait(&has_message) < 0)
        continue;
    compat_expect("socket", "/", 200, ""); /* it goes on */
    while (sem_wait(&has_message) < 0)
        continue;
    assert_true(compat_warned("mk_destroy: a callback cannot stop the server that called it"));
    assert_int_equal(mk_destroy(own), 0);
    all_were_refused(5);
    sem_destroy(&has_message);
}

/* ---- order ---- */

static void a_context_runs_again_until_it_is_freed(void **state)
{
    (void)state;
    make_own();
    assert_int_equal(mk_stop(own), -1);
    assert_true(compat_warned("mk_stop: the server does not run"));
    assert_int_equal(mk_start(own), 0);
    assert_int_equal(mk_start(own), -1);
    assert_int_equal(mk_stop(own), 0);
    assert_int_equal(mk_stop(own), -1);
    assert_int_equal(mk_vhost_create(own, "b"), 1); /* it may be changed again */
    assert_int_equal(mk_start(own), 0);
    compat_expect("socket", "/", 404, NULL);
    assert_int_equal(mk_destroy(own), 0);
    (void)compat_warned("");
    call_all();
    all_were_refused(1);
    assert_true(compat_warned("mk_config_set: this context was freed"));
    own = NULL;
    call_all();
    all_were_refused(1);
    assert_true(compat_warned("mk_start: the context is NULL"));
}

static int answers[12];

static void answer_in_a_wrong_order(mk_request_t *request, void *data)
{
    int n = 0;

    (void)data;
    answers[n++] = mk_http_status(NULL, 200);
    answers[n++] = mk_http_header(NULL, "A", 1, "b", 1);
    answers[n++] = mk_http_send(NULL, "a", 1, NULL);
    answers[n++] = mk_http_flush(NULL);
    answers[n++] = mk_http_done(NULL);
    answers[n++] = mk_http_send(request, "a", 1, NULL);
    answers[n++] = mk_http_flush(request);
    answers[n++] = mk_http_done(request);
    (void)mk_http_status(request, 200);
    (void)mk_http_send(request, "goes on", 7, NULL);
    (void)mk_http_flush(request);
    answers[n++] = mk_http_status(request, 404);
    answers[n++] = mk_http_header(request, "A", 1, "b", 1);
    (void)mk_http_done(request);
    answers[n++] = mk_http_status(request, 404);
    answers[n++] = mk_http_done(request);
}

static void an_answer_has_an_order(void **state)
{
    (void)state;
    make_own();
    assert_int_equal(mk_vhost_handler(own, 0, "/", answer_in_a_wrong_order, NULL), 0);
    assert_int_equal(mk_start(own), 0);
    compat_is(compat_ask("socket", "GET / HTTP/1.1\r\nHost: a\r\n", "", 0), 200,
              "7\r\ngoes on\r\n0\r\n\r\n");
    assert_int_equal(mk_destroy(own), 0);
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        if (answers[i] != -1)
            fail_msg("call %zu was not refused", i);
    }
}

/* ---- two threads ---- */

static pthread_barrier_t together;

static void *call_row(void *row)
{
    const struct refusal_row *r = row;

    pthread_barrier_wait(&together);
    return r->call() == -1 ? NULL : own;
}

/* @return how many of both calls were not refused. */
static int call_both(int (*one)(void), int (*two)(void))
{
    struct refusal_row calls[2] = {{NULL, one}, {NULL, two}};
    pthread_t threads[2];
    int done = 0;

    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, call_row, &calls[i]), 0);
    for (size_t i = 0; i < 2; i++) {
        void *result;

        assert_int_equal(pthread_join(threads[i], &result), 0);
        done += result != NULL;
    }
    return done;
}

/* Whichever call comes second finds a server that stops or does not run, or a context that was freed. */
static void two_threads_may_end_a_context(void **state)
{
    enum { ROUNDS = 50 };

    (void)state;
    assert_int_equal(pthread_barrier_init(&together, NULL, 2), 0);
    for (int i = 0; i < ROUNDS; i++) {
        make_own();
        if (i % 2 == 0)
            assert_int_equal(mk_start(own), 0);
        assert_int_equal(call_both(destroy, destroy), 1);
        make_own();
        assert_int_equal(mk_start(own), 0);
        assert_int_equal(call_both(stop, stop), 1);
        (void)call_both(destroy, start);
        (void)mk_destroy(own);
        (void)compat_warned("");
    }
    pthread_barrier_destroy(&together);
}

static void *start_own(void *arg)
{
    (void)arg;
    return start() == 0 ? own : NULL;
}

/* A call that waits for the end of a context finds nothing afterwards, whether or not it came in time to wait. */
static void a_start_may_wait_for_the_end_of_its_context(void **state)
{
    const struct timespec while_ = {.tv_nsec = 50000000};
    struct mk_compat *held;
    pthread_t thread;
    void *done;

    (void)state;
    make_own();
    held = mk_compat_get((uintptr_t)own, "test");
    assert_non_null(held);
    assert_int_equal(pthread_create(&thread, NULL, start_own, NULL), 0);
    nanosleep(&while_, NULL);
    mk_compat_close(held);
    mk_compat_put(held);
    assert_int_equal(pthread_join(thread, &done), 0);
    assert_null(done);
    assert_true(compat_warned("mk_start: this context was freed"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_callback_changes_its_context),
        cmocka_unit_test(a_context_runs_again_until_it_is_freed),
        cmocka_unit_test(an_answer_has_an_order),
        cmocka_unit_test(two_threads_may_end_a_context),
        cmocka_unit_test(a_start_may_wait_for_the_end_of_its_context),
    };

    return cmocka_run_group_tests(tests, compat_set_up_listening, compat_tear_down);
}
