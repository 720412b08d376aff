/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "backends/backend_int.h"

#include "../no_calls.h"
#include "fake_upstream.h"

#include <monkey/events.h>

/* ---- a worker with one alarm, one connection and what a backend says ---- */

enum { CHECK_MS = 5000, UNSET = -1 };

struct mk_alarm {
    mk_alarm_fn fn;
    void *arg;
    int64_t ms; /* UNSET: it is not */
};

struct mk_stream {
    mk_stream_fn fn;
    void *arg;
    char sent[512];
    size_t sent_len, write_max; /* bytes that a write takes */
    struct mk_str said;
    size_t step; /* bytes that a read gives */
    int ending;  /* of its input */
    bool is_given;
};

static struct {
    struct mk_alarm *alarm;
    struct mk_stream stream;
    mk_upstream_fn taken;
    void *taken_arg;
    unsigned ncancelled, index;
    int take_error;
    unsigned ngood, nbad;
} fake;

struct mk_alarm *mk_alarm_new(struct mk_worker *w, mk_alarm_fn fn, void *arg)
{
    (void)w;
    fake.alarm = calloc(1, sizeof(*fake.alarm));
    assert_non_null(fake.alarm);
    *fake.alarm = (struct mk_alarm){fn, arg, UNSET};
    return fake.alarm;
}

void mk_alarm_set(struct mk_alarm *alarm, unsigned ms)
{
    alarm->ms = ms;
}

void mk_alarm_free(struct mk_alarm *alarm)
{
    free(alarm);
}

unsigned mk_worker_index(const struct mk_worker *w)
{
    (void)w;
    return fake.index;
}

int mk_upstream_take(struct mk_upstream *u, struct mk_worker *w, bool fresh, mk_upstream_fn fn,
                     void *arg, struct mk_upstream_wait **wait)
{
    (void)u;
    (void)w;
    assert_true(fresh);
    fake.taken = fn;
    fake.taken_arg = arg;
    *wait = fake.take_error < 0 ? NULL : (void *)&fake;
    return fake.take_error;
}

void mk_upstream_cancel(struct mk_upstream_wait *wait)
{
    assert_ptr_equal(wait, &fake);
    fake.ncancelled++;
}

void mk_upstream_give(struct mk_upstream *u, struct mk_stream *s, bool reusable)
{
    (void)u;
    assert_false(reusable);
    assert_false(s->is_given);
    s->is_given = true;
}

void mk_stream_tell(struct mk_stream *s, mk_stream_fn fn, void *arg)
{
    s->fn = fn;
    s->arg = arg;
}

void mk_stream_timeout(struct mk_stream *s, unsigned ms)
{
    (void)s;
    assert_int_equal(ms, 1234);
}

ssize_t mk_stream_write(struct mk_stream *s, const struct iovec *iov, int count)
{
    size_t len = iov->iov_len < s->write_max ? iov->iov_len : s->write_max;

    assert_int_equal(count, 1);
    if (len == 0)
        return MK_E_PEER;
    memcpy(s->sent + s->sent_len, iov->iov_base, len);
    s->sent_len += len;
    return (ssize_t)len;
}

/* Each other read finds nothing. */
ssize_t mk_stream_read(struct mk_stream *s, void *buf, size_t len)
{
    static bool is_dry;
    size_t n = s->said.len < s->step ? s->said.len : s->step;

    is_dry = !is_dry;
    if (is_dry)
        return MK_E_AGAIN;
    if (n == 0)
        return s->ending;
    if (n > len)
        n = len;
    memcpy(buf, s->said.p, n);
    s->said = (struct mk_str){s->said.p + n, s->said.len - n};
    return (ssize_t)n;
}

/* ---- a backend that is checked ---- */

void proxy_backend_checked(struct proxy_backend *b, bool is_good)
{
    (void)b;
    fake.ngood += is_good;
    fake.nbad += !is_good;
}

struct proxy_backend *proxy_backend_get(struct proxy_backend *b)
{
    counted_get(&b->refs);
    return b;
}

void proxy_backend_put(struct proxy_backend *b)
{
    assert_false(counted_put(&b->refs));
}

struct scene {
    struct proxy_settings set;
    struct proxy_backend backend;
    struct proxy_group *group;
    struct proxy_entry entry;
    struct proxy_config config;
    struct mk_context ctx;
    struct proxy_checks *checks;
};

