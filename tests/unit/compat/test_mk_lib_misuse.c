/* SPDX-License-Identifier: Apache-2.0 */
#include "compat_scene.h"

#include <monkey/mk_lib.h>

/* Misuse of the 1.8 interface: a warning and a result, never a crash. */

static mk_ctx_t *make(void)
{
    mk_ctx_t *ctx = mk_create();

    assert_non_null(ctx);
    assert_int_equal(mk_config_set(ctx, "Listen", compat_address("socket"), "Workers", "1", NULL),
                     0);
    return ctx;
}

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

static void a_missing_context_is_refused(void **state)
{
    (void)state;
    assert_int_equal(mk_config_set(NULL, "Workers", "1", NULL), -1);
    assert_true(compat_warned("mk_config_set: the context is NULL"));
    assert_int_equal(mk_start(NULL), -1);
    assert_int_equal(mk_stop(NULL), -1);
    assert_int_equal(mk_destroy(NULL), -1);
    assert_int_equal(mk_vhost_create(NULL, "a"), -1);
    assert_int_equal(mk_vhost_set(NULL, 0, "Name", "a", NULL), -1);
    assert_int_equal(mk_vhost_handler(NULL, 0, "/", handle, NULL), -1);
    assert_int_equal(mk_worker_callback(NULL, on_worker, NULL), -1);
    assert_int_equal(mk_mq_create(NULL, "a", on_message, NULL), -1);
    assert_int_equal(mk_mq_send(NULL, 0, "a", 1), -1);
}

static void wrong_arguments_are_refused(void **state)
{
    mk_ctx_t *ctx = make();
    int vid = mk_vhost_create(ctx, "a");

    (void)state;
    assert_int_equal(mk_config_set(ctx, "Listens", "1", NULL), -1);
    assert_true(compat_warned("mk_config_set: there is no key \"Listens\""));
    assert_int_equal(mk_config_set(ctx, "Timeout", NULL), -1);
    assert_true(compat_warned("mk_config_set: Timeout has no value"));
    assert_int_equal(mk_config_set(ctx, "Workers", "2", "Timeout", "never", NULL), -1);
    assert_true(compat_warned("Timeout"));
    assert_int_equal(mk_config_set(ctx, "MaxRequestSize", "x", NULL), -1);
    assert_int_equal(mk_vhost_set(ctx, 7, "Name", "b", NULL), -1);
    assert_true(compat_warned("mk_vhost_set: there is no virtual host 7"));
    assert_int_equal(mk_vhost_set(ctx, vid, "Names", "b", NULL), -1);
    assert_int_equal(mk_vhost_set(ctx, vid, "DocumentRoot", "/none/such", NULL), -1);
    assert_int_equal(mk_vhost_create(ctx, "a"), -1); /* the name is taken */
    assert_int_equal(mk_vhost_create(ctx, "b"), 1);
    assert_int_equal(mk_vhost_handler(ctx, -1, "/", handle, NULL), -1);
    assert_int_equal(mk_vhost_handler(ctx, vid, NULL, handle, NULL), -1);
    assert_int_equal(mk_vhost_handler(ctx, vid, "/", NULL, NULL), -1);
    assert_int_equal(mk_vhost_handler(ctx, vid, "/(", handle, NULL), -1);
    assert_int_equal(mk_vhost_handler(ctx, vid, "/[", handle, NULL), -1);
    assert_int_equal(mk_vhost_handler(ctx, vid, "/[\\", handle, NULL), -1);
    assert_int_equal(mk_vhost_handler(ctx, vid, "\\", handle, NULL), -1);
    assert_int_equal(mk_worker_callback(ctx, NULL, NULL), -1);
    assert_int_equal(mk_mq_create(ctx, NULL, on_message, NULL), -1);
    assert_int_equal(mk_mq_create(ctx, "q", NULL, NULL), -1);
    assert_int_equal(mk_mq_create(ctx, "q", on_message, NULL), 0);
    assert_int_equal(mk_mq_create(ctx, "q", on_message, NULL), -1);
    assert_true(compat_warned("mk_mq_create: there is a queue \"q\" already"));
    assert_int_equal(mk_mq_send(ctx, 0, "m", 1), -1);
    assert_true(compat_warned("mk_mq_send: the server does not run"));
    assert_int_equal(mk_start(ctx), 0);
    assert_int_equal(mk_mq_send(ctx, 1, "m", 1), -1);
    assert_true(compat_warned("mk_mq_send: there is no queue 1"));
    assert_int_equal(mk_mq_send(ctx, 0, NULL, 1), -1);
    assert_int_equal(mk_mq_send(ctx, 0, "m", SIZE_MAX / 2), -1);
    assert_int_equal(mk_destroy(ctx), 0);
}

