/* SPDX-License-Identifier: Apache-2.0 */
#include "../answer.h"
#include "../heard.h"

#include "server/memory/memory.h"

#include <fcntl.h>
#include <unistd.h>

/* Requests from memory, without sockets and threads: the seam of server/request/wire.h by its smallest protocol. */

static struct mk_loop *loop(void)
{
    return &answer_site.worker->loop;
}

static enum mk_verdict (*handle)(struct mk_request *r);

static enum mk_verdict on_handle(struct mk_request *r, const struct mk_context *ctx, void *data)
{
    (void)ctx, (void)data;
    return handle ? handle(r) : MK_VERDICT_PASS;
}

static const struct mk_plugin probe = {
    MK_PLUGIN("probe", "answers as a test says"),
    .on_handle = on_handle,
};

static int begin(void **state)
{
    (void)state;
    handle = NULL;
    atomic_store(&mk_shared_of(answer_site.server)->max_memory, INT64_MAX);
    fixture_handle(&answer_site, &probe, NULL);
    return 0;
}

/* ---- files ---- */

static void test_file(void **state)
{
    static const struct {
        const char *sentence, *target, *fields;
        unsigned status;
        const char *line, *body;
    } rows[] = {
        {"a small file", "/hello", "", 200, "Content-Length: 5\r\n", "hello"},
        {"a part of it", "/hello", "Range: bytes=1-2\r\n", 206, "Content-Range: bytes 1-2/5\r\n",
         "el"},
        {"no such file", "/none", "", 404, "Content-Type: text/html; charset=utf-8\r\n", NULL},
        {"a path above the root", "/../x", "", 403, "Content-Type: text/html; charset=utf-8\r\n",
         NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct mk_question q = heard_question(rows[i].target);
        struct heard h;

        q.fields = mk_str_from(rows[i].fields);
        heard_talk(&answer_site, &q, &h);
        if (h.error != 0 || h.status != rows[i].status || !strstr(h.fields, rows[i].line) ||
            (rows[i].body && strcmp(h.body, rows[i].body) != 0))
            fail_msg("%s: error %d, status %u\n%s%s", rows[i].sentence, h.error, h.status, h.fields,
                     h.body);
        assert_null(strstr(h.fields, "HTTP/"));
        assert_null(strstr(h.fields, "Connection"));
        heard_free(&h);
    }
}

static void test_large_file_is_bounded(void **state)
{
    struct mk_question q = heard_question("/large");
    struct heard h;

    (void)state;
    heard_talk(&answer_site, &q, &h);
    assert_int_equal(h.error, 0);
    assert_int_equal(h.body_len, 200000);
    for (size_t i = 0; i < h.body_len; i++)
        assert_int_equal(h.body[i], file_byte(i));
    heard_free(&h);
    q.max_answer = 100000;
    heard_talk(&answer_site, &q, &h);
    assert_int_equal(h.error, MK_E_LIMIT);
    assert_int_equal(h.status, 200);
    assert_true(h.body_len <= 100000);
    heard_free(&h);
}

static void test_head_has_no_body(void **state)
{
    struct mk_question q = heard_question("/hello");
    struct heard h;

    (void)state;
    q.method = MK_STR("HEAD");
    heard_talk(&answer_site, &q, &h);
    assert_int_equal(h.error, 0);
    assert_non_null(strstr(h.fields, "Content-Length: 5\r\n"));
    assert_int_equal(h.body_len, 0);
    heard_free(&h);
}

/* ---- handlers ---- */

static enum mk_verdict echo_upper(struct mk_request *r)
{
    char text[64];
    ssize_t n = mk_request_read(r, text, sizeof(text));

    assert_true(n >= 0);
    assert_int_equal(mk_request_buffered(r), 0);
    for (ssize_t i = 0; i < n; i++)
        text[i] = (char)(text[i] - 'a' + 'A');
    return mk_reply_bytes(r, 201, "text/plain", (struct mk_str){text, (size_t)n});
}

static void test_body_goes_to_the_handler(void **state)
{
    struct mk_question q = heard_question("/?x=1");
    struct heard h;

    (void)state;
    handle = echo_upper;
    q.method = MK_STR("POST");
    q.body = MK_STR("abc");
    heard_talk(&answer_site, &q, &h);
    assert_int_equal(h.error, 0);
    assert_int_equal(h.status, 201);
    assert_string_equal(h.body, "ABC");
    heard_free(&h);
}

static void test_large_body_is_refused_before_it_is_copied(void **state)
{
    struct mk_question q = heard_question("/");
    struct heard h;

    (void)state;
    handle = echo_upper;
    q.method = MK_STR("POST");
    q.body = (struct mk_str){"not so much", SIZE_MAX / 16};
    heard_talk(&answer_site, &q, &h);
    assert_int_equal(h.error, 0);
    assert_int_equal(h.status, 413);
    heard_free(&h);
}

static int wait_result;

static enum mk_verdict wait_for_itself(struct mk_request *r)
{
    struct mk_question q = heard_question("/hello");
    struct mk_answer *answer;

    mk_worker_enter(answer_site.worker);
    wait_result = mk_server_ask_wait(answer_site.server, &q, &answer);
    mk_worker_enter(NULL);
    assert_null(answer);
    return mk_reply_bytes(r, 200, NULL, MK_STR(""));
}

static void test_worker_does_not_wait_for_itself(void **state)
{
    struct mk_question q = heard_question("/");
    struct heard h;

    (void)state;
    handle = wait_for_itself;
    heard_talk(&answer_site, &q, &h);
    assert_int_equal(wait_result, MK_E_INVALID);
    heard_free(&h);
}

static void test_waiting_needs_a_running_server(void **state)
{
    static const struct {
        const char *sentence;
        enum mk_ask_state asks;
    } rows[] = {
        {"before the start", MK_ASK_NOT_YET},
        {"after the stop", MK_ASK_OVER},
    };
    struct mk_shared *shared = &answer_site.server->shared;
    struct mk_question q = heard_question("/hello");

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct mk_answer *answer;

        mk_shared_set_asks(shared, rows[i].asks);
        if (mk_server_ask_wait(answer_site.server, &q, &answer) != MK_E_PEER)
            fail_msg("%s somebody answers", rows[i].sentence);
        assert_null(answer);
    }
    mk_shared_set_asks(shared, MK_ASK_NOT_YET);
}

