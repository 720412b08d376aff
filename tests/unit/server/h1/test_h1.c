/* SPDX-License-Identifier: Apache-2.0 */
#include "h1_site.h"

#include "base/limits.h"
#include "http/h1_body.h"
#include "server/h1/conn_state.h"
#include "server/h1/job.h"

#include <stdlib.h>

/* The HTTP/1 machine as a whole: the same answers however bytes come and go. */

#define LONG_VALUE                                                                                 \
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" \
    "xxxx"
#define LONG_FIELDS                                                                                \
    "A: " LONG_VALUE "\r\nB: " LONG_VALUE "\r\nC: " LONG_VALUE "\r\nD: " LONG_VALUE "\r\n"

static const struct exchange {
    const char *sentence;
    struct mk_str in;
    unsigned statuses[4]; /* of the answers, in order */
    const char *has;      /* in what was answered; NULL: nothing in particular */
    bool closes;
    bool
        echoes; /* how it is framed depends on how much had come; compared are status and content */
} exchanges[] = {
    /* clang-format off */
    {"a small file", MK_STR_INIT(GET("/small.txt", "")), {200}, "Content-Length: 50\r\n", false, false},
    {"only its head", MK_STR_INIT("HEAD /small.txt HTTP/1.1\r\n" HOST "\r\n"), {200}, "Content-Length: 50\r\n", false, false},
    {"nothing in it", MK_STR_INIT(GET("/empty.txt", "")), {200}, "Content-Length: 0\r\n", false, false},
    {"a middling file", MK_STR_INIT(GET("/middle.bin", "")), {200}, "Content-Length: 5000\r\n", false, false},
    {"a large file", MK_STR_INIT(GET("/large.bin", CLOSE)), {200}, "Content-Length: 204800\r\n", true, false},
    {"an index file", MK_STR_INIT(GET("/dir/", "")), {200}, "<p>index", false, false},
    {"a directory without its slash", MK_STR_INIT(GET("/dir?q=1", "")), {301}, "Location: /dir/?q=1\r\n", false, false},
    {"no such file", MK_STR_INIT(GET("/nothing", "")), {404}, "Not Found", false, false},
    {"above the root", MK_STR_INIT(GET("/../x", "")), {403}, NULL, false, false},
    {"a method that files do not know", MK_STR_INIT("DELETE /small.txt HTTP/1.1\r\n" HOST "\r\n"), {405}, "Allow: GET, HEAD, OPTIONS", false, false},
    {"a method that nobody knows", MK_STR_INIT("BREW /small.txt HTTP/1.1\r\n" HOST "\r\n"), {501}, NULL, false, false},
    {"what is allowed", MK_STR_INIT("OPTIONS * HTTP/1.1\r\n" HOST "\r\n"), {204}, "Allow: ", false, false},
    {"one range", MK_STR_INIT(GET("/small.txt", "Range: bytes=10-19\r\n")), {206}, "Content-Range: bytes 10-19/50", false, false},
    {"several ranges", MK_STR_INIT(GET("/middle.bin", "Range: bytes=0-9,100-109,-5\r\n")), {206}, "multipart/byteranges", false, false},
    {"ranges of a large file", MK_STR_INIT(GET("/large.bin", "Range: bytes=0-9,50000-99999\r\n")), {206}, "multipart/byteranges", false, false},
    {"no such range", MK_STR_INIT(GET("/small.txt", "Range: bytes=50-\r\n")), {416}, "bytes */50", false, false},
    {"not modified", MK_STR_INIT(GET("/small.txt", "If-None-Match: *\r\n")), {304}, NULL, false, false},
    {"a failed precondition", MK_STR_INIT(GET("/small.txt", "If-Match: \"x\"\r\n")), {412}, NULL, false, false},
    {"a compressed variant", MK_STR_INIT(GET("/pre.css", "Accept-Encoding: gzip\r\n")), {200}, "gzip!", false, false},
    {"the end is wanted", MK_STR_INIT(GET("/small.txt", CLOSE)), {200}, "Connection: close\r\n", true, false},
    {"HTTP/1.0", MK_STR_INIT("GET /small.txt HTTP/1.0\r\n\r\n"), {200}, "Connection: close\r\n", true, false},
    {"HTTP/1.0 that goes on", MK_STR_INIT("GET /small.txt HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"), {200}, "Connection: keep-alive\r\n", false, false},
    {"no request at all", MK_STR_INIT("hello\r\n\r\n"), {400}, "Connection: close\r\n", true, false},
    {"no Host (RFC 9112 section 3.2)", MK_STR_INIT("GET / HTTP/1.1\r\n\r\n"), {400}, NULL, true, false},
    {"a newer protocol", MK_STR_INIT("GET / HTTP/2.0\r\n" HOST "\r\n"), {505}, NULL, true, false},
    {"three at once", MK_STR_INIT(GET("/small.txt", "") GET("/nothing", "") GET("/middle.bin", CLOSE)), {200, 404, 200}, NULL, true, false},
    {"a large one in the middle", MK_STR_INIT(GET("/small.txt", "") GET("/large.bin", "") GET("/small.txt", "")), {200, 200, 200}, NULL, false, false},
    {"an empty line before (RFC 9112 section 2.2)", MK_STR_INIT("\r\n" GET("/small.txt", "")), {200}, NULL, false, false},
    {"a body that nobody wants", MK_STR_INIT("POST /small.txt HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhello" GET("/small.txt", "")), {405, 200}, NULL, false, false},
    {"the same in chunks", MK_STR_INIT("POST /small.txt HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n" GET("/small.txt", "")), {405, 200}, NULL, false, false},
    {"a body above the maximum", MK_STR_INIT("POST /echo HTTP/1.1\r\n" HOST "Content-Length: 5000\r\n\r\n"), {413}, NULL, true, false},
    {"an echo without body", MK_STR_INIT(GET("/echo", "X: y\r\n")), {200}, "X: y\r\n", false, true},
    {"an echo", MK_STR_INIT("POST /echo HTTP/1.1\r\n" HOST "Content-Length: 5\r\n\r\nhello"), {200}, "hello", false, true},
    {"an echo in chunks", MK_STR_INIT("POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1\r\n!\r\n0\r\nX: y\r\n\r\n"), {200}, NULL, false, true},
    {"an echo to HTTP/1.0", MK_STR_INIT("POST /echo HTTP/1.0\r\nContent-Length: 5\r\n\r\nhello"), {200}, NULL, true, true},
    {"two echoes at once", MK_STR_INIT("POST /echo HTTP/1.1\r\n" HOST LONG_FIELDS "Content-Length: 5\r\n\r\nhello" "POST /echo/2 HTTP/1.1\r\n" HOST LONG_FIELDS "Transfer-Encoding: chunked\r\n\r\n5\r\nworld\r\n0\r\n\r\n"), {200, 200}, NULL, false, true},
    {"a long extension of a chunk", MK_STR_INIT("POST /echo HTTP/1.1\r\n" HOST LONG_FIELDS "Transfer-Encoding: chunked\r\n\r\n5;x=" LONG_VALUE LONG_VALUE LONG_VALUE "\r\nhello\r\n0\r\n\r\n"), {200}, NULL, false, true},
    {"a bad chunk", MK_STR_INIT("POST /echo HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\nzz\r\n"), {400}, NULL, true, false},
    /* clang-format on */
};

