/* SPDX-License-Identifier: Apache-2.0 */
#include "compat_scene.h"

#include <monkey/mk_lib.h>

#include <stdatomic.h>
#include <unistd.h>

/* The 1.8 interface, asked by a client. */

static mk_ctx_t *make(void)
{
    mk_ctx_t *ctx = mk_create();

    assert_non_null(ctx);
    assert_int_equal(mk_config_set(ctx, "Listen", compat_address("socket"), "Workers", "1", NULL),
                     0);
    return ctx;
}

static void end(mk_ctx_t *ctx)
{
    assert_int_equal(mk_stop(ctx), 0);
    assert_int_equal(mk_destroy(ctx), 0);
}

static char data_of_handler[] = "data";
static atomic_int finished;

static void finish(mk_request_t *request)
{
    assert_non_null(request);
    atomic_fetch_add(&finished, 1);
}

/* "METHOD URI QUERY BODY DATA" */
static void show(mk_request_t *request, void *data)
{
    char text[4000];
    int len = snprintf(text, sizeof(text), "%s %s %s(%lu) %.20s(%lu) %s", request->method.data,
                       request->uri_processed.data,
                       request->query_string.data ? request->query_string.data : "none",
                       request->query_string.len, request->data.data ? request->data.data : "none",
                       request->data.len, (char *)data);

    assert_int_equal(mk_http_status(request, 201), 0);
    assert_int_equal(mk_http_header(request, "X-Shown: no", 7, "yes, no", 3), 0);
    assert_int_equal(mk_http_send(request, text, (size_t)len, finish), 0);
    memset(text, 0, sizeof(text));
    assert_int_equal(mk_http_done(request), 0);
}

static void other(mk_request_t *request, void *data)
{
    (void)data;
    (void)mk_http_status(request, 200);
    (void)mk_http_send(request, "other", 5, NULL);
}

static void a_handler_answers(void **state)
{
    mk_ctx_t *ctx = make();
    int vid = mk_vhost_create(ctx, NULL), second = mk_vhost_create(ctx, "second");
    char *answer;

    (void)state;
    assert_int_equal(vid, 0);
    assert_int_equal(second, 1);
    assert_int_equal(mk_vhost_set(ctx, second, "Name", "zwei", "name", "deux", NULL), 0);
    assert_int_equal(mk_vhost_handler(ctx, vid, "/shown/[a-z_\\-]*$", show, data_of_handler), 0);
    assert_int_equal(mk_vhost_handler(ctx, vid, "/shown", other, NULL), 0);
    assert_int_equal(mk_vhost_handler(ctx, second, "/", show, data_of_handler), 0);
    assert_int_equal(mk_start(ctx), 0);
    compat_expect("socket", "/shown/a_-%62?x=1", 201, "GET /shown/a_-b x=1(3) none(0) data");
    compat_expect("socket", "/shown/1", 200, "other");
    compat_expect("socket", "/none", 404, NULL);
    answer =
        compat_ask("socket", "PUT / HTTP/1.1\r\nHost: deux\r\nContent-Length: 4\r\n", "body", 4);
    assert_non_null(strstr(answer, "\r\nX-Shown: yes\r\n"));
    assert_non_null(strstr(answer, "\r\nContent-Length: "));
    compat_is(answer, 201, "PUT / none(0) body(4) data");
    assert_int_equal(atomic_load(&finished), 2);
    end(ctx);
}

static void files_are_served(void **state)
{
    mk_ctx_t *ctx = make();
    int vid = mk_vhost_create(ctx, "a");

    (void)state;
    compat_write("index.txt", "index");
    assert_int_equal(mk_vhost_set(ctx, vid, "DocumentRoot", compat_path(""), NULL), 0);
    assert_int_equal(mk_config_set(ctx, "Timeout", "5", "keepalive", "Off", "MaxKeepAliveRequest",
                                   "7", "KeepAliveTimeout", "5", "UserDir", "public_html",
                                   "IndexFile", "none.txt index.txt", "HideVersion", "On", "Resume",
                                   "yes", "MaxRequestSize", "2048", "SymLink", "no",
                                   "DefaultMimeType", "text/x-default", "FDT", "off", NULL),
                     0);
    assert_int_equal(mk_start(ctx), 0);
    compat_expect("socket", "/", 200, "index");
    assert_int_equal(mk_stop(ctx), 0);
    assert_int_equal(mk_config_set(ctx, "MaxRequestSize", "5000000", NULL), 0);
    assert_int_equal(mk_start(ctx), 0); /* again */
    compat_expect("socket", "/", 200, "index");
    assert_int_equal(mk_destroy(ctx), 0); /* stops it */
}

static void flush(mk_request_t *request, void *data)
{
    (void)data;
    (void)mk_http_status(request, 200);
    assert_int_equal(mk_http_send(request, "one ", 4, NULL), 0);
    assert_int_equal(mk_http_flush(request), 0);
    assert_int_equal(mk_http_status(request, 500), -1);
    assert_int_equal(mk_http_header(request, "A", 1, "b", 1), -1);
    assert_int_equal(mk_http_flush(request), 0);
    assert_int_equal(mk_http_send(request, "two ", 4, NULL), 0);
    assert_int_equal(mk_http_flush(request), 0);
    assert_int_equal(mk_http_send(request, "three", 5, NULL), 0);
}