static void test_stopped_server_takes_no_requests(void **state)
{
    struct mk_shared *shared = &answer_site.server->shared;
    struct mk_question q = heard_question("/hello");
    struct heard h;

    (void)state;
    mk_shared_set_asks(shared, MK_ASK_OVER);
    assert_int_equal(heard_ask(&answer_site, &q, &h), MK_E_PEER);
    mk_shared_set_asks(shared, MK_ASK_NOT_YET);
    mk_loop_turn(loop(), 0, NULL, NULL);
    assert_int_equal(h.calls, 0);
}

static struct mk_request *waiting;

static enum mk_verdict later(struct mk_request *r)
{
    if (!waiting) {
        waiting = r;
        return MK_VERDICT_LATER;
    }
    return mk_reply_bytes(r, 200, NULL, MK_STR("now"));
}

static void test_later(void **state)
{
    struct mk_question q = heard_question("/");
    struct heard h;

    (void)state;
    handle = later;
    waiting = NULL;
    assert_int_equal(heard_ask(&answer_site, &q, &h), 0);
    for (int i = 0; i < 5; i++)
        mk_loop_turn(loop(), 0, NULL, NULL);
    assert_int_equal(h.calls, 0);
    assert_non_null(waiting);
    mk_request_resume(waiting);
    heard_turns(&answer_site, &h);
    assert_int_equal(h.calls, 1);
    assert_string_equal(h.body, "now");
    heard_free(&h);
}

/* ---- MaxMemory ---- */

static struct mk_shared *shared(void)
{
    return mk_shared_of(answer_site.server);
}

static void limit_memory(int64_t max)
{
    atomic_store(&shared()->max_memory, max);
}

static void nothing_is_held(void)
{
    mk_loop_turn(loop(), 0, NULL, NULL);
    assert_int_equal(atomic_load(&shared()->asked), 0);
}