/* Status and content of every answer, without framing. In memory of malloc. */
static struct mk_str contents_of(struct mk_str answer)
{
    char *text = malloc(answer.len + 1);
    const char *p = answer.p, *end = answer.p + answer.len;
    size_t len = 0;

    assert_non_null(text);
    while (p < end) {
        const char *body = memmem(p, (size_t)(end - p), "\r\n\r\n", 4), *length;
        size_t rest, n, used;

        assert_non_null(body);
        body += 4;
        rest = n = (size_t)(end - body);
        memcpy(text + len, p, 12);
        len += 12;
        length = memmem(p, (size_t)(body - p), "Content-Length: ", 16);
        if (memmem(p, (size_t)(body - p), "chunked", 7)) {
            struct mk_h1_body b;
            char *copy = malloc(rest + 1);

            memcpy(copy, body, rest);
            mk_h1_body_init_chunked(&b, SIZE_MAX);
            assert_int_equal(mk_h1_body_decode(&b, copy, &n, &used), 1);
            memcpy(text + len, copy, n);
            free(copy);
        } else {
            used = length ? strtoul(length + 16, NULL, 10) : rest;
            n = used;
            memcpy(text + len, body, n);
        }
        len += n;
        p = body + used;
    }
    return (struct mk_str){text, len};
}

