/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../../kit/gateway/fake.h"
#include "exchange/exchange.h"

#include "../no_calls.h"

#include <monkey/variables.h>

/* ---- a client's body, and a backend that takes so many bytes at a time ---- */

enum { SENT_MAX = 2 << 20, BODY_MAX = 100000 };

struct mk_stream {
    char sent[SENT_MAX];
    size_t len, step;
    size_t deaf_after; /* bytes that it takes; then it closes */
};

static struct {
    char body[BODY_MAX];
    size_t len, at, step;
    bool is_dry; /* nothing of it for now: each other call */
    int error;   /* at its end; 0: that is its end */
    unsigned nrewound;
    const struct fake_field *trailers;
} client;

ssize_t intake_read(struct intake *i, struct mk_request *r, char *dst, size_t len)
{
    size_t n = client.len - client.at;

    (void)i;
    (void)r;
    client.is_dry = !client.is_dry;
    if (client.is_dry)
        return MK_E_AGAIN;
    if (n == 0)
        return client.error;
    n = n < client.step ? n : client.step;
    n = n < len ? n : len;
    memcpy(dst, client.body + client.at, n);
    client.at += n;
    return (ssize_t)n;
}

void intake_rewind(struct intake *i)
{
    (void)i;
    client.at = 0;
    client.nrewound++;
}

ssize_t mk_stream_write(struct mk_stream *s, const struct iovec *iov, int count)
{
    size_t room = s->step, done = 0;

    if (s->len >= s->deaf_after)
        return MK_E_PEER;
    for (int i = 0; i < count && room > 0; i++) {
        size_t n = iov[i].iov_len < room ? iov[i].iov_len : room;

        assert_true(s->len + n <= SENT_MAX);
        memcpy(s->sent + s->len, iov[i].iov_base, n);
        s->len += n;
        done += n;
        room -= n;
    }
    return (ssize_t)done;
}

bool mk_request_next_trailer(const struct mk_request *r, uint32_t *at, struct mk_str *name,
                             struct mk_str *value)
{
    (void)r;
    if (!client.trailers || !client.trailers[*at].name)
        return false;
    *name = mk_str_from(client.trailers[*at].name);
    *value = mk_str_from(client.trailers[*at].value);
    ++*at;
    return true;
}

const struct mk_link *mk_conn_link(const struct mk_conn *c)
{
    (void)c;
    return NULL;
}

struct mk_str mk_request_variable(const struct mk_request *r, int which,
                                  char room[MK_VARIABLE_ROOM])
{
    (void)r, (void)which, (void)room;
    return (struct mk_str){NULL, 0};
}

bool mk_conn_is_trusted(const struct mk_conn *c)
{
    (void)c;
    return false;
}

bool proxy_exchange_keeps(const struct proxy_exchange *x)
{
    (void)x;
    return true;
}

void proxy_trace(const void *exchange, const struct states *table, unsigned was, unsigned is)
{
    (void)exchange;
    (void)table;
    (void)was;
    (void)is;
}

/* ---- an exchange ---- */

static struct {
    struct mk_request r;
    struct mk_stream backend;
    struct proxy_worker home;
    struct proxy_settings set;
    struct proxy_exchange x;
} scene;

/* @param length  -1: chunked */
static void prepare(size_t len, int64_t length)
{
    memset(&scene, 0, sizeof(scene));
    memset(&client, 0, sizeof(client));
    for (size_t i = 0; i < len; i++)
        client.body[i] = (char)(i * 7 + i / 251);
    client.len = len;
    client.step = SENT_MAX;
    scene.backend.step = scene.backend.deaf_after = SENT_MAX;
    scene.r.facts = (struct mk_request_facts){.size = sizeof(scene.r.facts),
                                              .method = MK_STR("POST"),
                                              .target = MK_STR("/x"),
                                              .path = MK_STR("/x"),
                                              .host = MK_STR("a"),
                                              .scheme = "http",
                                              .minor = 1,
                                              .content_length = length};
    scene.r.peer = "192.0.2.1";
    scene.x = (struct proxy_exchange){.r = &scene.r,
                                      .home = &scene.home,
                                      .set = &scene.set,
                                      .link = {.stream = &scene.backend},
                                      .length = length,
                                      .hops = -1,
                                      .is_kept = true,
                                      .attempt = {.authority = MK_STR_INIT("b")}};
}

