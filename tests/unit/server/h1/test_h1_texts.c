/* SPDX-License-Identifier: Apache-2.0 */
#include "answer.h"

#include <stdlib.h>

/* What a handler has of the head of a request stays where it is while the body is read. */

static const struct kept {
    const char *sentence;
    size_t before, head,
        body; /* bytes of the heads of the request before it and of its own, at least, and of its body */
} rows[] = {
    {"alone", 0, 1000, 9000},
    {"the second in a block", 1500, 1000, 9000},
    {"the second, and the block is nearly full", 2000, 2000, 9000},
    {"the second, from a block to the heap", 3500, 3000, 9000},
    {"the second on the heap", 20000, 15000, 40000},
    {"the second on the heap, larger than the first", 12000, 20000, 40000},
};

/* What the handler was given when it was first called. */
static struct {
    struct mk_str value, path;
    char *copy;
    size_t read;
} seen;

static void check(void)
{
    assert_memory_equal(seen.value.p, seen.copy, seen.value.len);
    assert_memory_equal(seen.path.p, "/kept", 5);
}

static void note(struct mk_request *r, struct mk_str value)
{
    seen.value = value;
    seen.path = mk_request_path(r);
    seen.copy = malloc(value.len);
    assert_non_null(seen.copy);
    memcpy(seen.copy, value.p, value.len);
}

static enum mk_verdict read_slowly(struct mk_request *r)
{
    const struct mk_str value = mk_request_header(r, MK_STR("X-Kept"));
    char piece[100];
    ssize_t n;

    if (!value.p)
        return answer_head(r, 204, 0);
    if (!seen.copy)
        note(r, value);
    while ((n = mk_request_read(r, piece, sizeof(piece))) > 0) {
        seen.read += (size_t)n;
        check();
    }
    check();
    assert_memory_equal(value.p, seen.copy, value.len);
    if (n == MK_E_AGAIN)
        return MK_VERDICT_LATER;
    assert_int_equal(n, 0);
    return answer_head(r, 200, 0);
}

/* A value in which each place has another neighbour. */
static size_t put_value(char *to, size_t len)
{
    for (size_t i = 0; i < len; i++)
        to[i] = (char)('a' + i * i % 23 + (i / 23) % 3);
    return len;
}

static size_t put(char *to, const char *text)
{
    memcpy(to, text, strlen(text));
    return strlen(text);
}

static size_t put_chunks(char *to, size_t len)
{
    size_t n = 0;

    for (size_t done = 0; done < len; done += 100) {
        n += put(to + n, "64\r\n");
        memset(to + n, 'B', 100);
        n += 100 + put(to + n + 100, "\r\n");
    }
    return n + put(to + n, "0\r\n\r\n");
}

/* @return how much of it are the heads */
static size_t write_requests(char *to, const struct kept *row)
{
    size_t n = 0, heads;

    if (row->before > 0) {
        n += put(to, "GET / HTTP/1.1\r\nHost: a\r\nX: ");
        n += put_value(to + n, row->before);
        n += put(to + n, "\r\n\r\n");
    }
    n += put(to + n, "POST /kept HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nX-Kept: ");
    n += put_value(to + n, row->head);
    n += put(to + n, "\r\n\r\n");
    heads = n;
    n += put_chunks(to + n, row->body);
    to[n] = '\0';
    return heads;
}

static void texts_stay_while_the_body_is_read(void **state)
{
    static const size_t pieces[] = {1, 107, 700, 5000};
    static char text[100000];

    (void)state;
    for (size_t i = 0; i < MK_ARRAY_LEN(rows) * MK_ARRAY_LEN(pieces); i++) {
        const struct kept *row = &rows[i / MK_ARRAY_LEN(pieces)];
        const struct answer answer = {.handle = read_slowly, .in = text};
        struct loopback lb;
        const size_t heads = write_requests(text, row);

        memset(&seen, 0, sizeof(seen));
        answer_begin(&lb, &answer);
        lb.first_piece = heads;
        lb.in_piece = pieces[i % MK_ARRAY_LEN(pieces)];
        loopback_talk(&lb);
        if (seen.read != row->body || loopback_status(&lb, row->before > 0) != 200)
            fail_msg("%s: %zu bytes of %zu", row->sentence, seen.read, row->body);
        loopback_free(&lb);
        free(seen.copy);
    }
}

/* Callers who were built when the struct ended before its last member. */
static enum mk_verdict ask_as_before(struct mk_request *r)
{
    const size_t old = offsetof(struct mk_request_headers, range);
    struct mk_request_headers some = {.size = old}, all = {.size = sizeof(all)};

    some.range.len = 77;
    mk_request_headers(r, &some);
    mk_request_headers(r, &all);
    assert_int_equal(some.size, old);
    assert_int_equal(some.range.len, 77);
    assert_int_equal(all.size, sizeof(all));
    assert_int_equal(all.range.len, strlen("bytes=1-2"));
    assert_memory_equal(some.connection.p, "keep-alive", some.connection.len);
    assert_ptr_equal(some.connection.p, all.connection.p);
    assert_null(some.content_type.p);
    return answer_head(r, 200, 0);
}

static void headers_are_as_many_as_the_caller_knows(void **state)
{
    const struct answer answer = {
        .handle = ask_as_before,
        .in = "GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\nRange: bytes=1-2\r\n\r\n"};
    struct loopback lb;

    (void)state;
    answer_begin(&lb, &answer);
    loopback_talk(&lb);
    assert_int_equal(loopback_status(&lb, 0), 200);
    loopback_free(&lb);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_stay_while_the_body_is_read),
        cmocka_unit_test(headers_are_as_many_as_the_caller_knows),
    };

    return cmocka_run_group_tests(tests, answer_set_up, answer_tear_down);
}
