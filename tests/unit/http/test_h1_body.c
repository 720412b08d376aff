/* SPDX-License-Identifier: Apache-2.0 */
#include "guard.h"

#include "base/limits.h"
#include "http/h1_body.h"

#include <stdbool.h>
#include <stdlib.h>

/*
 * Every row runs whole, cut in two at each byte and one byte at a time, each piece at the edge
 * of an inaccessible page. Verdict, body and length used must be the same.
 */

static struct guard area;

static int open_area(void **state)
{
    (void)state;
    area = guard_open(65536);
    return 0;
}

static int close_area(void **state)
{
    (void)state;
    guard_close(&area);
    return 0;
}

/** What came of a message. */
struct outcome {
    int ret;
    size_t used, len;
    char body[65536];
};

static void feed(struct mk_h1_body *b, struct outcome *o, struct mk_str piece)
{
    char *buf = guard_put(&area, piece.p, piece.len);
    size_t len = piece.len, used = 12345;

    o->ret = mk_h1_body_decode(b, buf, &len, &used);
    assert_true(len <= used && used <= piece.len);
    if (o->ret == MK_E_AGAIN)
        assert_int_equal(used, piece.len);
    assert_memory_equal(buf + used, piece.p + used, piece.len - used); /* the rest is untouched */
    assert_true(o->len + len <= sizeof(o->body));
    memcpy(o->body + o->len, buf, len);
    o->len += len;
    o->used += used;
}

/** Decode in pieces: first bytes, then step bytes at a time. */
static void decode(struct mk_h1_body b, struct outcome *o, struct mk_str in, size_t first,
                   size_t step)
{
    size_t at = 0, n = first;

    *o = (struct outcome){.ret = MK_E_AGAIN};
    while (o->ret == MK_E_AGAIN && at < in.len) {
        if (n > in.len - at)
            n = in.len - at;
        feed(&b, o, (struct mk_str){in.p + at, n});
        at += n;
        n = step;
    }
    if (in.len == 0)
        feed(&b, o, in);
}

static void assert_same(const struct outcome *a, const struct outcome *b, struct mk_str in)
{
    if (a->ret != b->ret || a->used != b->used || a->len != b->len ||
        memcmp(a->body, b->body, a->len) != 0)
        fail_msg("%d %zu %zu is not %d %zu %zu for %s", a->ret, a->used, a->len, b->ret, b->used,
                 b->len, show(in));
}

static void decode_all_ways(const struct mk_h1_body *b, struct outcome *o, struct mk_str in)
{
    static struct outcome other;

    decode(*b, o, in, in.len, in.len);
    for (size_t cut = 1; cut < in.len; cut++) {
        decode(*b, &other, in, cut, in.len);
        assert_same(&other, o, in);
    }
    decode(*b, &other, in, 1, 1);
    assert_same(&other, o, in);
}

struct row {
    const char *sentence, *rfc;
    struct mk_str in;
    int ret;
    struct mk_str body;
    size_t rest; /* bytes of the next message */
};

