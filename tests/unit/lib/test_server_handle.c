/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <unistd.h>

#include "embedded.h"

/* What threads of a program ask of a server runs on each worker exactly once, or not at all, also when the server ends meanwhile. */

enum { THREADS = 4, WORKERS = 2, BETWEEN = 200 };

static struct {
    atomic_uint accepted, called;
    atomic_bool is_wrong;
} all;

static void count(struct mk_worker *w, void *arg)
{
    (void)w, (void)arg;
    atomic_fetch_add(&all.called, 1);
}

static void *ask_on(void *arg)
{
    struct mk_server_handle *h = arg;
    int err;

    while ((err = mk_server_handle_each_worker(h, count, NULL)) == 0) {
        atomic_fetch_add(&all.accepted, 1);
        usleep(100);
    }
    if (err != MK_E_PEER)
        atomic_store(&all.is_wrong, true);
    mk_server_handle_put(h);
    return NULL;
}

static void reset(void)
{
    atomic_store(&all.accepted, 0);
    atomic_store(&all.called, 0);
    atomic_store(&all.is_wrong, false);
}

static void a_server_ends_under_threads_that_ask(void **state)
{
    struct mk_server *server = embedded_server(embedded_config("2", NULL, NULL));
    pthread_t threads[THREADS];

    (void)state;
    reset();
    assert_int_equal(mk_server_start(server), 0);
    for (int i = 0; i < THREADS; i++) {
        struct mk_server_handle *h = mk_server_handle(server);

        assert_non_null(h);
        assert_int_equal(pthread_create(&threads[i], NULL, ask_on, h), 0);
    }
    while (atomic_load(&all.called) < BETWEEN)
        usleep(1000);
    mk_server_free(server);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_false(atomic_load(&all.is_wrong));
    assert_int_equal(atomic_load(&all.called), atomic_load(&all.accepted) * WORKERS);
}

static void a_server_that_never_started_runs_it_when_it_is_freed(void **state)
{
    struct mk_server *server = embedded_server(embedded_config("2", NULL, NULL));
    struct mk_server_handle *h = mk_server_handle(server);

    (void)state;
    reset();
    assert_ptr_equal(mk_server_handle(server), h);
    mk_server_handle_put(h);
    assert_int_equal(mk_server_handle_each_worker(h, count, NULL), 0);
    mk_server_free(server);
    assert_int_equal(atomic_load(&all.called), WORKERS);
    assert_int_equal(mk_server_handle_each_worker(h, count, NULL), MK_E_PEER);
    assert_int_equal(atomic_load(&all.called), WORKERS);
    mk_server_handle_put(h);
    mk_server_handle_put(NULL);
}

static void a_handle_is_of_one_server(void **state)
{
    struct mk_server *server = embedded_server(embedded_config("1", NULL, NULL));
    struct mk_server *other = embedded_server(embedded_config("2", NULL, NULL));
    struct mk_server_handle *h = mk_server_handle(server);

    (void)state;
    assert_true(mk_server_handle_is_of(h, server));
    assert_false(mk_server_handle_is_of(h, other));
    assert_false(mk_server_handle_is_of(NULL, server));
    mk_server_free(server);
    server = embedded_server(embedded_config("1", NULL, NULL));
    assert_false(mk_server_handle_is_of(h, server));
    mk_server_handle_put(mk_server_handle(server));
    assert_false(mk_server_handle_is_of(h, server));
    mk_server_handle_put(h);
    mk_server_free(server);
    mk_server_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_ends_under_threads_that_ask),
        cmocka_unit_test(a_server_that_never_started_runs_it_when_it_is_freed),
        cmocka_unit_test(a_handle_is_of_one_server),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