static void compare(const struct exchange *e, struct loopback *lb, struct mk_str expected,
                    const char *how, size_t n)
{
    struct mk_str got = loopback_answer(lb), contents = {NULL, 0};

    if (e->echoes)
        got = contents = contents_of(got);
    if (got.len != expected.len || memcmp(got.p, expected.p, got.len) != 0)
        fail_msg("%s: %s %zu: got\n%.*s\nexpected\n%.*s", e->sentence, how, n,
                 (int)(got.len > 2000 ? 2000 : got.len), got.p,
                 (int)(expected.len > 2000 ? 2000 : expected.len), expected.p);
    free((char *)(uintptr_t)contents.p);
}

/* Let one exchange run with these pieces and be as expected. */
static void run(const struct exchange *e, size_t first_piece, size_t in_piece, size_t out_piece,
                struct mk_str expected, const char *how, size_t n)
{
    struct loopback lb = begin(e->in);

    lb.first_piece = first_piece;
    lb.in_piece = in_piece;
    lb.out_piece = out_piece;
    loopback_open(&lb);
    loopback_run(&lb);
    compare(e, &lb, expected, how, n);
    if (e->closes != (loopback_is_closed(&lb) || lb.conn->state == MK_H1_LINGER))
        fail_msg("%s: %s %zu: %s", e->sentence, how, n, e->closes ? "not closed" : "closed");
    loopback_close(&lb);
    loopback_free(&lb);
}

/* The answer to input that comes at once and is taken at once. In memory of malloc. */
static struct mk_str reference(const struct exchange *e)
{
    struct loopback lb = begin(e->in);
    struct mk_str answer;
    unsigned i = 0;

    loopback_talk(&lb);
    for (; i < MK_ARRAY_LEN(e->statuses) && e->statuses[i]; i++) {
        if (loopback_status(&lb, i) != e->statuses[i])
            fail_msg("%s: answer %u is %u, expected %u", e->sentence, i, loopback_status(&lb, i),
                     e->statuses[i]);
    }
    if (loopback_status(&lb, i) != 0 || (e->has && !loopback_has(&lb, e->has)))
        fail_msg("%s: got %.*s", e->sentence, (int)(lb.out_len < 1000 ? lb.out_len : 1000), lb.out);
    if (e->echoes) {
        answer = contents_of(loopback_answer(&lb));
        loopback_free(&lb);
        return answer;
    }
    return loopback_answer(&lb); /* lb.out goes with it */
}

static void answers_alike_at_every_split_of_input(void **state)
{
    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(exchanges); i++) {
        const struct exchange *e = &exchanges[i];
        struct mk_str expected = reference(e);

        for (size_t at = 1; at < e->in.len; at++)
            run(e, at, 0, 0, expected, "split at byte", at);
        for (size_t piece = 1; piece < 4; piece++)
            run(e, 0, piece, 0, expected, "input in pieces of", piece);
        free((char *)(uintptr_t)expected.p);
    }
}

static void answers_alike_however_slowly_they_are_taken(void **state)
{
    static const size_t pieces[] = {1, 2, 3, 7, 100, 1000, 4096, 65536};

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(exchanges); i++) {
        const struct exchange *e = &exchanges[i];
        struct mk_str expected = reference(e);

        for (size_t j = 0; j < MK_ARRAY_LEN(pieces); j++) {
            if (expected.len / pieces[j] < 6000)
                run(e, 0, 0, pieces[j], expected, "output in pieces of", pieces[j]);
        }
        free((char *)(uintptr_t)expected.p);
    }
}

static void answers_alike_when_both_are_slow(void **state)
{
    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(exchanges); i++) {
        const struct exchange *e = &exchanges[i];
        struct mk_str expected = reference(e);

        if (expected.len < 6000)
            run(e, 0, 1, 1, expected, "byte by byte", 1);
        else
            run(e, 0, 3, 1000, expected, "3 in, 1000 out", 1);
        free((char *)(uintptr_t)expected.p);
    }
}

