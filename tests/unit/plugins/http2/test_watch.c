/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "watch.h"

#include <nghttp2/nghttp2.h>
#include <string.h>

enum { PREFACE = sizeof(NGHTTP2_CLIENT_MAGIC) - 1 };

struct bytes {
    uint8_t p[4096];
    size_t len;
};

static void put(struct bytes *b, const void *p, size_t len)
{
    memcpy(b->p + b->len, p, len);
    b->len += len;
}

static void put_frame(struct bytes *b, uint8_t type, uint8_t flags, uint32_t id,
                      const char *payload, size_t len)
{
    const uint8_t head[9] = {
        0,          (uint8_t)(len >> 8), (uint8_t)len,        type,
        flags,      (uint8_t)(id >> 24), (uint8_t)(id >> 16), (uint8_t)(id >> 8),
        (uint8_t)id};

    put(b, head, sizeof(head));
    if (len > 0)
        put(b, payload, len);
}

static struct bytes begin(void)
{
    struct bytes b = {.len = 0};

    put(&b, NGHTTP2_CLIENT_MAGIC, PREFACE);
    put_frame(&b, NGHTTP2_SETTINGS, 0, 0, NULL, 0);
    return b;
}

/* In pieces. @return the first fault. */
static h2_fault walk(struct h2_watch *w, const struct bytes *b, size_t piece, int32_t *last_data)
{
    h2_fault fault = 0;

    *last_data = 0;
    for (size_t at = 0; at < b->len && fault == 0;) {
        size_t len = b->len - at < piece ? b->len - at : piece;
        int32_t id;

        at += h2_watch_bytes(w, b->p + at, len, &id, &fault);
        *last_data = id ? id : *last_data;
    }
    return fault;
}

static void test_frames_are_found_however_they_are_cut(void **state)
{
    struct bytes b = begin();

    (void)state;
    put_frame(&b, NGHTTP2_HEADERS, 4, 1, "xxxxx", 5);
    put_frame(&b, NGHTTP2_PRIORITY, 0, 3, "\0\0\0\1\20", 5);
    put_frame(&b, NGHTTP2_CONTINUATION, 0, 1, "", 0);
    put_frame(&b, 0xbe, 0, 1, "anything", 8);
    put_frame(&b, NGHTTP2_DATA, 0, 7, "\0\0\0\0\0\0\0\0\0\0\0\0", 12);
    for (size_t piece = 1; piece <= b.len; piece++) {
        struct h2_watch w;
        int32_t id;

        h2_watch_init(&w);
        assert_int_equal(walk(&w, &b, piece, &id), 0);
        assert_int_equal(id, 7);
        assert_int_equal(w.idle, 3);
        assert_false(w.has_ends);
        assert_int_equal(w.got, 0);
        assert_int_equal(w.skip, 0);
    }
}

static h2_fault fault_of_priority(uint32_t id, const char *payload, size_t len)
{
    struct bytes b = begin();
    h2_fault first = 0;

    put_frame(&b, NGHTTP2_PRIORITY, 0, id, payload, len);
    for (size_t piece = 1; piece <= b.len; piece++) {
        struct h2_watch w;
        int32_t data;
        h2_fault fault;

        h2_watch_init(&w);
        fault = walk(&w, &b, piece, &data);
        if (piece == 1)
            first = fault;
        assert_int_equal(fault, first);
    }
    return first;
}

/* RFC 9113 section 6.3, RFC 7540 section 5.3.1 */
static void test_malformed_priority_is_a_fault(void **state)
{
    (void)state;
    assert_int_equal(fault_of_priority(3, "\0\0\0\1\20", 5), 0);
    assert_int_equal(fault_of_priority(0, "\0\0\0\1\20", 5), NGHTTP2_PROTOCOL_ERROR);
    assert_int_equal(fault_of_priority(3, "\0\0\0\3\20", 5), NGHTTP2_PROTOCOL_ERROR);
    assert_int_equal(fault_of_priority(3, "\200\0\0\3\20", 5), NGHTTP2_PROTOCOL_ERROR);
    assert_int_equal(fault_of_priority(3, "\0\0\0\1", 4), NGHTTP2_FRAME_SIZE_ERROR);
    assert_int_equal(fault_of_priority(3, "\0\0\0\1\20\0", 6), NGHTTP2_FRAME_SIZE_ERROR);
}

static void test_ends_are_noted(void **state)
{
    static const struct {
        uint8_t type, flags;
        bool is_end;
    } rows[] = {{NGHTTP2_DATA, 1, true},       {NGHTTP2_DATA, 0, false},
                {NGHTTP2_HEADERS, 5, true},    {NGHTTP2_HEADERS, 4, false},
                {NGHTTP2_RST_STREAM, 0, true}, {NGHTTP2_SETTINGS, 1, false},
                {NGHTTP2_PING, 1, false}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct bytes b = begin();
        struct h2_watch w;
        int32_t id;

        put_frame(&b, rows[i].type, rows[i].flags, 1, "1234", 4);
        h2_watch_init(&w);
        assert_int_equal(walk(&w, &b, b.len, &id), 0);
        assert_int_equal(w.has_ends, rows[i].is_end);
    }
}

/* RFC 9113 section 5.1: what a client sent before it saw our RST_STREAM is skipped, all else is a fault. */
static void test_frames_of_closed_streams(void **state)
{
    struct h2_watch w;

    (void)state;
    h2_watch_init(&w);
    w.newest = 9;
    h2_watch_end(&w, 3, false);
    h2_watch_end(&w, 5, true);
    assert_int_equal(h2_watch_closed(&w, 3, true), NGHTTP2_STREAM_CLOSED);
    assert_int_equal(h2_watch_closed(&w, 3, false), NGHTTP2_STREAM_CLOSED);
    assert_int_equal(h2_watch_closed(&w, 5, true), 0);
    assert_int_equal(h2_watch_closed(&w, 5, false), 0);
    assert_int_equal(h2_watch_closed(&w, 7, false),
                     NGHTTP2_PROTOCOL_ERROR);           /* never begun, and older than the newest */
    assert_int_equal(h2_watch_closed(&w, 11, true), 0); /* to begin: nghttp2's */
}

static void test_what_is_forgotten_is_no_fault(void **state)
{
    struct h2_watch w;
    int32_t id = 1;

    (void)state;
    h2_watch_init(&w);
    for (; id < 2 * H2_WATCH_RESETS + 5; id += 2)
        h2_watch_end(&w, id, true);
    w.newest = id;
    assert_int_equal(h2_watch_closed(&w, 1, true), 0); /* reset by us, long ago */
    h2_watch_end(&w, id, false);
    assert_int_equal(h2_watch_closed(&w, id, true), NGHTTP2_STREAM_CLOSED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_are_found_however_they_are_cut),
        cmocka_unit_test(test_malformed_priority_is_a_fault),
        cmocka_unit_test(test_ends_are_noted),
        cmocka_unit_test(test_frames_of_closed_streams),
        cmocka_unit_test(test_what_is_forgotten_is_no_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