static void prepare(struct scene *s)
{
    memset(&fake, 0, sizeof(fake));
    fake.stream = (struct mk_stream){.write_max = 512, .step = 1 << 20};
    memset(s, 0, sizeof(*s));
    s->set = (struct proxy_settings){.check_path = "/health",
                                     .check_ms = CHECK_MS,
                                     .read_ms = 1234,
                                     .max_answer_head = 64 << 10};
    s->backend = (struct proxy_backend){
        .host = "b", .authority = MK_STR_INIT("b:81"), .port = 81, .name = "b"};
    counted_init(&s->backend.refs, 1);
    s->group = calloc(1, sizeof(*s->group) + sizeof(s->group->backends[0]));
    assert_non_null(s->group);
    s->group->n = 1;
    s->group->backends[0] = &s->backend;
    s->entry = (struct proxy_entry){.set = &s->set, .name = "e", .group = s->group};
    s->config.entries = &s->entry;
    s->ctx = (struct mk_context){.size = sizeof(s->ctx), .config = &s->config};
    assert_int_equal(proxy_reign_begin(&s->config, NULL), 0);
}

static void start(struct scene *s)
{
    assert_int_equal(proxy_checks_start(&s->ctx, NULL, &s->checks), 0);
}

static void stop(struct scene *s)
{
    proxy_checks_stop(s->checks);
    proxy_reign_end(&s->config);
    free(s->group);
    assert_int_equal(nupstreams, 0);
}

static void fire(void)
{
    fake.alarm->ms = UNSET;
    fake.alarm->fn(fake.alarm, fake.alarm->arg);
}

static void connect_it(void)
{
    fake.taken(fake.taken_arg, &fake.stream, true, 0);
}

static bool is_decided(void)
{
    return fake.ngood + fake.nbad > 0;
}

/* One check. @return whether the backend is well. */
static bool check(struct scene *s, struct mk_str said, size_t step, int ending)
{
    start(s);
    fake.stream.said = said;
    fake.stream.step = step;
    fake.stream.ending = ending;
    fire();
    connect_it();
    for (unsigned i = 0; i < 10000 && !is_decided(); i++)
        fake.stream.fn(&fake.stream, MK_IO_READ, fake.stream.arg);
    assert_int_equal(fake.ngood + fake.nbad, 1);
    assert_true(fake.stream.is_given);
    assert_int_equal(fake.alarm->ms, CHECK_MS);
    stop(s);
    return fake.ngood;
}

static void test_which_answers_are_good(void **state)
{
    static const struct {
        struct mk_str said;
        unsigned wanted;
        int ending;
        bool is_good;
    } rows[] = {
        {MK_STR_INIT("HTTP/1.1 200 OK\r\n\r\n"), 0, 0, true},
        {MK_STR_INIT("HTTP/1.1 302 Found\r\nLocation: /x\r\n\r\n"), 0, 0, true},
        {MK_STR_INIT("HTTP/1.1 404 No\r\n\r\n"), 0, 0, false},
        {MK_STR_INIT("HTTP/1.1 500 No\r\n\r\n"), 0, 0, false},
        {MK_STR_INIT("HTTP/1.1 404 No\r\n\r\n"), 404, 0, true},
        {MK_STR_INIT("HTTP/1.1 200 OK\r\n\r\n"), 204, 0, false},
        {MK_STR_INIT("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"), 0, 0, true},
        {MK_STR_INIT("HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 503 No\r\n\r\n"), 0, 0, false},
        {MK_STR_INIT("HTTP/1.1 101 Other\r\n\r\n"), 0, 0, false},
        {MK_STR_INIT("HTTP/1.1 200 OK\r\n"), 0, 0, false},
        {MK_STR_INIT("HTTP/1.1 200 OK\r\n"), 0, MK_E_PEER, false},
        {MK_STR_INIT("HTTP/1.1 100 Continue\r\n\r\n"), 0, 0, false},
        {MK_STR_INIT("nonsense\r\n\r\n"), 0, 0, false},
        {MK_STR_INIT(""), 0, 0, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (size_t step = 1; step < 100; step += 7) {
            struct scene s;

            prepare(&s);
            s.set.check_status = rows[i].wanted;
            if (check(&s, rows[i].said, step, rows[i].ending) != rows[i].is_good)
                fail_msg("row %zu: judged otherwise", i);
        }
    }
}

static void test_a_head_without_end(void **state)
{
    static char head[64 << 10];
    struct scene s;

    (void)state;
    memset(head, 'x', sizeof(head));
    memcpy(head, "HTTP/1.1 200 OK\r\nA: ", 20);
    prepare(&s);
    assert_false(check(&s, (struct mk_str){head, sizeof(head)}, 1000, 0));
}

static void test_what_is_asked(void **state)
{
    static const struct {
        int protocol;
        struct mk_str before;
    } rows[] = {
        {PROXY_PROTOCOL_OFF, MK_STR_INIT("")},
        {PROXY_PROTOCOL_V1, MK_STR_INIT("PROXY UNKNOWN\r\n")},
        {PROXY_PROTOCOL_V2, MK_STR_INIT("\r\n\r\n\0\r\nQUIT\n\x20\0\0\0")},
    };
    static const char request[] = "GET /health HTTP/1.1\r\nHost: b:81\r\n";

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct scene s;

        prepare(&s);
        s.set.protocol = rows[i].protocol;
        fake.stream.write_max = 50; /* the rest follows at the next event */
        assert_true(check(&s, MK_STR("HTTP/1.1 200 OK\r\n\r\n"), 3, 0));
        assert_memory_equal(fake.stream.sent, rows[i].before.p, rows[i].before.len);
        assert_memory_equal(fake.stream.sent + rows[i].before.len, request, sizeof(request) - 1);
        assert_memory_equal(fake.stream.sent + fake.stream.sent_len - 4, "\r\n\r\n", 4);
    }
}

