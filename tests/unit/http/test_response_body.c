/* SPDX-License-Identifier: Apache-2.0 */
#include "areas.h"

#include "base/str.h"

#include <monkey/response.h>

#include <stdbool.h>

/*
 * A body by the head before it: whole, cut in two at each byte and one byte at a time, each piece at the
 * edge of an inaccessible page. The decoder of chunks has rows of its own in test_h1_body.c.
 */

struct row {
    const char *sentence, *rfc;
    enum mk_response_kind kind;
    const char *head;
    bool to_head; /* the request was HEAD */
    const char *in;
    int ret; /* of mk_body_decode */
    const char *body;
    size_t rest; /* bytes of the next message */
    int end;     /* of mk_body_end */
};

#define HTTP MK_RESPONSE_HTTP
#define CGI MK_RESPONSE_CGI
#define AGAIN MK_E_AGAIN

#define OK "HTTP/1.1 200 OK\r\n"
#define LENGTH5 "Content-Length: 5\r\n\r\n"
#define CHUNKED "Transfer-Encoding: chunked\r\n\r\n"

static const struct row rows[] = {
    {"a length", "RFC 9112 6.3", HTTP, OK LENGTH5, false, "hello", 1, "hello", 0, 0},
    {"a length, and more", "RFC 9112 6.3", HTTP, OK LENGTH5, false, "hello HTTP", 1, "hello", 5, 0},
    {"a length that is not reached", "RFC 9112 8", HTTP, OK LENGTH5, false, "hell", AGAIN, "hell",
     0, MK_E_PEER},
    {"a length, and nothing came", "RFC 9112 8", HTTP, OK LENGTH5, false, "", AGAIN, "", 0,
     MK_E_PEER},
    {"a length of nothing", "RFC 9112 6.3", HTTP, OK "Content-Length: 0\r\n\r\n", false, "x", 1, "",
     1, 0},
    {"chunks", "RFC 9112 7.1", HTTP, OK CHUNKED, false, "2\r\nhe\r\n3;a\r\nllo\r\n0\r\n\r\nHTTP", 1,
     "hello", 4, 0},
    {"chunks with trailers", "RFC 9112 7.1.2", HTTP, OK CHUNKED, false,
     "1\r\na\r\n0\r\nB: c\r\n\r\n", 1, "a", 0, 0},
    {"chunks without the last", "RFC 9112 8", HTTP, OK CHUNKED, false, "2\r\nhe\r\n", AGAIN, "he",
     0, MK_E_PEER},
    {"chunks without the last line end", "RFC 9112 8", HTTP, OK CHUNKED, false, "0\r\n", AGAIN, "",
     0, MK_E_PEER},
    {"no chunks at all", "RFC 9112 8", HTTP, OK CHUNKED, false, "", AGAIN, "", 0, MK_E_PEER},
    {"bad chunks", "RFC 9112 7.1", HTTP, OK CHUNKED, false, "1\r\nab\r\n", MK_E_BAD, "a", 0,
     MK_E_PEER},
    {"a chunk that would wrap", "RFC 9112 7.1", HTTP, OK CHUNKED, false, "1ffffffffffffffff\r\n",
     MK_E_BAD, "", 0, MK_E_PEER},
    {"until close", "RFC 9112 6.3", HTTP, OK "\r\n", false, "0\r\n\r\nhello", AGAIN,
     "0\r\n\r\nhello", 0, 0},
    {"until close, and nothing came", "RFC 9112 6.3", HTTP, OK "\r\n", false, "", AGAIN, "", 0, 0},
    {"the answer to HEAD with a length", "RFC 9112 6.3", HTTP, OK LENGTH5, true, "HTTP", 1, "", 4,
     0},
    {"the answer to HEAD with chunks", "RFC 9112 6.3", HTTP, OK CHUNKED, true, "HTTP", 1, "", 4, 0},
    {"the answer to HEAD without either", "RFC 9112 6.3", HTTP, OK "\r\n", true, "HTTP", 1, "", 4,
     0},
    {"100", "RFC 9112 6.3", HTTP, "HTTP/1.1 100 Continue\r\n\r\n", false, "HTTP", 1, "", 4, 0},
    {"101", "RFC 9112 6.3", HTTP, "HTTP/1.1 101 Go\r\n\r\n", false, "frames", 1, "", 6, 0},
    {"204", "RFC 9112 6.3", HTTP, "HTTP/1.1 204 No\r\n\r\n", false, "HTTP", 1, "", 4, 0},
    {"204 with chunks", "RFC 9112 6.3", HTTP, "HTTP/1.1 204 No\r\n" CHUNKED, false, "0\r\n\r\n", 1,
     "", 5, 0},
    {"a blank behind the size of a chunk", "RFC 9112 7.1", HTTP, OK CHUNKED, false,
     "5 \r\nhello\r\n0\r\n\r\n", MK_E_BAD, "", 0, MK_E_PEER},
    {"304 with a length", "RFC 9112 6.3", HTTP, "HTTP/1.1 304 Same\r\n" LENGTH5, false, "HTTP", 1,
     "", 4, 0},
    {"CGI until the end", "RFC 3875 6.4", CGI, "A: b\n\n", false, "hello", AGAIN, "hello", 0, 0},
    {"CGI with a length", "RFC 3875 6.3", CGI, "Content-Length: 5\n\n", false, "hello!", 1, "hello",
     1, 0},
    {"CGI cut off", "RFC 3875 6.3", CGI, "Content-Length: 5\n\n", false, "hel", AGAIN, "hel", 0,
     MK_E_PEER},
    {"CGI 304", "RFC 9112 6.3", CGI, "Status: 304\n\n", false, "x", 1, "", 1, 0},
};