static const struct row chunked_rows[] = {
    {"an empty body", "RFC 9112 7.1", MK_STR_INIT("0\r\n\r\n"), 1, MK_STR_INIT(""), 0},
    {"one chunk", "RFC 9112 7.1", MK_STR_INIT("5\r\nhello\r\n0\r\n\r\n"), 1, MK_STR_INIT("hello"),
     0},
    {"several chunks", "RFC 9112 7.1", MK_STR_INIT("1\r\na\r\n2\r\nbc\r\n3\r\ndef\r\n0\r\n\r\n"), 1,
     MK_STR_INIT("abcdef"), 0},
    {"line ends in the data", "RFC 9112 7.1", MK_STR_INIT("4\r\n\r\n\r\n\r\n0\r\n\r\n"), 1,
     MK_STR_INIT("\r\n\r\n"), 0},
    {"digits in either case", "RFC 9112 7.1",
     MK_STR_INIT("A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n"), 1,
     MK_STR_INIT("01234567890123456789"), 0},
    {"leading zeros", "RFC 9112 7.1", MK_STR_INIT("00000000000000000005\r\nhello\r\n000\r\n\r\n"),
     1, MK_STR_INIT("hello"), 0},
    {"the next message is left", "RFC 9112 9.3.2", MK_STR_INIT("1\r\na\r\n0\r\n\r\nGET /"), 1,
     MK_STR_INIT("a"), 5},
    {"an extension", "RFC 9112 7.1.1", MK_STR_INIT("1;a=b;c=\"d e\"\r\na\r\n0;x\r\n\r\n"), 1,
     MK_STR_INIT("a"), 0},
    {"blanks before an extension", "RFC 9112 7.1.1", MK_STR_INIT("1 \t; a\r\na\r\n0\r\n\r\n"), 1,
     MK_STR_INIT("a"), 0},
    {"trailers are dropped", "RFC 9112 7.1.2", MK_STR_INIT("1\r\na\r\n0\r\nA: b\r\nC:\r\n\r\n"), 1,
     MK_STR_INIT("a"), 0},
    {"not all there yet", "RFC 9112 7.1", MK_STR_INIT("5\r\nhel"), MK_E_AGAIN, MK_STR_INIT("hel"),
     0},
    {"the last LF missing", "RFC 9112 7.1", MK_STR_INIT("0\r\n\r"), MK_E_AGAIN, MK_STR_INIT(""), 0},
    {"a bare LF behind the size", "RFC 9112 2.2", MK_STR_INIT("1\na\r\n0\r\n\r\n"), MK_E_BAD,
     MK_STR_INIT(""), 0},
    {"a bare LF behind the data", "RFC 9112 2.2", MK_STR_INIT("1\r\na\n0\r\n\r\n"), MK_E_BAD,
     MK_STR_INIT("a"), 0},
    {"a bare LF at the end", "RFC 9112 2.2", MK_STR_INIT("0\r\n\n"), MK_E_BAD, MK_STR_INIT(""), 0},
    {"a bare CR behind the size", "RFC 9112 2.2", MK_STR_INIT("1\ra\r\n"), MK_E_BAD,
     MK_STR_INIT(""), 0},
    {"a bare CR at the end", "RFC 9112 2.2", MK_STR_INIT("0\r\n\ra"), MK_E_BAD, MK_STR_INIT(""), 0},
    {"no size", "RFC 9112 7.1", MK_STR_INIT("\r\na\r\n"), MK_E_BAD, MK_STR_INIT(""), 0},
    {"no size but an extension", "RFC 9112 7.1", MK_STR_INIT(";a\r\n"), MK_E_BAD, MK_STR_INIT(""),
     0},
    {"a minus sign", "RFC 9112 7.1", MK_STR_INIT("-1\r\n"), MK_E_BAD, MK_STR_INIT(""), 0},
    {"a plus sign", "RFC 9112 7.1", MK_STR_INIT("+1\r\n"), MK_E_BAD, MK_STR_INIT(""), 0},
    {"a prefix of C", "RFC 9112 7.1", MK_STR_INIT("0x1\r\n"), MK_E_BAD, MK_STR_INIT(""), 0},
    {"no hexadecimal digit", "RFC 9112 7.1", MK_STR_INIT("1g\r\n"), MK_E_BAD, MK_STR_INIT(""), 0},
    {"a blank before the size", "RFC 9112 7.1", MK_STR_INIT(" 1\r\n"), MK_E_BAD, MK_STR_INIT(""),
     0},
    {"a blank behind the size", "RFC 9112 7.1", MK_STR_INIT("1 \r\n"), MK_E_BAD, MK_STR_INIT(""),
     0},
    {"a size of two words", "RFC 9112 7.1", MK_STR_INIT("1 1\r\n"), MK_E_BAD, MK_STR_INIT(""), 0},
    {"more data than said", "RFC 9112 7.1", MK_STR_INIT("1\r\nab\r\n"), MK_E_BAD, MK_STR_INIT("a"),
     0},
    {"less data than said", "RFC 9112 7.1", MK_STR_INIT("3\r\na\r\n0\r\n\r\n"), MK_E_BAD,
     MK_STR_INIT("a\r\n"), 0},
    {"a control byte in an extension", "RFC 9112 7.1.1", MK_STR_INIT("1;a\x01\r\n"), MK_E_BAD,
     MK_STR_INIT(""), 0},
    {"NUL in an extension", "RFC 9112 7.1.1", MK_STR_INIT("1;a\0\r\n"), MK_E_BAD, MK_STR_INIT(""),
     0},
    {"extensions of every form", "RFC 9112 7.1.1",
     MK_STR_INIT("1;a;b = c\t;d=\"e;\\\"\\\\\" ; f=\"\"\r\na\r\n0\r\n\r\n"), 1, MK_STR_INIT("a"),
     0},
    {"no name of an extension", "RFC 9112 7.1.1", MK_STR_INIT("1;\r\n"), MK_E_BAD, MK_STR_INIT(""),
     0},
    {"a second semicolon", "RFC 9112 7.1.1", MK_STR_INIT("1;;a\r\n"), MK_E_BAD, MK_STR_INIT(""), 0},
    {"an extension of two words", "RFC 9112 7.1.1", MK_STR_INIT("1;a b\r\n"), MK_E_BAD,
     MK_STR_INIT(""), 0},
    {"a blank behind a name", "RFC 9112 7.1.1", MK_STR_INIT("1;a \r\n"), MK_E_BAD, MK_STR_INIT(""),
     0},
    {"a name that is no token", "RFC 9112 7.1.1", MK_STR_INIT("1;a{b\r\n"), MK_E_BAD,
     MK_STR_INIT(""), 0},
    {"no value of an extension", "RFC 9112 7.1.1", MK_STR_INIT("1;a=\r\n"), MK_E_BAD,
     MK_STR_INIT(""), 0},
    {"a value that is no token", "RFC 9112 7.1.1", MK_STR_INIT("1;a=b=c\r\n"), MK_E_BAD,
     MK_STR_INIT(""), 0},
    {"a value of two words", "RFC 9112 7.1.1", MK_STR_INIT("1;a=b c\r\n"), MK_E_BAD,
     MK_STR_INIT(""), 0},
    {"a quoted value without its end", "RFC 9112 7.1.1", MK_STR_INIT("1;a=\"b\r\n"), MK_E_BAD,
     MK_STR_INIT(""), 0},
    {"text behind a quoted value", "RFC 9112 7.1.1", MK_STR_INIT("1;a=\"b\"c\r\n"), MK_E_BAD,
     MK_STR_INIT(""), 0},
    {"a control byte behind a backslash", "RFC 9110 5.6.4", MK_STR_INIT("1;a=\"\\\x01\"\r\n"),
     MK_E_BAD, MK_STR_INIT(""), 0},
    {"the largest size of all", "RFC 9112 7.1", MK_STR_INIT("ffffffffffffffff\r\n"), MK_E_LIMIT,
     MK_STR_INIT(""), 0},
    {"a bare LF in an extension", "RFC 9112 2.2", MK_STR_INIT("1;a\nb\r\n"), MK_E_BAD,
     MK_STR_INIT(""), 0},
    {"a trailer without name", "RFC 9112 7.1.2", MK_STR_INIT("0\r\n: a\r\n\r\n"), MK_E_BAD,
     MK_STR_INIT(""), 0},
    {"a trailer without colon", "RFC 9112 7.1.2", MK_STR_INIT("0\r\nabc\r\n\r\n"), MK_E_BAD,
     MK_STR_INIT(""), 0},
    {"a blank before the colon of a trailer", "RFC 9112 5.1", MK_STR_INIT("0\r\na : b\r\n\r\n"),
     MK_E_BAD, MK_STR_INIT(""), 0},
    {"a folded trailer", "RFC 9112 5.2", MK_STR_INIT("0\r\na: b\r\n c\r\n\r\n"), MK_E_BAD,
     MK_STR_INIT(""), 0},
    {"a control byte in a trailer", "RFC 9110 5.5", MK_STR_INIT("0\r\na: \x7f\r\n\r\n"), MK_E_BAD,
     MK_STR_INIT(""), 0},
    {"a bare LF behind a trailer", "RFC 9112 2.2", MK_STR_INIT("0\r\na: b\n\r\n"), MK_E_BAD,
     MK_STR_INIT(""), 0},
    {"a body at its limit", "RFC 9112 7.1",
     MK_STR_INIT(
         "40\r\n0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\r\n0\r\n\r\n"),
     1, MK_STR_INIT("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"), 0},
    {"a chunk above the limit", "RFC 9112 7.1", MK_STR_INIT("41\r\n"), MK_E_LIMIT, MK_STR_INIT(""),
     0},
    {"the second chunk above the limit", "RFC 9112 7.1", MK_STR_INIT("1\r\na\r\n40\r\n"),
     MK_E_LIMIT, MK_STR_INIT("a"), 0},
    {"a size that would wrap", "RFC 9112 7.1", MK_STR_INIT("10000000000000001\r\na\r\n"), MK_E_BAD,
     MK_STR_INIT(""), 0},
};

