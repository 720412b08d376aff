/* SPDX-License-Identifier: Apache-2.0 */
#include "compat_scene.h"

#include <monkey/libmonkey.h>

/* Misuse of the 2012 interface: a warning and a result, never a crash. */

static mklib_ctx make(const char *name)
{
    mklib_ctx ctx = mklib_init(compat_address(name), 0, 0, NULL);

    assert_non_null(ctx);
    return ctx;
}

static void a_missing_context_is_refused(void **state)
{
    char *value;

    (void)state;
    assert_int_equal(mklib_callback_set(NULL, MKCB_DATA, NULL), MKLIB_FALSE);
    assert_true(compat_warned("mklib_callback_set: the context is NULL"));
    assert_int_equal(mklib_config(NULL, MKC_WORKERS, 1, NULL), MKLIB_FALSE);
    assert_int_equal(mklib_vhost_config(NULL, "a", NULL), MKLIB_FALSE);
    assert_int_equal(mklib_start(NULL), MKLIB_FALSE);
    assert_int_equal(mklib_stop(NULL), MKLIB_FALSE);
    assert_null(mklib_vhost_list(NULL));
    assert_null(mklib_scheduler_worker_info(NULL));
    assert_null(mklib_mimetype_list(NULL));
    assert_int_equal(mklib_mimetype_add(NULL, "a", "b/c"), MKLIB_FALSE);
    assert_int_equal(mklib_get_request_header(NULL, "Host", &value), -1);
    assert_true(compat_warned("mklib_get_request_header: an argument is NULL"));
}

static void wrong_arguments_are_refused(void **state)
{
    mklib_ctx ctx = make("socket");

    (void)state;
    assert_null(mklib_init("not an address", 1, 0, NULL));
    assert_true(compat_warned("mklib_init: the program: error: Listen"));
    assert_null(mklib_init(NULL, 70000, 0, NULL));
    assert_null(mklib_init(NULL, 0, 4, NULL));
    assert_true(compat_warned("mklib_init: unknown plugins: 0x4"));
    assert_null(mklib_init(compat_address("socket"), 0, 0, compat_path("none")));
    assert_true(compat_warned("DocumentRoot"));
    assert_int_equal(mklib_callback_set(ctx, (enum mklib_cb)9, NULL), MKLIB_FALSE);
    assert_true(compat_warned("there is no callback 9"));
    assert_int_equal(mklib_config(ctx, 99, 1, NULL), MKLIB_FALSE);
    assert_true(compat_warned("mklib_config: there is no key 99"));
    assert_int_equal(mklib_config(ctx, MKC_TIMEOUT, 5, MKC_WORKERS, -1, NULL), MKLIB_FALSE);
    assert_true(compat_warned("mklib_config: the program: error: Workers"));
    assert_int_equal(mklib_vhost_config(ctx, NULL, NULL), MKLIB_FALSE);
    assert_true(compat_warned("mklib_vhost_config: the virtual host has no name"));
    assert_int_equal(mklib_vhost_config(ctx, "a", 7, "x", NULL), MKLIB_FALSE);
    assert_true(compat_warned("mklib_vhost_config: there is no key 7"));
    assert_int_equal(mklib_vhost_config(ctx, "a", MKV_DOCUMENTROOT, "/none/such", NULL), 0);
    assert_int_equal(mklib_vhost_config(ctx, "a", NULL), MKLIB_TRUE);
    assert_int_equal(mklib_vhost_config(ctx, "a", NULL), MKLIB_FALSE);
    assert_true(compat_warned("there is a virtual host \"a\" already"));
    assert_int_equal(mklib_mimetype_add(ctx, NULL, "b/c"), MKLIB_FALSE);
    assert_int_equal(mklib_mimetype_add(ctx, "html", "b/c"), MKLIB_FALSE);
    assert_true(compat_warned("mklib_mimetype_add: the type of html is known"));
    assert_int_equal(mklib_mimetype_add(ctx, "x", "no type"), MKLIB_FALSE);
    assert_null(mklib_scheduler_worker_info(ctx));
    assert_true(compat_warned("the server does not run"));
    /* what was refused left nothing behind */
    assert_int_equal(mklib_start(ctx), MKLIB_TRUE);
    assert_int_equal(mklib_stop(ctx), MKLIB_TRUE);
}

static void a_running_server_is_not_configured(void **state)
{
    mklib_ctx ctx = make("socket");

    (void)state;
    assert_int_equal(mklib_start(ctx), MKLIB_TRUE);
    assert_int_equal(mklib_config(ctx, MKC_WORKERS, 1, NULL), MKLIB_FALSE);
    assert_true(compat_warned("mklib_config: the server is running: configure it before"));
    assert_int_equal(mklib_vhost_config(ctx, "a", NULL), MKLIB_FALSE);
    assert_int_equal(mklib_callback_set(ctx, MKCB_DATA, NULL), MKLIB_FALSE);
    assert_int_equal(mklib_mimetype_add(ctx, "x", "y/z"), MKLIB_FALSE);
    assert_int_equal(mklib_start(ctx), MKLIB_FALSE);
    assert_true(compat_warned("mklib_start: the server was started before"));
    assert_int_equal(mklib_stop(ctx), MKLIB_TRUE);
}