struct outcome {
    int ret;
    size_t len, used;
    char body[64];
};

/** Decode in pieces: first bytes, then step bytes at a time. */
static struct outcome decode(struct mk_body *b, struct mk_str in, size_t first, size_t step)
{
    struct outcome o = {.ret = AGAIN};
    size_t at = 0, n = first;

    do {
        size_t len = n < in.len - at ? n : in.len - at, used = 999, received = len;
        char *buf = guard_put(&in_area, in.p + at, len);

        o.ret = mk_body_decode(b, buf, &len, &used);
        assert_true(len <= used && used <= received);
        assert_true(o.ret != AGAIN || used == received);
        memcpy(o.body + o.len, buf, len);
        o.len += len;
        o.used += used;
        at += received;
        n = step;
    } while (o.ret == AGAIN && at < in.len);
    return o;
}

static void check(const struct row *row, struct mk_body b, size_t first, size_t step)
{
    struct mk_str in = mk_str_from(row->in);
    struct outcome o = decode(&b, in, first, step);

    if (o.ret != row->ret || (o.ret == 1 && o.used != in.len - row->rest) ||
        !mk_str_eq((struct mk_str){o.body, o.len}, mk_str_from(row->body)) || b.total != o.len)
        fail_msg("%s (%s), cut at %zu: gave %d, %zu bytes of body, %zu used", row->sentence,
                 row->rfc, first, o.ret, o.len, o.used);
    if (mk_body_end(&b) != row->end)
        fail_msg("%s (%s): the end gave %d", row->sentence, row->rfc, mk_body_end(&b));
}

static void ends_as_the_head_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *row = &rows[i];
        size_t len = strlen(row->in), head = strlen(row->head);
        struct mk_response_head h = {0};
        struct mk_body b;

        assert_int_equal(mk_response_parse(&h, row->kind, row->head, head, head), head);
        mk_body_init(&b, &h, row->to_head);
        for (size_t cut = 0; cut <= len; cut++)
            check(row, b, cut, len);
        check(row, b, 1, 1);
    }
}

static void what_is_complete_stays_so(void **state)
{
    static const struct mk_str head = MK_STR_INIT(OK CHUNKED);
    struct mk_response_head h = {0};
    struct mk_body b;
    char last[] = "0\r\n\r\n", more[] = "5\r\nhello\r\n";
    size_t len = 5, used;

    (void)state;
    assert_true(mk_response_parse(&h, MK_RESPONSE_HTTP, head.p, head.len, head.len) > 0);
    mk_body_init(&b, &h, false);
    assert_int_equal(mk_body_decode(&b, last, &len, &used), 1);
    len = sizeof(more) - 1;
    assert_int_equal(mk_body_decode(&b, more, &len, &used), 1);
    assert_int_equal(len, 0);
    assert_int_equal(used, 0);
    assert_int_equal(mk_body_end(&b), 0);
}

/* What RFC 9112 forbids, and some old programs send. */
static void a_lenient_reader_takes_more(void **state)
{
    static const struct mk_str head = MK_STR_INIT(
        "HTTP/1.1 200 OK\nA: b\r\nTransfer-Encoding: chunked\n\r\n5  \r\nhello\r\n0 \r\n\r\n");
    struct mk_response_head h = {.lenient = false};
    struct mk_str name, value;
    struct mk_body b;
    char body[64];
    size_t len, used;
    uint32_t at = 0;
    ssize_t n;

    (void)state;
    assert_int_equal(mk_response_parse(&h, HTTP, head.p, head.len, head.len), MK_E_BAD);
    h = (struct mk_response_head){.lenient = true};
    n = mk_response_parse(&h, HTTP, head.p, head.len, head.len);
    assert_true(n > 0 && (size_t)n < head.len);
    assert_true(mk_response_next(&h, head.p, &at, &name, &value));
    assert_int_equal(value.len, 1);
    mk_body_init(&b, &h, false);
    len = head.len - (size_t)n;
    memcpy(body, head.p + n, len);
    assert_int_equal(mk_body_decode(&b, body, &len, &used), 1);
    assert_int_equal(len, 5);
    assert_memory_equal(body, "hello", 5);
    h = (struct mk_response_head){.lenient = true}; /* a CR alone ends no line for anybody */
    assert_int_equal(mk_response_parse(&h, HTTP, "HTTP/1.1 200 OK\rA: b\r\n\r\n", 25, 25),
                     MK_E_BAD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends_as_the_head_says),
        cmocka_unit_test(what_is_complete_stays_so),
        cmocka_unit_test(a_lenient_reader_takes_more),
    };

    return cmocka_run_group_tests(tests, open_areas, close_areas);
}