static void decodes_chunks(void **state)
{
    static struct outcome o;

    (void)state;
    for (size_t i = 0; i < sizeof(chunked_rows) / sizeof(chunked_rows[0]); i++) {
        const struct row *row = &chunked_rows[i];
        struct mk_h1_body b;

        mk_h1_body_init_chunked(&b, 64);
        decode_all_ways(&b, &o, row->in);
        if (o.ret != row->ret || o.len != row->body.len ||
            memcmp(o.body, row->body.p, o.len) != 0 ||
            (o.ret == 1 && o.used != row->in.len - row->rest))
            fail_msg("%s (%s): gave %d, %zu bytes of body, %zu used", row->sentence, row->rfc,
                     o.ret, o.len, o.used);
    }
}

static const struct row length_rows[] = {
    {"all of it", "RFC 9112 6.3", MK_STR_INIT("hello"), 1, MK_STR_INIT("hello"), 0},
    {"part of it", "RFC 9112 6.3", MK_STR_INIT("hel"), MK_E_AGAIN, MK_STR_INIT("hel"), 0},
    {"and the next message", "RFC 9112 9.3.2", MK_STR_INIT("helloGET"), 1, MK_STR_INIT("hello"), 3},
};

static void counts_lengths(void **state)
{
    static struct outcome o;

    (void)state;
    for (size_t i = 0; i < sizeof(length_rows) / sizeof(length_rows[0]); i++) {
        const struct row *row = &length_rows[i];
        struct mk_h1_body b;

        assert_int_equal(mk_h1_body_init_length(&b, 5, 5), 0);
        decode_all_ways(&b, &o, row->in);
        assert_int_equal(o.ret, row->ret);
        assert_int_equal(o.len, row->body.len);
        assert_memory_equal(o.body, row->body.p, o.len);
        assert_int_equal(o.used, row->in.len - row->rest);
    }
}

