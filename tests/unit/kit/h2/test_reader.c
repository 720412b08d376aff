/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kit/h2/reader.h"

#include "failing.h"
#include "frames.h"

#include <stdio.h>

/* What a reader says of bytes, as a text: a frame is `type/flags/stream(fields)`, then its bytes, then a stop. */
struct record {
    char text[8192];
    size_t len;
};

__attribute__((format(printf, 2, 3))) static void say(struct record *r, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    r->len += (size_t)vsnprintf(r->text + r->len, sizeof(r->text) - r->len, format, args);
    va_end(args);
}

static void say_hex(struct record *r, const uint8_t *p, size_t len)
{
    for (size_t i = 0; i < len; i++)
        say(r, "%02x", p[i]);
}

static enum h2_event say_event(struct record *r, const struct h2_reader *reader,
                               enum h2_event event)
{
    const struct h2_frame *f = &reader->frame;

    if (event == H2_BEGIN) {
        say(r, " %u/%u/%u(", f->type, f->flags, f->id);
        say_hex(r, reader->fields, reader->need);
        say(r, ")");
    } else if (event == H2_PIECE) {
        say_hex(r, reader->piece, reader->piece_len);
    } else if (event == H2_ENTRY) {
        say(r, "[");
        say_hex(r, reader->fields, H2_SETTING);
        say(r, "]");
    } else if (event == H2_END) {
        say(r, ".");
    } else if (event == H2_INVALID) {
        say(r, "!%u", reader->error);
    }
    return event;
}

/* In pieces, each in memory of exactly its size. */
static void record(struct record *r, const struct bytes *b, size_t piece)
{
    struct h2_reader reader;
    enum h2_event event = H2_MORE;

    r->len = 0;
    r->text[0] = '\0';
    h2_reader_init(&reader, true);
    for (size_t at = 0; at < b->len && event != H2_INVALID; at += piece) {
        size_t len = b->len - at < piece ? b->len - at : piece;
        uint8_t *copy = malloc(len);
        const uint8_t *bytes = copy;

        assert_non_null(copy);
        memcpy(copy, b->p + at, len);
        do
            event = say_event(r, &reader, h2_reader_next(&reader, &bytes, &len));
        while (event != H2_MORE && event != H2_INVALID);
        free(copy);
    }
}

static void expect(const struct bytes *b, const char *text)
{
    static struct record r;

    for (size_t piece = 1; piece <= b->len; piece++) {
        record(&r, b, piece);
        assert_string_equal(r.text, text);
    }
}

static struct bytes b;

/* RFC 9113 section 4.1, 6.1, 6.2, 6.5 */
static void test_frames_are_read_however_they_are_cut(void **state)
{
    (void)state;
    put_begin(&b);
    put_frame(&b, H2_SETTINGS, 0, 0, "\0\4\0\0\1\0\0\3\0\0\0\7", 12);
    put_frame(&b, H2_SETTINGS, H2_FLAG_ACK, 0, NULL, 0);
    put_frame(&b, H2_HEADERS, 0, 1, "abc", 3);
    put_frame(&b, H2_CONTINUATION, 0, 1, "", 0);
    put_frame(&b, H2_CONTINUATION, H2_FLAG_END_HEADERS, 1, "d", 1);
    put_frame(&b, H2_HEADERS, 0x2d, 3, "\2\0\0\0\1\20xyz\0\0", 11);
    put_frame(&b, H2_DATA, H2_FLAG_PADDED, 3, "\3zz\0\0\0", 6);
    put_frame(&b, H2_DATA, H2_FLAG_END_STREAM, 3, "", 0);
    put_frame(&b, H2_PING, 0, 0, "12345678", 8);
    put_frame(&b, H2_GOAWAY, 0, 0, "\0\0\0\1\0\0\0\2debug", 13);
    put_frame(&b, H2_PRIORITY_UPDATE, 0, 0, "\0\0\0\5u=1", 7);
    put_frame(&b, 0xbe, 0xff, 9, "anything", 8);
    put_frame(&b, H2_WINDOW_UPDATE, 0, 0, "\0\0\1\0", 4);
    put_frame(&b, H2_RST_STREAM, 0, 3, "\0\0\0\10", 4);
    put_frame(&b, H2_PRIORITY, 0, 3, "\0\0\0\1\20", 5);
    expect(
        &b,
        " 4/0/0(). 4/0/0()[000400000100][000300000007]. 4/1/0(). 1/0/1()616263. 9/0/1(). 9/4/1()64."
        " 1/45/3(020000000110)78797a. 0/8/3(03)7a7a. 0/1/3(). 6/0/0(3132333435363738)."
        " 7/0/0(0000000100000002). 16/0/0(00000005753d31). 190/247/9(). 8/0/0(00000100)."
        " 3/0/3(00000008). 2/0/3(0000000110).");
}