static void end(void)
{
    struct proxy_buffers *pool = &scene.home.buffers;

    proxy_buffer_put(pool, scene.x.head);
    proxy_buffer_put(pool, scene.x.up);
    proxy_buffers_free(pool);
}

/* Call until all is sent. @return the last verdict. */
static int send_all(void)
{
    int err = 0;

    for (unsigned i = 0; i < SENT_MAX && err == 0 && scene.x.sending != PROXY_WHOLE; i++)
        err = proxy_upload_send(&scene.x);
    return err;
}

static const char *body_sent(size_t *len)
{
    const char *end = memmem(scene.backend.sent, scene.backend.len, "\r\n\r\n", 4);

    assert_non_null(end);
    *len = scene.backend.len - (size_t)(end + 4 - scene.backend.sent);
    return end + 4;
}

static bool head_has(const char *line)
{
    return memmem(scene.backend.sent, scene.backend.len, line, strlen(line)) != NULL;
}

/* Chunks, taken apart. @param rest  out: what stands where the last chunk is */
static size_t unchunk(const char *bytes, size_t len, char *dst, struct mk_str *rest)
{
    size_t at = 0, total = 0;

    for (;;) {
        size_t n = strtoul(bytes + at, NULL, 16);
        const char *line = memmem(bytes + at, len - at, "\r\n", 2);

        assert_non_null(line);
        if (n == 0)
            break;
        at = (size_t)(line + 2 - bytes);
        assert_true(at + n + 2 <= len);
        memcpy(dst + total, bytes + at, n);
        total += n;
        at += n;
        assert_memory_equal(bytes + at, "\r\n", 2);
        at += 2;
    }
    *rest = (struct mk_str){bytes + at, len - at};
    return total;
}

/* ---- tests ---- */

static const size_t steps[] = {1, 7, 511, 512, 4096, 16384, 70000};

static void test_a_body_of_known_length(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        size_t len;

        prepare(40000, 40000);
        client.step = steps[i];
        scene.backend.step = steps[sizeof(steps) / sizeof(steps[0]) - 1 - i];
        assert_int_equal(send_all(), 0);
        assert_true(head_has("\r\nContent-Length: 40000\r\n"));
        assert_memory_equal(body_sent(&len), client.body, 40000);
        assert_int_equal(len, 40000);
        assert_int_equal(scene.x.reading, PROXY_READ);
        assert_int_equal(scene.x.report.sent, 40000);
        end();
    }
}

static void test_chunks(void **state)
{
    static const size_t lengths[] = {0, 1, 16000, BODY_MAX};
    static char joined[BODY_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        for (size_t j = 0; j < sizeof(lengths) / sizeof(lengths[0]); j++) {
            struct mk_str rest;
            const char *sent;
            size_t len;

            prepare(lengths[j], -1);
            client.step = steps[i];
            scene.backend.step = 16384;
            assert_int_equal(send_all(), 0);
            assert_true(head_has("\r\nTransfer-Encoding: chunked\r\n"));
            sent = body_sent(&len);
            assert_int_equal(unchunk(sent, len, joined, &rest), lengths[j]);
            assert_memory_equal(joined, client.body, lengths[j]);
            assert_int_equal(rest.len, 5);
            assert_memory_equal(rest.p, "0\r\n\r\n", 5);
            end();
        }
    }
}