static void a_running_server_is_not_configured(void **state)
{
    mk_ctx_t *ctx = make();
    int vid = mk_vhost_create(ctx, "a");

    (void)state;
    assert_int_equal(mk_start(ctx), 0);
    assert_int_equal(mk_config_set(ctx, "Workers", "1", NULL), -1);
    assert_true(compat_warned("mk_config_set: the server is running: configure it before"));
    assert_int_equal(mk_vhost_create(ctx, "b"), -1);
    assert_int_equal(mk_vhost_set(ctx, vid, "Name", "b", NULL), -1);
    assert_int_equal(mk_vhost_handler(ctx, vid, "/", handle, NULL), -1);
    assert_int_equal(mk_worker_callback(ctx, on_worker, NULL), -1);
    assert_int_equal(mk_mq_create(ctx, "q", on_message, NULL), -1);
    assert_int_equal(mk_start(ctx), -1);
    assert_true(compat_warned("mk_start: the server was started before"));
    assert_int_equal(mk_stop(ctx), 0);
    assert_int_equal(mk_stop(ctx), -1);
    assert_true(compat_warned("mk_stop: the server does not run"));
    assert_int_equal(mk_destroy(ctx), 0);
    assert_int_equal(mk_destroy(ctx), -1);
    assert_true(compat_warned("mk_destroy: this context was freed"));
    assert_int_equal(mk_stop(ctx), -1);
}

static mk_ctx_t *own;

static void stop_myself(mk_request_t *request, void *data)
{
    (void)data;
    (void)mk_http_status(request, mk_stop(own) == -1 && mk_destroy(own) == -1 ? 200 : 500);
}

static void a_callback_cannot_stop_its_server(void **state)
{
    (void)state;
    own = make();
    assert_int_equal(mk_vhost_handler(own, mk_vhost_create(own, "a"), "/", stop_myself, NULL), 0);
    assert_int_equal(mk_start(own), 0);
    compat_expect("socket", "/", 200, "");
    assert_true(compat_warned("mk_stop: a callback cannot stop the server that called it"));
    compat_expect("socket", "/", 200, "");
    assert_int_equal(mk_destroy(own), 0);
}

/* A context from its making to a message. @return whether all went well. */
static bool live(void)
{
    mk_ctx_t *ctx = mk_create();
    bool done;

    if (!ctx)
        return false;
    done = mk_config_set(ctx, "Listen", compat_address("socket"), "Workers", "1", NULL) == 0 &&
           mk_vhost_create(ctx, "a") == 0 && mk_vhost_create(ctx, "b") == 1 &&
           mk_vhost_set(ctx, 1, "Name", "c", NULL) == 0 &&
           mk_vhost_handler(ctx, 0, "/[a\\-]", handle, NULL) == 0 &&
           mk_worker_callback(ctx, on_worker, NULL) == 0 &&
           mk_mq_create(ctx, "q", on_message, NULL) == 0 && mk_start(ctx) == 0 &&
           mk_mq_send(ctx, 0, "message", 7) == 0;
    compat_fail_after(-1);
    assert_int_equal(mk_destroy(ctx), 0);
    return done;
}

static void memory_may_fail(void **state)
{
    long n = 0;

    (void)state;
    for (bool done = false; !done; n++) {
        assert_true(n < 5000);
        compat_fail_after(n);
        done = live();
        compat_fail_after(-1);
        (void)compat_warned("");
    }
    assert_true(n > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_context_is_refused),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(a_running_server_is_not_configured),
        cmocka_unit_test(a_callback_cannot_stop_its_server),
        cmocka_unit_test(memory_may_fail),
    };

    return cmocka_run_group_tests(tests, compat_set_up_listening, compat_tear_down);
}