static void test_question_beyond_max_memory(void **state)
{
    static char body[100000];
    struct mk_question q = heard_question("/");
    struct heard h;

    (void)state;
    handle = echo_upper;
    q.method = MK_STR("POST");
    q.body = (struct mk_str){body, sizeof(body)};
    limit_memory(sizeof(body));
    assert_int_equal(heard_ask(&answer_site, &q, &h), MK_E_NOMEM);
    assert_int_equal(h.calls, 0);
    nothing_is_held();
    q.body = MK_STR("abc");
    heard_talk(&answer_site, &q, &h);
    assert_string_equal(h.body, "ABC");
    heard_free(&h);
    nothing_is_held();
}

static enum mk_verdict never(struct mk_request *r)
{
    (void)r;
    return MK_VERDICT_LATER;
}

static void test_waiting_questions_share_max_memory(void **state)
{
    static char body[40000];
    struct mk_question q = heard_question("/");
    struct heard h[2], refused;

    (void)state;
    handle = never;
    q.method = MK_STR("POST");
    q.body = (struct mk_str){body, sizeof(body)};
    limit_memory(5 * sizeof(body));
    assert_int_equal(heard_ask(&answer_site, &q, &h[0]), 0);
    assert_true(atomic_load(&shared()->asked) >= sizeof(body));
    mk_count(&answer_site.worker->held, 4 * sizeof(body)); /* as connections do */
    assert_int_equal(heard_ask(&answer_site, &q, &refused), MK_E_NOMEM);
    mk_count(&answer_site.worker->held, -4 * (uint64_t)sizeof(body));
    assert_int_equal(heard_ask(&answer_site, &q, &h[1]), 0);
    mk_loop_turn(loop(), 0, NULL, NULL);
    mk_carried_end_all(answer_site.worker);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(h[i].error, MK_E_PEER);
        heard_free(&h[i]);
    }
    nothing_is_held();
}

static void test_answer_beyond_max_memory(void **state)
{
    struct mk_question q = heard_question("/large");
    struct heard h;

    (void)state;
    limit_memory(150000);
    heard_talk(&answer_site, &q, &h);
    assert_int_equal(h.error, MK_E_NOMEM);
    assert_int_equal(h.status, 200);
    assert_true(h.body_len > 0 && h.body_len < 200000);
    heard_free(&h);
    nothing_is_held();
}

static enum mk_verdict keep_much(struct mk_request *r)
{
    mk_request_hold(r, 200000);
    return MK_VERDICT_LATER;
}

static void test_handler_that_keeps_more_than_max_memory(void **state)
{
    struct mk_question q = heard_question("/");
    struct heard h;

    (void)state;
    handle = keep_much;
    limit_memory(150000);
    heard_talk(&answer_site, &q, &h);
    assert_int_equal(h.error, MK_E_NOMEM);
    assert_int_equal(h.status, 0);
    heard_free(&h);
    nothing_is_held();
}

/* ---- pieces ---- */

static ssize_t produce(struct mk_request *r, void *arg, char *dst, size_t len)
{
    unsigned *left = arg;

    (void)r;
    if (*left == 0)
        return 0;
    --*left;
    memset(dst, 'p', len);
    return (ssize_t)len;
}

static enum mk_verdict streamed(struct mk_request *r)
{
    static unsigned left;

    left = 3;
    answer_head(r, 200, -1);
    assert_int_equal(mk_reply_producer(r, produce, &left), 0);
    assert_int_equal(mk_reply_trailer(r, MK_STR("X-Sum"), MK_STR("1")), 0);
    return MK_VERDICT_DONE;
}

static void test_producer_and_trailers(void **state)
{
    struct mk_question q = heard_question("/");
    struct heard h;

    (void)state;
    handle = streamed;
    heard_talk(&answer_site, &q, &h);
    assert_int_equal(h.error, 0);
    assert_int_equal(h.body_len, 3 * 8192);
    assert_string_equal(h.trailers, "X-Sum: 1\r\n");
    assert_null(strstr(h.fields, "chunked"));
    assert_null(strstr(h.fields, "Content-Length"));
    heard_free(&h);
}

