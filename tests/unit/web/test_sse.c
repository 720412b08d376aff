/* SPDX-License-Identifier: Apache-2.0 */
#include "web_scene.h"

#include "base/heap.h"

#include <monkey/events.h>

#include <stdatomic.h>

/* Server-sent events: src/web/sse.c. */

static atomic_int ends;

static void count_end(void *arg)
{
    (void)arg;
    atomic_fetch_add(&ends, 1);
}

static int send_one(struct mk_sse *s, const char *type, const char *id, const char *data)
{
    const struct mk_sse_event event = {sizeof(event), mk_str_from(type), mk_str_from(id),
                                       mk_str_from(data)};

    return mk_sse_send(s, &event);
}

static void add_line(struct mk_reply *p, void *arg)
{
    mk_reply_line(p, MK_STR("X-More"), mk_str_from(arg));
}

static enum mk_verdict send_some(struct mk_request *r, void *arg)
{
    const struct mk_sse_options options = {.size = sizeof(options),
                                           .retry_ms = 5000,
                                           .on_end = count_end,
                                           .on_head = add_line,
                                           .arg = arg};
    struct mk_sse *s;

    assert_int_equal(mk_sse_open(r, &options, &s), 0);
    assert_int_equal(
        send_one(s, "t", mk_sse_last_id(r).p ? "seen" : "new", "one\ntwo\r\nthree\rfour\n"), 0);
    assert_int_equal(send_one(s, NULL, NULL, ""), 0);
    assert_int_equal(send_one(s, NULL, "7", NULL), 0);
    assert_int_equal(send_one(s, "a\nb", NULL, ""), MK_E_INVALID);
    assert_int_equal(send_one(s, NULL, "a\rb", ""), MK_E_INVALID);
    mk_sse_close(s);
    assert_int_equal(send_one(s, NULL, NULL, ""), MK_E_INVALID);
    return MK_VERDICT_DONE;
}

#define EVENTS(id)                                                                                 \
    "retry: 5000\n\nevent: t\nid: " id "\ndata: one\ndata: two\ndata: three\ndata: four\n"         \
    "data: \n\ndata: \n\nid: 7\n\n"

static void events_are_lines(void **state)
{
    const long live = mk_heap_live();
    struct mk_server *server = web_serve_one("GET", "/", send_some, (void *)(uintptr_t) "lines");
    struct mk_answer *got;

    (void)state;
    atomic_store(&ends, 0);
    got = web_ask(server, "GET", "/", NULL, NULL);
    assert_true(web_has_line(got, "Content-Type: text/event-stream"));
    assert_true(web_has_line(got, "X-More: lines"));
    assert_true(web_has_line(got, "Cache-Control: no-store"));
    web_is(got, 200, EVENTS("new"));
    web_is(web_ask(server, "GET", "/", "Last-Event-ID: 6\r\n", NULL), 200, EVENTS("seen"));
    web_is(web_ask(server, "HEAD", "/", NULL, NULL), 200, "");
    mk_server_free(server);
    assert_int_equal(atomic_load(&ends), 3);
    assert_int_equal(mk_heap_live(), live);
}

/* As many events as asked for, by a queue of a few. */
struct counter {
    int sent, rooms;
    bool was_refused;
};

static void send_on(struct mk_sse *s, void *arg)
{
    struct counter *c = arg;

    c->rooms++;
    while (c->sent < 100) {
        int err = send_one(s, NULL, NULL, "some data");

        if (err == MK_E_BUSY)
            return;
        assert_int_equal(err, 0);
        c->sent++;
    }
    mk_sse_close(s);
}

static enum mk_verdict send_many(struct mk_request *r, void *arg)
{
    const struct mk_sse_options options = {
        .size = sizeof(options), .queue = 100, .on_room = send_on, .arg = arg};
    char large[200];
    struct mk_sse *s;

    memset(large, 'x', sizeof(large) - 1);
    large[sizeof(large) - 1] = '\0';
    assert_int_equal(mk_sse_open(r, &options, &s), 0);
    assert_int_equal(send_one(s, NULL, NULL, large), MK_E_LIMIT);
    send_on(s, arg);
    return MK_VERDICT_DONE;
}

static void a_full_queue_says_so(void **state)
{
    struct counter counter = {0, 0, false};
    struct mk_server *server = web_serve_one("GET", "/", send_many, &counter);
    struct mk_answer *got = web_ask(server, "GET", "/", NULL, NULL);

    (void)state;
    assert_int_equal(got->body.len, 100 * strlen("data: some data\n\n"));
    mk_answer_free(got);
    mk_server_free(server);
    assert_int_equal(counter.sent, 100);
    assert_true(counter.rooms >= 20);
}

static void close_it(struct mk_alarm *alarm, void *arg)
{
    mk_sse_close(*(struct mk_sse **)arg);
    mk_alarm_free(alarm);
}

static enum mk_verdict be_quiet(struct mk_request *r, void *arg)
{
    const struct mk_sse_options options = {.size = sizeof(options), .heartbeat_ms = 100};
    struct mk_request_facts facts = {.size = sizeof(facts)};
    struct mk_sse **s = arg;
    struct mk_alarm *alarm;

    mk_request_facts(r, &facts);
    alarm = mk_alarm_new(facts.worker, close_it, arg);
    assert_non_null(alarm);
    assert_int_equal(mk_sse_open(r, &options, s), 0);
    mk_alarm_set(alarm, 1000);
    return MK_VERDICT_DONE;
}

static void quiet_streams_have_a_heartbeat(void **state)
{
    struct mk_sse *stream;
    struct mk_server *server = web_serve_one("GET", "/", be_quiet, &stream);
    struct mk_answer *got = web_ask(server, "GET", "/", NULL, NULL);

    (void)state;
    assert_true(got->body.len >= 3 && got->body.len % 3 == 0);
    assert_memory_equal(got->body.p, ":\n\n", 3);
    mk_answer_free(got);
    mk_server_free(server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_lines),
        cmocka_unit_test(a_full_queue_says_so),
        cmocka_unit_test(quiet_streams_have_a_heartbeat),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