static void say_nothing(mk_request_t *request, void *data)
{
    (void)data;
    assert_int_equal(mk_http_send(request, "x", 1, NULL), -1);
    assert_int_equal(mk_http_done(request), -1);
    assert_int_equal(mk_http_status(request, 100), -1);
}

static void misuse(mk_request_t *request, void *data)
{
    (void)data;
    assert_int_equal(mk_http_status(NULL, 200), -1);
    assert_int_equal(mk_http_flush(NULL), -1);
    assert_int_equal(mk_http_status(request, 200), 0);
    assert_int_equal(mk_http_header(request, NULL, 1, "b", 1), -1);
    assert_int_equal(mk_http_header(request, "A", 1, "b\r\nX: y", 7), -1);
    assert_int_equal(mk_http_header(request, "Content-Length", 14, "7", 1), 0); /* left out */
    assert_int_equal(mk_http_send(request, NULL, 1, NULL), -1);
    assert_int_equal(mk_http_send(request, "done", 4, NULL), 0);
    assert_int_equal(mk_http_done(request), 0);
    assert_int_equal(mk_http_done(request), -1);
    assert_int_equal(mk_http_send(request, "late", 4, NULL), -1);
}

static void parts_and_misuse_are_answered(void **state)
{
    mk_ctx_t *ctx = make();
    int vid = mk_vhost_create(ctx, "a");
    char *answer;

    (void)state;
    assert_int_equal(mk_vhost_handler(ctx, vid, "^/flush", flush, NULL), 0);
    assert_int_equal(mk_vhost_handler(ctx, vid, "^/nothing", say_nothing, NULL), 0);
    assert_int_equal(mk_vhost_handler(ctx, vid, "^/misuse", misuse, NULL), 0);
    assert_int_equal(mk_start(ctx), 0);
    answer = compat_ask("socket", "GET /flush HTTP/1.1\r\nHost: a\r\n", "", 0);
    assert_non_null(strstr(answer, "\r\nTransfer-Encoding: chunked\r\n"));
    assert_non_null(strstr(answer, "one "));
    assert_non_null(strstr(answer, "three\r\n0\r\n\r\n"));
    compat_is(answer, 200, NULL);
    compat_expect("socket", "/nothing", 500, NULL);
    compat_expect("socket", "/misuse", 200, "done");
    end(ctx);
}

/* ---- workers ---- */

static atomic_int started, received, sum;

static void count_start(void *data)
{
    assert_ptr_equal(data, data_of_handler);
    atomic_fetch_add(&started, 1);
}

static void receive(mk_mq_t *queue, void *message, size_t size, void *data)
{
    static _Thread_local int last;
    int number;

    assert_non_null(queue);
    assert_ptr_equal(data, data_of_handler);
    assert_int_equal(size, sizeof(number));
    memcpy(&number, message, sizeof(number));
    memset(message, 0, size); /* it is a copy of this worker's own */
    assert_int_equal(number, last + 1);
    last = number;
    atomic_fetch_add(&sum, number);
    atomic_fetch_add(&received, 1);
}

static void receive_nothing(mk_mq_t *queue, void *message, size_t size, void *data)
{
    (void)queue, (void)message, (void)data;
    assert_int_equal(size, 0);
}

static void messages_reach_each_worker(void **state)
{
    enum { WORKERS = 3, MESSAGES = 100 };
    mk_ctx_t *ctx = make();
    int qid, other_qid;

    (void)state;
    assert_int_equal(mk_config_set(ctx, "Workers", "3", NULL), 0);
    assert_int_equal(mk_worker_callback(ctx, count_start, data_of_handler), 0);
    qid = mk_mq_create(ctx, "/data", receive, data_of_handler);
    other_qid = mk_mq_create(ctx, "/other", receive_nothing, NULL);
    assert_int_equal(qid, 0);
    assert_int_equal(other_qid, 1);
    assert_int_equal(mk_start(ctx), 0);
    assert_int_equal(atomic_load(&started), WORKERS);
    for (int i = 1; i <= MESSAGES; i++)
        assert_int_equal(mk_mq_send(ctx, qid, &i, sizeof(i)), 0);
    assert_int_equal(mk_mq_send(ctx, other_qid, NULL, 0), 0);
    for (int tries = 0; atomic_load(&received) < WORKERS * MESSAGES && tries < 6000; tries++)
        (void)usleep(10000);
    assert_int_equal(atomic_load(&received), WORKERS * MESSAGES);
    assert_int_equal(atomic_load(&sum), WORKERS * MESSAGES * (MESSAGES + 1) / 2);
    end(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_handler_answers),
        cmocka_unit_test(files_are_served),
        cmocka_unit_test(parts_and_misuse_are_answered),
        cmocka_unit_test(messages_reach_each_worker),
    };

    return cmocka_run_group_tests(tests, compat_set_up, compat_tear_down);
}