static void an_empty_body_is_complete_at_once(void **state)
{
    struct mk_h1_body b;
    char buf[4] = "GET";
    size_t len = 3, used = 9;

    (void)state;
    assert_int_equal(mk_h1_body_init_length(&b, 0, 5), 0);
    assert_int_equal(mk_h1_body_decode(&b, buf, &len, &used), 1);
    assert_int_equal(len, 0);
    assert_int_equal(used, 0);
}

/* The owner's bound, too, is one that nothing follows: what stands behind it is no other message. */
static void stays_failed_behind_trailers(void **state)
{
    static const char whole[] = "0\r\na: b\r\n\r\n";

    (void)state;
    for (uint32_t max = 0; max <= 8; max++) {
        struct mk_h1_body b;
        char buf[sizeof(whole)];
        size_t len = sizeof(whole) - 1, used;

        memcpy(buf, whole, sizeof(whole));
        mk_h1_body_init_chunked(&b, 64);
        b.max_trailers = max;
        assert_int_equal(mk_h1_body_decode(&b, buf, &len, &used), max < 8 ? MK_E_LIMIT : 1);
        len = 4;
        memcpy(buf, "more", 4);
        assert_int_equal(mk_h1_body_decode(&b, buf, &len, &used), max < 8 ? MK_E_LIMIT : 1);
    }
}

static void refuses_lengths_above_the_limit(void **state)
{
    struct mk_h1_body b;

    (void)state;
    assert_int_equal(mk_h1_body_init_length(&b, 6, 5), MK_E_LIMIT);
    assert_int_equal(mk_h1_body_init_length(&b, UINT64_MAX, UINT64_MAX), 0);
}

static void stays_failed_and_stays_done(void **state)
{
    struct mk_h1_body b;
    char bad[] = "x", done[] = "0\r\n\r\nmore";
    size_t len = 1, used;

    (void)state;
    mk_h1_body_init_chunked(&b, 64);
    assert_int_equal(mk_h1_body_decode(&b, bad, &len, &used), MK_E_BAD);
    len = 4;
    assert_int_equal(mk_h1_body_decode(&b, done, &len, &used), MK_E_BAD);
    mk_h1_body_init_chunked(&b, 64);
    len = sizeof(done) - 1;
    assert_int_equal(mk_h1_body_decode(&b, done, &len, &used), 1);
    assert_int_equal(used, 5);
    len = 4;
    assert_int_equal(mk_h1_body_decode(&b, done + 5, &len, &used), 1);
    assert_int_equal(used, 0);
    assert_int_equal(len, 0);
}

