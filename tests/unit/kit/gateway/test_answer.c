/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "answer.h"
#include "fake.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* All of it, written down as the client would see it. */
static void run(struct mk_request *r, enum mk_response_kind kind, struct fake_program p,
                const char *type)
{
    struct gateway_answer a;
    char dst[64];
    ssize_t n = MK_E_AGAIN;

    gateway_answer_init(&a, r, kind, ANSWER_HEAD_DEFAULT, fake_output, &p);
    if (type)
        a.type = mk_str_from(type);
    for (int i = 0; i < 100000 && a.progress == GATEWAY_HEAD; i++)
        (void)gateway_answer_input(&a);
    while (a.progress == GATEWAY_BODY && !a.head_only &&
           ((n = r->produce(r, r->produce_arg, dst, sizeof(dst))) > 0 || n == MK_E_AGAIN)) {
        if (n > 0)
            fake_say(r, "%.*s", (int)n, dst);
    }
    if (a.progress == GATEWAY_BODY && !a.head_only)
        fake_say(r, n == 0 ? "|" : "!");
    gateway_answer_fini(&a);
}

struct row {
    const char *output, *said;
};

static void check_rows(enum mk_response_kind kind, const char *method, const char *type,
                       const struct row *rows, size_t count)
{
    static const size_t steps[] = {1, 2, 7, 4096};

    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < COUNT(steps); k++) {
            struct mk_request r = {.facts = {.method = mk_str_from(method)}};
            const struct fake_program p = {
                .bytes = rows[i].output, .len = strlen(rows[i].output), .step = steps[k]};

            run(&r, kind, p, type);
            if (strcmp(r.said, rows[i].said) != 0)
                fail_msg("row %zu, steps of %zu:\n%s\ninstead of\n%s", i, steps[k], r.said,
                         rows[i].said);
            fake_end(&r);
        }
    }
}

static int64_t left(void *arg)
{
    const struct fake_program *p = arg;

    return p->ending ? -1 : (int64_t)(p->len - p->at);
}