/* What a frame must not be, and the error of the connection. */
static const struct {
    const char *sentence;
    unsigned type, flags;
    uint32_t id;
    size_t len;
    enum h2_error error;
} wrong[] = {
    {"DATA of the connection: 6.1", H2_DATA, 0, 0, 1, H2_E_PROTOCOL_ERROR},
    {"DATA padded without a length: 6.1", H2_DATA, H2_FLAG_PADDED, 1, 0, H2_E_FRAME_SIZE_ERROR},
    {"padding that is larger than the frame: 6.1", H2_DATA, H2_FLAG_PADDED, 1, 7,
     H2_E_PROTOCOL_ERROR},
    {"HEADERS of the connection: 6.2", H2_HEADERS, 4, 0, 1, H2_E_PROTOCOL_ERROR},
    {"HEADERS shorter than their priority: 6.2", H2_HEADERS, 0x24, 1, 4, H2_E_FRAME_SIZE_ERROR},
    {"PRIORITY of the connection: 6.3", H2_PRIORITY, 0, 0, 5, H2_E_PROTOCOL_ERROR},
    {"PRIORITY of 4 bytes: 6.3", H2_PRIORITY, 0, 1, 4, H2_E_FRAME_SIZE_ERROR},
    {"PRIORITY of 6 bytes: 6.3", H2_PRIORITY, 0, 1, 6, H2_E_FRAME_SIZE_ERROR},
    {"RST_STREAM of the connection: 6.4", H2_RST_STREAM, 0, 0, 4, H2_E_PROTOCOL_ERROR},
    {"RST_STREAM of 3 bytes: 6.4", H2_RST_STREAM, 0, 1, 3, H2_E_FRAME_SIZE_ERROR},
    {"SETTINGS of a stream: 6.5", H2_SETTINGS, 0, 1, 6, H2_E_PROTOCOL_ERROR},
    {"SETTINGS of 5 bytes: 6.5", H2_SETTINGS, 0, 0, 5, H2_E_FRAME_SIZE_ERROR},
    {"SETTINGS acknowledged with a setting: 6.5", H2_SETTINGS, 1, 0, 6, H2_E_FRAME_SIZE_ERROR},
    {"SETTINGS without end", H2_SETTINGS, 0, 0, 65 * 6, H2_E_ENHANCE_YOUR_CALM},
    {"PUSH_PROMISE of the connection: 6.6", H2_PUSH_PROMISE, 0, 0, 4, H2_E_PROTOCOL_ERROR},
    {"PING of a stream: 6.7", H2_PING, 0, 1, 8, H2_E_PROTOCOL_ERROR},
    {"PING of 7 bytes: 6.7", H2_PING, 0, 0, 7, H2_E_FRAME_SIZE_ERROR},
    {"GOAWAY of a stream: 6.8", H2_GOAWAY, 0, 1, 8, H2_E_PROTOCOL_ERROR},
    {"GOAWAY of 7 bytes: 6.8", H2_GOAWAY, 0, 0, 7, H2_E_FRAME_SIZE_ERROR},
    {"WINDOW_UPDATE of 3 bytes: 6.9", H2_WINDOW_UPDATE, 0, 1, 3, H2_E_FRAME_SIZE_ERROR},
    {"CONTINUATION of nothing: 6.10", H2_CONTINUATION, 4, 1, 1, H2_E_PROTOCOL_ERROR},
    {"PRIORITY_UPDATE of a stream: RFC 9218, 7.1", H2_PRIORITY_UPDATE, 0, 1, 4,
     H2_E_PROTOCOL_ERROR},
    {"PRIORITY_UPDATE of 3 bytes: RFC 9218, 7.1", H2_PRIORITY_UPDATE, 0, 0, 3,
     H2_E_FRAME_SIZE_ERROR},
    {"a frame that is too large: 4.2", H2_DATA, 0, 1, H2_FRAME_MAX + 1, H2_E_FRAME_SIZE_ERROR},
    {"one of no known type that is too large: 4.2", 0xbe, 0, 1, H2_FRAME_MAX + 1,
     H2_E_FRAME_SIZE_ERROR},
};

static void test_wrong_frames_end_it(void **state)
{
    static uint8_t payload[H2_FRAME_MAX + 1];

    (void)state;
    memset(payload, 0xff, sizeof(payload));
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct record r;
        char end[16];

        put_begin(&b);
        put_frame(&b, wrong[i].type, wrong[i].flags, wrong[i].id, payload, wrong[i].len);
        (void)snprintf(end, sizeof(end), "!%u", wrong[i].error);
        for (size_t piece = 1; piece < 60; piece++) {
            record(&r, &b, piece);
            if (r.len < strlen(end) || strcmp(r.text + r.len - strlen(end), end) != 0)
                fail_msg("%s: %s", wrong[i].sentence, r.text);
        }
    }
}

/* RFC 9113 section 6.10: nothing comes before the end of a block but its rest. */
static void test_blocks_are_not_interrupted(void **state)
{
    static const struct {
        unsigned type;
        uint32_t id;
    } rows[] = {{H2_DATA, 1},     {H2_HEADERS, 1},      {H2_HEADERS, 3},  {H2_PING, 0},
                {H2_SETTINGS, 0}, {H2_CONTINUATION, 3}, {H2_PRIORITY, 1}, {0xbe, 1}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        put_begin(&b);
        put_frame(&b, H2_HEADERS, 0, 1, "a", 1);
        put_frame(&b, rows[i].type, 4, rows[i].id, "", 0);
        expect(&b, " 4/0/0(). 1/0/1()61.!1");
    }
}

/* RFC 9113 section 3.4 */
static void test_a_preface_begins_it(void **state)
{
    (void)state;
    b.len = 0;
    put(&b, "GET / HTTP/1.1\r\n", 16);
    expect(&b, "!1");
    b.len = 0;
    put(&b, H2_PREFACE, H2_PREFACE_LEN);
    put_frame(&b, H2_PING, 0, 0, "12345678", 8);
    expect(&b, "!1");
    b.len = 0;
    put(&b, H2_PREFACE, H2_PREFACE_LEN);
    put_frame(&b, H2_SETTINGS, H2_FLAG_ACK, 0, "", 0);
    expect(&b, "!1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_are_read_however_they_are_cut),
        cmocka_unit_test(test_wrong_frames_end_it),
        cmocka_unit_test(test_blocks_are_not_interrupted),
        cmocka_unit_test(test_a_preface_begins_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