static int pipe_fd;

static enum mk_verdict piped(struct mk_request *r)
{
    answer_head(r, 200, -1);
    assert_int_equal(mk_reply_pipe(r, pipe_fd, UINT64_MAX), 0);
    return MK_VERDICT_DONE;
}

static void test_pipe_is_waited_for(void **state)
{
    struct mk_question q = heard_question("/");
    struct heard h;
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    pipe_fd = ends[0];
    handle = piped;
    assert_int_equal(heard_ask(&answer_site, &q, &h), 0);
    for (int i = 0; i < 3; i++)
        mk_loop_turn(loop(), 0, NULL, NULL);
    assert_int_equal(h.calls, 0);
    assert_int_equal(write(ends[1], "from a pipe", 11), 11);
    close(ends[1]);
    heard_turns(&answer_site, &h);
    assert_int_equal(h.calls, 1);
    assert_int_equal(h.error, 0);
    assert_string_equal(h.body, "from a pipe");
    heard_free(&h);
    mk_loop_turn(loop(), 0, NULL, NULL);
}

/* ---- HandlerTimeout, whose timer a test runs itself ---- */

static struct mk_memory *last;

static enum mk_verdict later_after_the_head(struct mk_request *r)
{
    last = MK_CONTAINER_OF(r, struct mk_memory, carried.request);
    answer_head(r, 200, -1);
    assert_int_equal(mk_reply_pipe(r, pipe_fd, UINT64_MAX), 0);
    return MK_VERDICT_DONE;
}

/* A question whose answer is a pipe's. @return where the test writes to. */
static int ask_a_pipe(struct heard *h)
{
    struct mk_question q = heard_question("/");
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    pipe_fd = ends[0];
    handle = later_after_the_head;
    assert_int_equal(heard_ask(&answer_site, &q, h), 0);
    for (int i = 0; i < 3; i++)
        mk_loop_turn(loop(), 0, NULL, NULL);
    return ends[1];
}

static void test_progress_renews_the_handlers_time(void **state)
{
    struct heard h;
    int fd = ask_a_pipe(&h);

    (void)state;
    assert_true(mk_timer_is_set(&last->carried.timer));
    last->carried.waited_at = 0;
    last->carried.request.body_sent = 5; /* sent without a wait */
    mk_timer_cancel(&last->carried.timer);
    last->carried.timer.fn(&last->carried.timer);
    assert_int_equal(h.calls, 0);
    assert_true(mk_timer_is_set(&last->carried.timer));
    last->carried.request.body_sent = 0;
    close(fd);
    heard_turns(&answer_site, &h);
    assert_int_equal(h.error, 0);
    heard_free(&h);
}

static void test_slow_handler_is_logged(void **state)
{
    struct mk_log *log = &answer_site.server->shared.log;
    char text[1024];
    struct heard h;
    int fd = ask_a_pipe(&h), ends[2];
    ssize_t n;

    (void)state;
    assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
    mk_log_set_fd(log, ends[1]);
    mk_timer_cancel(&last->carried.timer);
    last->carried.timer.fn(&last->carried.timer);
    assert_int_equal(h.error, MK_E_TIMEOUT);
    assert_int_equal(h.status, 200);
    n = read(ends[0], text, sizeof(text) - 1);
    assert_true(n > 0);
    text[n] = '\0';
    assert_non_null(strstr(text, "did not answer within HandlerTimeout plugin=probe"));
    mk_log_set_fd(log, open("/dev/null", O_WRONLY | O_CLOEXEC));
    close(ends[0]);
    close(fd);
    mk_loop_turn(loop(), 0, NULL, NULL);
    heard_free(&h);
}

/* ---- facts, ends, mistakes ---- */

static enum mk_verdict look(struct mk_request *r)
{
    struct mk_request_facts facts = {.size = sizeof(facts)};
    struct mk_conn_facts conn = {.size = sizeof(conn)};
    char peer[MK_PEER_TEXT];