/* Who knows how much is still to come spares the client the chunks; what the program says itself goes before. */
static void test_known_length(void **state)
{
    static const struct {
        const char *output, *method;
        int ending;
        size_t step;
        const char *said;
    } rows[] = {
        {"A: b\n\nhello", "GET", 0, 4096, "200\nA: b\nlength 5\n"},
        {"A: b\n\nhello", "GET", 0, 7, "200\nA: b\nlength 5\n"},
        {"A: b\n\n", "GET", 0, 7, "200\nA: b\nlength 0\n"},
        {"A: b\n\nhello", "GET", MK_E_PEER, 4096, "200\nA: b\nlength -1\n"},
        {"A: b\n\n", "HEAD", 0, 7, "200\nA: b\nlength -1\n"},
        {"Content-Length: 9\n\nhello", "GET", 0, 4096, "200\nlength 9\n"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mk_request r = {.facts = {.method = mk_str_from(rows[i].method)}};
        struct fake_program p = {.bytes = rows[i].output,
                                 .len = strlen(rows[i].output),
                                 .step = rows[i].step,
                                 .ending = rows[i].ending};
        struct gateway_answer a;

        gateway_answer_init(&a, &r, MK_RESPONSE_CGI, ANSWER_HEAD_DEFAULT, fake_output, &p);
        a.left = left;
        for (int k = 0; k < 100 && a.progress == GATEWAY_HEAD; k++)
            (void)gateway_answer_input(&a);
        if (strcmp(r.said, rows[i].said) != 0)
            fail_msg("row %zu:\n%s\ninstead of\n%s", i, r.said, rows[i].said);
        fake_end(&r);
    }
}

static void test_cgi(void **state)
{
    static const struct row rows[] = {
        {"Content-Type: text/plain\n\nhello", "200\nContent-Type: text/plain\nlength -1\nhello|"},
        {"Content-Type: text/plain\r\n\r\nhello",
         "200\nContent-Type: text/plain\nlength -1\nhello|"},
        {"Status: 404 Gone fishing\nX-A: b\n\n", "404\nX-A: b\nlength -1\n|"},
        {"Content-Length: 5\nContent-Type: a/b\n\nhello",
         "200\nContent-Type: a/b\nlength 5\nhello|"},
        {"Content-Length: 5\nContent-Type: a/b\n\nhello and more",
         "200\nContent-Type: a/b\nlength 5\nhello|"},
        {"Location: http://other/x\n\n", "302\nLocation: http://other/x\nlength -1\n|"},
        {"Location: //other/x\n\n", "302\nLocation: //other/x\nlength -1\n|"},
        {"Status: 303\nLocation: /x\n\n", "303\nLocation: /x\nlength -1\n|"},
        {"Location: /x?y=1\n\n", ""},
        {"X-A: b\nConnection: X-Gone, close\nX-Gone: 1\nKeep-Alive: 5\nUpgrade: h2\nTE: "
         "x\nTrailer: y\n\nz",
         "200\nX-A: b\nlength -1\nz|"},
        {"Transfer-Encoding: chunked\n\n", "error 502 \n"},
        {"Status: 100\n\n", "error 502 \n"},
        {"hello, I am no head\n\n", "error 502 \n"},
        {"X-A: b\n", "error 502 \n"},
        {"", "error 502 \n"},
    };

    (void)state;
    check_rows(MK_RESPONSE_CGI, "GET", NULL, rows, COUNT(rows));
}

static void test_type_of_what_has_none(void **state)
{
    static const struct row rows[] = {
        {"X-A: b\n\nz", "200\nX-A: b\nContent-Type: text/html\nlength -1\nz|"},
        {"Content-Type: a/b\n\nz", "200\nContent-Type: a/b\nlength -1\nz|"},
        {"Status: 304\n\n", "304\nlength -1\n|"},
    };

    (void)state;
    check_rows(MK_RESPONSE_CGI, "GET", "text/html", rows, COUNT(rows));
}

static void test_head(void **state)
{
    static const struct row rows[] = {
        {"Content-Type: a/b\nContent-Length: 5\n\nhello", "200\nContent-Type: a/b\nlength 5\n"},
        {"Content-Type: a/b\n\nhello", "200\nContent-Type: a/b\nlength -1\n"},
    };

    (void)state;
    check_rows(MK_RESPONSE_CGI, "HEAD", NULL, rows, COUNT(rows));
}

static void test_nph(void **state)
{
    static const struct row rows[] = {
        {"HTTP/1.1 201 Made\r\nX-A: b\r\n\r\nz", "201\nX-A: b\nlength -1\nz|"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
         "200\nlength -1\nab|"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", "200\nlength -1\nab!"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", "200\nlength 3\nab!"},
        {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nab", "200\nlength -1\nab|"},
        {"HTTP/1.1 103 Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\nab",
         "103\nLink: x\nlength -1\n200\nlength -1\nab|"},
        {"HTTP/1.1 302 Found\r\nLocation: /x\r\n\r\n", "302\nLocation: /x\nlength -1\n|"},
        {"HTTP/1.1 101 Other\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n", "error 502 \n"},
        {"Content-Type: text/plain\n\nhello", "error 502 \n"},
    };

    (void)state;
    check_rows(MK_RESPONSE_HTTP, "GET", NULL, rows, COUNT(rows));
}

static void test_interims_have_a_bound(void **state)
{
    struct mk_request r = {.facts = {.method = MK_STR("GET")}};
    char text[2048] = "";

    (void)state;
    for (int i = 0; i < 9; i++)
        strcat(text, "HTTP/1.1 103 Hints\r\n\r\n");
    run(&r, MK_RESPONSE_HTTP,
        (struct fake_program){.bytes = text, .len = strlen(text), .step = 4096}, NULL);
    assert_non_null(strstr(r.said, "error 502"));
    fake_end(&r);
}

static void test_another_path(void **state)
{
    static const char text[] = "Location: /x?y=1\nContent-Type: a/b\n\nnobody reads this";
    struct mk_request r = {.facts = {.method = MK_STR("GET")}};

    (void)state;
    run(&r, MK_RESPONSE_CGI, (struct fake_program){.bytes = text, .len = strlen(text), .step = 9},
        NULL);
    assert_string_equal(r.moved_to, "/x?y=1");
    assert_string_equal(r.said, "");
    fake_end(&r);
    r = (struct mk_request){.facts = {.method = MK_STR("GET")}, .move_error = MK_E_LIMIT};
    run(&r, MK_RESPONSE_CGI, (struct fake_program){.bytes = text, .len = strlen(text), .step = 9},
        NULL);
    assert_string_equal(r.said, "error 500 \n");
    fake_end(&r);
}

static void test_what_breaks_off_stays_broken(void **state)
{
    static const char text[] = "X-A: b\n\nhalf";
    struct mk_request r = {.facts = {.method = MK_STR("GET")}};

    (void)state;
    run(&r, MK_RESPONSE_CGI,
        (struct fake_program){.bytes = text, .len = strlen(text), .step = 4, .ending = MK_E_PEER},
        NULL);
    assert_string_equal(r.said, "200\nX-A: b\nlength -1\nhalf!");
    fake_end(&r);
}

static size_t held_at_most, held_now; /* beyond the memory of the request */

static void hold(void *arg, size_t bytes)
{
    (void)arg;
    held_now = bytes;
    held_at_most = bytes > held_at_most ? bytes : held_at_most;
}

/* A head of so many bytes and "z"; what the client sees, or the error. */
static void run_long(struct mk_request *r, size_t len, int64_t max_head)
{
    static char text[2 * (20 << 10)];
    struct fake_program p = {.bytes = text, .len = len + 1, .step = 1000};
    struct gateway_answer a;
    char dst[64];
    ssize_t n;

    memset(text, 'x', len);
    memcpy(text, "A: ", 3);
    memcpy(text + len - 2, "\n\nz", 3);
    held_at_most = held_now = 0;
    gateway_answer_init(&a, r, MK_RESPONSE_CGI, max_head, fake_output, &p);
    a.hold = hold;
    while (gateway_answer_input(&a) == GATEWAY_HEAD)
        ;
    if (a.progress == GATEWAY_BODY) {
        while ((n = r->produce(r, r->produce_arg, dst, sizeof(dst))) == MK_E_AGAIN)
            ;
        assert_true(n == 1 && dst[0] == 'z');
        while ((n = r->produce(r, r->produce_arg, dst, sizeof(dst))) == MK_E_AGAIN)
            ;
        assert_int_equal(n, 0);
        assert_int_equal(held_now, 0);
    }
    gateway_answer_fini(&a);
    gateway_answer_fini(&a);
}

/* Those that the request's memory has no room for lie elsewhere, and are booked. */
static void test_long_heads(void **state)
{
    static const struct {
        size_t len;
        int64_t max;
        bool passes;
        size_t held;
    } rows[] = {
        {4000, 4096, true, 0},
        {4097, 4096, false, 0},
        {16 << 10, 16 << 10, true, 0},
        {(16 << 10) + 1, 16 << 10, false, 0},
        {16 << 10, 20 << 10, true, 0},
        {20 << 10, 20 << 10, true, 20 << 10},
        {(20 << 10) + 1, 20 << 10, false, 20 << 10},
        {20 << 10, ANSWER_HEAD_MOST, true, 32 << 10},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct mk_request r = {.facts = {.method = MK_STR("GET")}};

        run_long(&r, rows[i].len, rows[i].max);
        if ((strncmp(r.said, "200\n", 4) == 0) != rows[i].passes || held_at_most != rows[i].held)
            fail_msg("row %zu: %.10s, held %zu", i, r.said, held_at_most);
        fake_end(&r);
    }
}

static void test_fails_once(void **state)
{
    struct mk_request r = {.facts = {.method = MK_STR("GET")}};
    struct fake_program p = {.bytes = "A: b\n\nbody", .len = 10, .step = 100};
    struct gateway_answer a;

    (void)state;
    gateway_answer_init(&a, &r, MK_RESPONSE_CGI, ANSWER_HEAD_DEFAULT, fake_output, &p);
    gateway_answer_fail(&a, 504, "Retry-After: 1\r\n");
    gateway_answer_fail(&a, 502, NULL);
    assert_int_equal(gateway_answer_input(&a), GATEWAY_FAILED);
    assert_string_equal(r.said, "error 504 Retry-After: 1\r\n\n");
    r.said[r.said_len = 0] = '\0';
    gateway_answer_init(&a, &r, MK_RESPONSE_CGI, ANSWER_HEAD_DEFAULT, fake_output, &p);
    while (gateway_answer_input(&a) == GATEWAY_HEAD)
        ;
    gateway_answer_fail(&a, 504, NULL);
    gateway_answer_fail(&a, 504, NULL);
    assert_string_equal(r.said, "200\nA: b\nlength -1\naborted\n");
    fake_end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_length),
        cmocka_unit_test(test_cgi),
        cmocka_unit_test(test_type_of_what_has_none),
        cmocka_unit_test(test_head),
        cmocka_unit_test(test_nph),
        cmocka_unit_test(test_interims_have_a_bound),
        cmocka_unit_test(test_another_path),
        cmocka_unit_test(test_what_breaks_off_stays_broken),
        cmocka_unit_test(test_long_heads),
        cmocka_unit_test(test_fails_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