static void no_sendfile_is_no_difference(void **state)
{
    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(exchanges); i++) {
        const struct exchange *e = &exchanges[i];
        struct mk_str expected = reference(e);
        struct loopback lb = begin(e->in);

        lb.no_sendfile = true;
        lb.out_piece = 10000;
        loopback_talk(&lb);
        compare(e, &lb, expected, "without sendfile", 0);
        loopback_free(&lb);
        free((char *)(uintptr_t)expected.p);
    }
}

/* ---- the table of states ---- */

#define BIT(state) (1U << MK_H1_##state)

/* Step by hand until the machine waits; a wait says what it has to. @return false: closed. */
static bool walk(struct mk_conn *c, const char *sentence, unsigned *seen)
{
    struct mk_turn turn = {.bytes = MK_LIMIT_TURN_BYTES, .requests = MK_LIMIT_TURN_REQUESTS};

    for (int steps = 0;; steps++) {
        uint8_t before = c->state;
        enum mk_step step = mk_h1_step(c, &turn);

        if (c->state != before && !mk_states_allow(&mk_h1_states, before, c->state))
            fail_msg("%s: state %u after %u", sentence, c->state, before);
        *seen |= 1U << c->state;
        if (steps > 1000)
            fail_msg("%s: turns in circles in state %u", sentence, c->state);
        switch (step) {
        case MK_STEP_NEXT:
            continue;
        case MK_STEP_SOON:
        case MK_STEP_WAIT:
            mk_h1_set_timeout(c); /* which tells whom an answer waits for */
            *seen |= 1U << c->state;
            if (fix.worker->gather->bytes > 0)
                fail_msg("%s: bytes left for another connection in state %u", sentence, c->state);
            return true;
        case MK_STEP_CLOSE:
            mk_conn_close(c, c->close_reason);
            return false;
        }
    }
}

static unsigned walk_exchange(const struct exchange *e, size_t in_piece, size_t out_piece)
{
    struct loopback lb = begin(e->in);
    unsigned seen = 0;
    size_t in_at, out_len;
    int still = 0;

    loopback_open(&lb);
    lb.in_piece = in_piece;
    lb.out_piece = out_piece;
    do {
        in_at = lb.in_at;
        out_len = lb.out_len;
        loopback_arrive(&lb);
        lb.conn->readable = true;
        still = walk(lb.conn, e->sentence, &seen) && in_at == lb.in_at && out_len == lb.out_len
                    ? still + 1
                    : 0;
    } while (!loopback_is_closed(&lb) && still < 3);
    loopback_close(&lb);
    loopback_free(&lb);
    return seen;
}

static void only_allowed_states_follow_each_other(void **state)
{
    unsigned seen =
        BIT(PROXY) | BIT(OFFER) | BIT(HANDLER) | BIT(TAKEN); /* they have tests of their own */

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(exchanges); i++) {
        seen |= walk_exchange(&exchanges[i], 0, 0);
        seen |= walk_exchange(&exchanges[i], 1, 0);
        seen |= walk_exchange(&exchanges[i], 0, 100);
        seen |= walk_exchange(&exchanges[i], 7, 1000);
    }
    assert_int_equal(seen, (1U << MK_H1_STATE_COUNT) - 1); /* every one was there */
}

static void a_broken_connection_ends_in_every_state(void **state)
{
    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(exchanges); i++) {
        for (int turns = 0; turns < 12; turns++) {
            struct loopback lb = begin(exchanges[i].in);

            lb.in_piece = 40;
            lb.out_piece = 100;
            loopback_open(&lb);
            for (int t = 0; t < turns; t++)
                loopback_turn(&lb);
            lb.broken = true;
            for (int t = 0; t < 3; t++)
                loopback_turn(&lb);
            if (!loopback_is_closed(&lb)) /* epoll says so too */
                lb.conn->watch.on_event(&lb.conn->watch, EPOLLERR | EPOLLHUP);
            assert_true(loopback_is_closed(&lb));
            loopback_close(&lb);
            loopback_free(&lb);
            assert_int_equal(fix.worker->conns.used, 0);
            assert_int_equal(fix.worker->jobs.used, 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RUN(answers_alike_at_every_split_of_input),
        RUN(answers_alike_however_slowly_they_are_taken),
        RUN(answers_alike_when_both_are_slow),
        RUN(no_sendfile_is_no_difference),
        RUN(only_allowed_states_follow_each_other),
        RUN(a_broken_connection_ends_in_every_state),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