    mk_worker_enter(answer_site.worker);
    mk_request_facts(r, &facts);
    assert_null(facts.conn);
    assert_ptr_equal(facts.worker, answer_site.worker);
    assert_string_equal(facts.scheme, "https");
    assert_true(mk_str_eq(facts.host, MK_STR("localhost")));
    mk_conn_facts(facts.conn, &conn);
    assert_ptr_equal(conn.worker, answer_site.worker);
    assert_ptr_equal(conn.server, answer_site.server);
    mk_worker_enter(NULL);
    assert_true(conn.peer_is_unix);
    assert_string_equal(conn.transport, "memory");
    assert_true(mk_conn_peer(facts.conn, peer) > 0);
    assert_false(mk_conn_is_trusted(facts.conn));
    assert_int_equal(mk_conn_link(facts.conn)->fd, -1);
    mk_request_log(r, MK_LOG_DEBUG, "looked");
    return mk_reply_bytes(r, 200, NULL, MK_STR(""));
}

static void test_facts_without_a_connection(void **state)
{
    struct mk_question q = heard_question("/");
    struct heard h;

    (void)state;
    handle = look;
    q.is_secure = true;
    heard_talk(&answer_site, &q, &h);
    assert_int_equal(h.status, 200);
    heard_free(&h);
}

static enum mk_verdict abort_it(struct mk_request *r)
{
    answer_head(r, 200, 10);
    mk_reply_abort(r);
    return MK_VERDICT_DONE;
}

static void test_answer_that_is_broken_off(void **state)
{
    struct mk_question q = heard_question("/");
    struct heard h;

    (void)state;
    handle = abort_it;
    heard_talk(&answer_site, &q, &h);
    assert_int_equal(h.error, MK_E_BAD);
    heard_free(&h);
}

static void test_malformed_questions(void **state)
{
    static const struct {
        const char *sentence, *method, *target, *fields;
    } rows[] = {
        {"a blank in the target", "GET", "/a b", ""},
        {"no target", "GET", "", ""},
        {"a line end in the method", "GET\r\n", "/", ""},
        {"CONNECT", "CONNECT", "a:1", ""},
        {"framing", "GET", "/", "Content-Length: 5\r\n"},
        {"a connection", "GET", "/", "Connection: close\r\n"},
        {"an expectation", "GET", "/", "Expect: 100-continue\r\n"},
        {"no line", "GET", "/", "a"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct mk_question q = heard_question(rows[i].target);
        struct heard h;

        q.method = mk_str_from(rows[i].method);
        q.fields = mk_str_from(rows[i].fields);
        if (heard_ask(&answer_site, &q, &h) != MK_E_INVALID)
            fail_msg("%s is taken", rows[i].sentence);
    }
}

/* The server's limits are the client's, and so is the answer. */
static void test_large_head_is_answered(void **state)
{
    struct mk_question q = heard_question("/hello");
    size_t len = 8 << 20;
    char *field = test_malloc(len);
    struct heard h;

    (void)state;
    memset(field, 'a', len);
    memcpy(field, "X: ", 3);
    memcpy(field + len - 2, "\r\n", 2);
    q.fields = (struct mk_str){field, len};
    heard_talk(&answer_site, &q, &h);
    assert_int_equal(h.error, 0);
    assert_int_equal(h.status, 431);
    heard_free(&h);
    test_free(field);
}

static void test_size_of_the_question(void **state)
{
    static const size_t too_short[] = {0, offsetof(struct mk_question, body)};
    struct {
        struct mk_question known;
        char later[16];
    } newer = {heard_question("/hello"), "of a newer one"};
    struct mk_question older = heard_question("/large");
    struct heard h;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        older.size = too_short[i];
        assert_int_equal(heard_ask(&answer_site, &older, &h), MK_E_INVALID);
    }
    older.size = offsetof(struct mk_question, max_answer);
    older.max_answer = 1; /* what lies behind an older question is not its own */
    heard_talk(&answer_site, &older, &h);
    assert_int_equal(h.error, 0);
    heard_free(&h);
    newer.known.size = sizeof(newer);
    heard_talk(&answer_site, &newer.known, &h);
    assert_string_equal(h.body, "hello");
    heard_free(&h);
}