/** Feed the same text over and over. @return the last verdict; *times counts. */
static int repeat(struct mk_h1_body *b, const char *text, size_t *times)
{
    int ret = MK_E_AGAIN;

    for (*times = 0; ret == MK_E_AGAIN && *times < 100000; (*times)++) {
        char buf[64];
        size_t len = strlen(text), used;

        memcpy(buf, text, len + 1);
        ret = mk_h1_body_decode(b, buf, &len, &used);
    }
    return ret;
}

/** What a chunk needs is not bounded, what it could do without is. */
static void bounds_waste(void **state)
{
    static const struct {
        const char *what, *chunk;
        unsigned waste; /* of it */
    } rows[] = {
        {"one byte a chunk", "1\r\na\r\n", 0},
        {"a heartbeat", "3\r\n:\n\n\r\n", 0},
        {"more digits", "14\r\n01234567890123456789\r\n", 0},
        {"a leading zero", "01\r\na\r\n", 1},
        {"leading zeros", "000000001\r\na\r\n", 8},
        {"leading zeros before ten", "0000a\r\n0123456789\r\n", 4},
        {"an extension", "1;abc\r\na\r\n", 4},
        {"blanks and an extension", "1 \t;a\r\na\r\n", 4},
    };
    struct mk_h1_body b;
    size_t times, len = 3, used;
    char head[] = "1;a", last[] = "0\r\n";

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t most;

        print_message("%s\n", rows[i].what);
        mk_h1_body_init_chunked(&b, UINT64_MAX);
        assert_int_equal(repeat(&b, rows[i].chunk, &times),
                         rows[i].waste ? MK_E_LIMIT : MK_E_AGAIN);
        if (rows[i].waste) {
            most = b.total / 4 + MK_LIMIT_CHUNK_OVERHEAD;
            assert_in_range(times, most / rows[i].waste - 1, most / rows[i].waste + 2);
        }
    }

    mk_h1_body_init_chunked(&b, UINT64_MAX);
    assert_int_equal(mk_h1_body_decode(&b, head, &len, &used), MK_E_AGAIN);
    assert_int_equal(repeat(&b, "aaaaaaaa", &times), MK_E_LIMIT);
    assert_in_range(times, MK_LIMIT_CHUNK_OVERHEAD / 8 - 1, MK_LIMIT_CHUNK_OVERHEAD / 8 + 1);

    mk_h1_body_init_chunked(&b, UINT64_MAX);
    len = 3;
    assert_int_equal(mk_h1_body_decode(&b, last, &len, &used), MK_E_AGAIN);
    assert_int_equal(repeat(&b, "abcd:e\r\n", &times), MK_E_LIMIT);
    assert_in_range(times, MK_LIMIT_TRAILERS / 8, MK_LIMIT_TRAILERS / 8 + 1);
}

static void writes_chunk_heads(void **state)
{
    static const struct {
        uint64_t n;
        const char *text;
    } rows[] = {
        {1, "1\r\n"},
        {15, "f\r\n"},
        {16, "10\r\n"},
        {4096, "1000\r\n"},
        {0xdeadbeef, "deadbeef\r\n"},
        {UINT64_MAX, "ffffffffffffffff\r\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *dst = guard_end(&area, MK_H1_CHUNK_HEAD);

        assert_int_equal(mk_h1_chunk_head(dst, rows[i].n), strlen(rows[i].text));
        assert_memory_equal(dst, rows[i].text, strlen(rows[i].text));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decodes_chunks),
        cmocka_unit_test(counts_lengths),
        cmocka_unit_test(an_empty_body_is_complete_at_once),
        cmocka_unit_test(refuses_lengths_above_the_limit),
        cmocka_unit_test(stays_failed_and_stays_done),
        cmocka_unit_test(stays_failed_behind_trailers),
        cmocka_unit_test(bounds_waste),
        cmocka_unit_test(writes_chunk_heads),
    };

    return cmocka_run_group_tests(tests, open_area, close_area);
}