static void a_second_stop_is_refused(void **state)
{
    mklib_ctx ctx = make("socket"), other;

    (void)state;
    assert_int_equal(mklib_stop(ctx), MKLIB_FALSE);
    assert_true(compat_warned("mklib_stop: the server does not run"));
    assert_int_equal(mklib_start(ctx), MKLIB_TRUE);
    assert_int_equal(mklib_stop(ctx), MKLIB_TRUE);
    other = make("socket"); /* perhaps where the first one was */
    assert_int_equal(mklib_start(other), MKLIB_TRUE);
    assert_int_equal(mklib_stop(ctx), MKLIB_FALSE);
    assert_true(compat_warned("mklib_stop: this context was freed"));
    assert_int_equal(mklib_start(ctx), MKLIB_FALSE);
    assert_int_equal(mklib_stop(other), MKLIB_TRUE);
}

static void an_address_in_use_is_reported(void **state)
{
    mklib_ctx one = make("socket"), two = make("socket");

    (void)state;
    assert_int_equal(mklib_start(one), MKLIB_TRUE);
    assert_int_equal(mklib_start(two), MKLIB_FALSE);
    assert_true(compat_warned("mklib_start: cannot listen on"));
    assert_int_equal(mklib_stop(one), MKLIB_TRUE);
    assert_int_equal(mklib_start(two), MKLIB_TRUE);
    assert_int_equal(mklib_stop(two), MKLIB_TRUE);
}

static mklib_ctx own;

static int stop_myself(const mklib_session *session, const char *vhost, const char *url,
                       const char *get, unsigned long get_len, const char *post,
                       unsigned long post_len, unsigned int *status, const char **content,
                       unsigned long *content_len, char *header)
{
    (void)session, (void)vhost, (void)url, (void)get, (void)get_len, (void)post, (void)post_len;
    (void)status, (void)header;
    *content = mklib_stop(own) ? "stopped" : "refused";
    *content_len = strlen(*content);
    return MKLIB_TRUE;
}

static void a_callback_cannot_stop_its_server(void **state)
{
    (void)state;
    own = make("socket");
    assert_int_equal(mklib_callback_set(own, MKCB_DATA, (void *)(uintptr_t)stop_myself), 1);
    assert_int_equal(mklib_start(own), MKLIB_TRUE);
    compat_expect("socket", "/", 200, "refused");
    assert_true(compat_warned("mklib_stop: a callback cannot stop the server that called it"));
    compat_expect("socket", "/", 200, "refused");
    assert_int_equal(mklib_stop(own), MKLIB_TRUE);
}

/* A context from init to its first answer. @return whether all went well. */
static bool live(void)
{
    mklib_ctx ctx = mklib_init(compat_address("socket"), 0, 0, NULL);
    bool done;

    if (!ctx)
        return false;
    done = mklib_config(ctx, MKC_TIMEOUT, 5, MKC_INDEXFILE, "a", NULL) &&
           mklib_vhost_config(ctx, "a", MKV_SERVERNAME, "b", NULL) &&
           mklib_mimetype_add(ctx, "own", "a/b") && mklib_vhost_list(ctx) &&
           mklib_mimetype_list(ctx);
    if (!mklib_start(ctx)) { /* only a context that ran is freed */
        compat_fail_after(-1);
        assert_int_equal(mklib_start(ctx), MKLIB_TRUE);
        done = false;
    }
    done = done && mklib_scheduler_worker_info(ctx);
    compat_fail_after(-1);
    assert_int_equal(mklib_stop(ctx), MKLIB_TRUE);
    return done;
}

static void memory_may_fail(void **state)
{
    long n = 0;

    (void)state;
    for (bool done = false; !done; n++) {
        assert_true(n < 20000);
        compat_fail_after(n);
        done = live();
        compat_fail_after(-1);
        (void)compat_warned("");
        if (n > 400) /* those of the defaults are alike */
            n += 6;
    }
    assert_true(n > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_context_is_refused),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(a_running_server_is_not_configured),
        cmocka_unit_test(a_second_stop_is_refused),
        cmocka_unit_test(an_address_in_use_is_reported),
        cmocka_unit_test(a_callback_cannot_stop_its_server),
        cmocka_unit_test(memory_may_fail),
    };

    return cmocka_run_group_tests(tests, compat_set_up_listening, compat_tear_down);
}