static void test_a_host_that_is_written(void **state)
{
    struct scene s;

    (void)state;
    prepare(&s);
    s.set.host = PROXY_HOST_TEXT;
    s.set.host_text = MK_STR("site.example");
    assert_true(check(&s, MK_STR("HTTP/1.1 200 OK\r\n\r\n"), 100, 0));
    assert_non_null(strstr(fake.stream.sent, "\r\nHost: site.example\r\n"));
}

static void test_a_backend_that_cannot_be_reached(void **state)
{
    struct scene s;

    (void)state;
    prepare(&s);
    start(&s);
    fire();
    fake.taken(fake.taken_arg, NULL, false, MK_E_PEER);
    assert_int_equal(fake.nbad, 1);
    assert_int_equal(fake.alarm->ms, CHECK_MS);
    fake.take_error = MK_E_NOMEM; /* which says nothing of the backend */
    fire();
    assert_int_equal(fake.nbad, 1);
    assert_int_equal(fake.alarm->ms, CHECK_MS);
    stop(&s);
}

static void test_one_that_is_silent_or_reads_nothing(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct scene s;

        prepare(&s);
        start(&s);
        fire();
        connect_it();
        fake.stream.write_max = i ? 0 : 512;
        fake.stream.fn(&fake.stream, i ? MK_IO_WRITE : MK_IO_TIMEOUT, fake.stream.arg);
        assert_int_equal(fake.nbad, 1);
        assert_true(fake.stream.is_given);
        stop(&s);
    }
}

/* Its requests may go on for hours, but what checks find is no longer asked for. */
static void test_an_old_configuration_asks_nobody(void **state)
{
    struct proxy_config next = {0};
    struct scene s;

    (void)state;
    prepare(&s);
    start(&s);
    assert_int_equal(proxy_reign_begin(&next, &s.config), 0);
    fire();
    assert_null(fake.taken);
    assert_int_equal(fake.alarm->ms, CHECK_MS);
    stop(&s);
    proxy_reign_end(&next);
}

static void test_an_end_in_the_middle(void **state)
{
    (void)state;
    for (unsigned is_connected = 0; is_connected < 2; is_connected++) {
        struct scene s;

        prepare(&s);
        start(&s);
        fire();
        if (is_connected)
            connect_it();
        stop(&s);
        assert_int_equal(fake.ncancelled, is_connected ? 0 : 1);
        assert_int_equal(fake.stream.is_given, is_connected);
        assert_false(is_decided());
    }
}

static void test_only_one_worker_checks(void **state)
{
    struct scene s;

    (void)state;
    prepare(&s);
    fake.index = 1;
    start(&s);
    assert_null(s.checks);
    stop(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_answers_are_good),
        cmocka_unit_test(test_a_head_without_end),
        cmocka_unit_test(test_what_is_asked),
        cmocka_unit_test(test_a_host_that_is_written),
        cmocka_unit_test(test_a_backend_that_cannot_be_reached),
        cmocka_unit_test(test_one_that_is_silent_or_reads_nothing),
        cmocka_unit_test(test_an_old_configuration_asks_nobody),
        cmocka_unit_test(test_an_end_in_the_middle),
        cmocka_unit_test(test_only_one_worker_checks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