static void test_end_of_the_worker(void **state)
{
    struct mk_question q = heard_question("/");
    struct heard h;

    (void)state;
    handle = later;
    waiting = NULL;
    assert_int_equal(heard_ask(&answer_site, &q, &h), 0);
    mk_loop_turn(loop(), 0, NULL, NULL);
    mk_carried_end_all(answer_site.worker);
    assert_int_equal(h.calls, 1);
    assert_int_equal(h.error, MK_E_PEER);
    heard_free(&h);
    mk_loop_turn(loop(), 0, NULL, NULL);
}

static void test_worker_that_stops_takes_no_new_requests(void **state)
{
    struct mk_question q = heard_question("/");
    struct heard old, new;

    (void)state;
    handle = later;
    waiting = NULL;
    assert_int_equal(heard_ask(&answer_site, &q, &old), 0);
    mk_loop_turn(loop(), 0, NULL, NULL);
    answer_site.worker->stopping = true;
    assert_int_equal(heard_ask(&answer_site, &q, &new), 0);
    heard_turns(&answer_site, &new);
    assert_int_equal(new.error, MK_E_PEER);
    assert_int_equal(new.status, 0);
    assert_int_equal(old.calls, 0);
    mk_request_resume(waiting);
    heard_turns(&answer_site, &old);
    assert_string_equal(old.body, "now"); /* the grace time is for it */
    answer_site.worker->stopping = false;
    heard_free(&old);
    heard_free(&new);
}

static void test_without_memory(void **state)
{
    struct mk_question q = heard_question("/hello");
    struct heard h;
    bool done = false;

    (void)state;
    for (int n = 0; n < 200 && !done; n++) {
        int err;

        mk_heap_fail_after(n);
        err = heard_ask(&answer_site, &q, &h);
        if (err == 0)
            heard_turns(&answer_site, &h);
        mk_heap_fail_after(-1);
        assert_true(err == MK_E_NOMEM || h.calls == 1);
        done = err == 0 && h.status == 200 && h.error == 0;
        if (err == 0)
            heard_free(&h);
        mk_loop_turn(loop(), 0, NULL, NULL);
    }
    assert_true(done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_file, begin),
        cmocka_unit_test_setup(test_large_file_is_bounded, begin),
        cmocka_unit_test_setup(test_head_has_no_body, begin),
        cmocka_unit_test_setup(test_body_goes_to_the_handler, begin),
        cmocka_unit_test_setup(test_large_body_is_refused_before_it_is_copied, begin),
        cmocka_unit_test_setup(test_question_beyond_max_memory, begin),
        cmocka_unit_test_setup(test_waiting_questions_share_max_memory, begin),
        cmocka_unit_test_setup(test_answer_beyond_max_memory, begin),
        cmocka_unit_test_setup(test_handler_that_keeps_more_than_max_memory, begin),
        cmocka_unit_test_setup(test_worker_does_not_wait_for_itself, begin),
        cmocka_unit_test_setup(test_waiting_needs_a_running_server, begin),
        cmocka_unit_test_setup(test_stopped_server_takes_no_requests, begin),
        cmocka_unit_test_setup(test_later, begin),
        cmocka_unit_test_setup(test_producer_and_trailers, begin),
        cmocka_unit_test_setup(test_pipe_is_waited_for, begin),
        cmocka_unit_test_setup(test_progress_renews_the_handlers_time, begin),
        cmocka_unit_test_setup(test_slow_handler_is_logged, begin),
        cmocka_unit_test_setup(test_facts_without_a_connection, begin),
        cmocka_unit_test_setup(test_answer_that_is_broken_off, begin),
        cmocka_unit_test_setup(test_malformed_questions, begin),
        cmocka_unit_test_setup(test_large_head_is_answered, begin),
        cmocka_unit_test_setup(test_size_of_the_question, begin),
        cmocka_unit_test_setup(test_end_of_the_worker, begin),
        cmocka_unit_test_setup(test_worker_that_stops_takes_no_new_requests, begin),
        cmocka_unit_test_setup(test_without_memory, begin),
    };

    return cmocka_run_group_tests(tests, answer_set_up, answer_tear_down);
}