static void test_trailers_follow_the_last_chunk(void **state)
{
    static const struct fake_field trailers[] = {
        {"X-Sum", "1"}, {"Content-Length", "5"}, {"X-More", "2"}, {NULL, NULL}};
    static char joined[BODY_MAX];

    (void)state;
    for (size_t len = 16300; len < 16390; len += 3) { /* bodies that nearly fill their buffer */
        static const char expected[] = "0\r\nX-Sum: 1\r\nX-More: 2\r\n\r\n";
        struct mk_str rest;
        const char *sent;
        size_t n;

        prepare(len, -1);
        client.trailers = trailers;
        assert_int_equal(send_all(), 0);
        sent = body_sent(&n);
        assert_int_equal(unchunk(sent, n, joined, &rest), len);
        assert_int_equal(rest.len, sizeof(expected) - 1);
        assert_memory_equal(rest.p, expected, rest.len);
        end();
    }
}

static void test_errors_of_the_client(void **state)
{
    static const struct {
        int error, verdict;
    } rows[] = {
        {MK_E_BAD, MK_E_BAD},
        {MK_E_LIMIT, MK_E_LIMIT},
        {MK_E_PEER, MK_E_EOF},
        {MK_E_SYS, MK_E_SYS},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        prepare(100, 200);
        client.error = rows[i].error;
        assert_int_equal(send_all(), rows[i].verdict);
        end();
    }
}

static void test_a_backend_that_takes_no_more(void **state)
{
    (void)state;
    for (unsigned some = 0; some < 2; some++) {
        prepare(40000, 40000);
        scene.backend.step = 1000;
        scene.backend.deaf_after = some ? 3000 : 0;
        assert_int_equal(send_all(), MK_E_PEER);
        assert_int_equal(scene.x.sending, some ? PROXY_CUT : PROXY_DEAF);
        assert_int_equal(proxy_has_left(&scene.x), some);
        assert_int_equal(send_all(), MK_E_PEER);
        end();
    }
}

/* A body that is still in its buffer is sent from there, a longer one is read again. */
static void test_the_whole_request_again(void **state)
{
    (void)state;
    for (size_t body = 1000; body <= 41000; body += 40000) {
        static char first[SENT_MAX];
        size_t len;

        prepare(body, -1);
        assert_int_equal(send_all(), 0);
        len = scene.backend.len;
        memcpy(first, scene.backend.sent, len);
        scene.backend.len = 0;
        proxy_upload_rewind(&scene.x);
        assert_int_equal(scene.x.sending, PROXY_NEW);
        assert_int_equal(client.nrewound, body > 16384);
        assert_int_equal(send_all(), 0);
        if (body <= 16384) {
            assert_int_equal(scene.backend.len, len);
            assert_memory_equal(scene.backend.sent, first, len);
        }
        assert_int_equal(scene.x.taken, body);
        end();
    }
}

/* Expect: 100-continue: the body is not asked for, also not for the next backend, before the backend says so. */
static void test_a_body_that_is_held(void **state)
{
    size_t len;

    (void)state;
    prepare(10, 10);
    scene.x.expects = true;
    proxy_upload_rewind(&scene.x);
    assert_int_equal(scene.x.reading, PROXY_HELD);
    assert_int_equal(proxy_upload_send(&scene.x), 0);
    assert_true(head_has("\r\nExpect: 100-continue\r\n"));
    assert_int_equal(scene.x.sending, PROXY_PART);
    assert_int_equal(client.at, 0);
    proxy_reading_turn(&scene.x, PROXY_OPEN);
    assert_int_equal(send_all(), 0);
    assert_memory_equal(body_sent(&len), client.body, 10);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_body_of_known_length),
        cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_trailers_follow_the_last_chunk),
        cmocka_unit_test(test_errors_of_the_client),
        cmocka_unit_test(test_a_backend_that_takes_no_more),
        cmocka_unit_test(test_the_whole_request_again),
        cmocka_unit_test(test_a_body_that_is_held),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
