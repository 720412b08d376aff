/* SPDX-License-Identifier: Apache-2.0 */
#include "compat_scene.h"

#include <monkey/libmonkey.h>

#include <pthread.h>
#include <stdatomic.h>

/* The 2012 interface: calls inside its callbacks, after the end, for nothing, and by two threads at once. */

static mklib_ctx own;

/* X(name, call): every call that changes or ends a context */
#define CALLS(X)                                                                                   \
    X(set_key, mklib_config(own, MKC_WORKERS, 1, NULL))                                            \
    X(add_host, mklib_vhost_config(own, "b", NULL))                                                \
    X(set_callback, mklib_callback_set(own, MKCB_DATA, NULL))                                      \
    X(add_type, mklib_mimetype_add(own, "x", "y/z"))                                               \
    X(start, mklib_start(own))                                                                     \
    X(stop, mklib_stop(own))

enum { REFUSED = MKLIB_FALSE };

#include "refusals.h"

/* ---- inside callbacks ---- */

static int check_ip(const char *ip)
{
    (void)ip;
    call_all();
    return MKLIB_TRUE;
}

static int check_url(const char *url)
{
    (void)url;
    call_all();
    return MKLIB_TRUE;
}

static int give_data(const mklib_session *session, const char *vhost, const char *url,
                     const char *get, unsigned long get_len, const char *post,
                     unsigned long post_len, unsigned int *status, const char **content,
                     unsigned long *content_len, char *header)
{
    char *value;

    (void)vhost, (void)url, (void)get, (void)get_len, (void)post, (void)post_len;
    (void)status, (void)header;
    call_all();
    *content = mklib_get_request_header(session, NULL, &value) == -1 &&
                       mklib_get_request_header(session, "Host", NULL) == -1 &&
                       mklib_get_request_header(NULL, "Host", &value) == -1
                   ? "goes on"
                   : "not refused";
    *content_len = strlen(*content);
    return MKLIB_TRUE;
}

static void end_session(const mklib_session *session)
{
    (void)session;
    call_all();
}

static void set(enum mklib_cb cb, uintptr_t function)
{
    assert_int_equal(mklib_callback_set(own, cb, (void *)function), MKLIB_TRUE);
}

static void make_own(void)
{
    own = mklib_init(compat_address("socket"), 0, 0, NULL);
    assert_non_null(own);
}

static void no_callback_changes_its_context(void **state)
{
    (void)state;
    make_own();
    set(MKCB_IPCHECK, (uintptr_t)check_ip);
    set(MKCB_URLCHECK, (uintptr_t)check_url);
    set(MKCB_DATA, (uintptr_t)give_data);
    set(MKCB_CLOSE, (uintptr_t)end_session);
    assert_int_equal(mklib_start(own), MKLIB_TRUE);
    compat_expect("socket", "/", 200, "goes on");
    compat_expect("socket", "/", 200, "goes on");
    assert_true(compat_warned("mklib_stop: a callback cannot stop the server that called it"));
    assert_int_equal(mklib_stop(own), MKLIB_TRUE);
    all_were_refused(2 * 4);
}

/* ---- order ---- */

static void a_context_ends_with_its_stop(void **state)
{
    (void)state;
    make_own();
    assert_null(mklib_scheduler_worker_info(own));
    assert_int_equal(mklib_stop(own), MKLIB_FALSE); /* never started: it is still there */
    assert_int_equal(mklib_start(own), MKLIB_TRUE);
    assert_int_equal(mklib_start(own), MKLIB_FALSE);
    assert_int_equal(mklib_stop(own), MKLIB_TRUE);
    (void)compat_warned("");
    call_all();
    all_were_refused(1);
    assert_null(mklib_vhost_list(own));
    assert_null(mklib_scheduler_worker_info(own));
    assert_null(mklib_mimetype_list(own));
    assert_true(compat_warned("mklib_config: this context was freed"));
    own = NULL;
    call_all();
    all_were_refused(1);
    assert_true(compat_warned("mklib_start: the context is NULL"));
}

/* ---- two threads ---- */

static void *stop_own(void *arg)
{
    (void)arg;
    return mklib_stop(own) ? own : NULL;
}

static void one_of_two_stops_is_refused(void **state)
{
    enum { ROUNDS = 20 };
    pthread_t threads[2];

    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        void *done[2];

        make_own();
        assert_int_equal(mklib_start(own), MKLIB_TRUE);
        for (size_t t = 0; t < 2; t++)
            assert_int_equal(pthread_create(&threads[t], NULL, stop_own, NULL), 0);
        for (size_t t = 0; t < 2; t++)
            pthread_join(threads[t], &done[t]);
        assert_true((done[0] == NULL) != (done[1] == NULL));
        assert_true(compat_warned("mklib_stop: "));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_callback_changes_its_context),
        cmocka_unit_test(a_context_ends_with_its_stop),
        cmocka_unit_test(one_of_two_stops_is_refused),
    };

    return cmocka_run_group_tests(tests, compat_set_up_listening, compat_tear_down);
}
