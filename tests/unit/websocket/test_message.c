/* SPDX-License-Identifier: Apache-2.0 */
#include "scene.h"

#include <stdio.h>

/*
 * What a client's frames become: messages, pongs, and a Close with the code of a broken rule. Rows carry the section of
 * RFC 6455, and each is read whole, byte by byte, and split at each of its bytes.
 */

enum { FRAMES_MAX = 6, INPUT_ROOM = 1024, NOTES_ROOM = 512, SMALL_MESSAGE = 40, SMALL_FRAME = 30 };

struct frame {
    unsigned first; /* FIN, RSV and opcode */
    const char *payload;
    size_t len;
    bool is_bare; /* without a mask */
};

struct row {
    const char *name;
    struct frame frames[FRAMES_MAX]; /* first 0 and payload NULL: no more */
    const char *heard;               /* by the application */
    const char *sent;                /* to the client */
};

#define F(first, text)                                                                             \
    {                                                                                              \
        first, text, sizeof(text) - 1, false                                                       \
    }
#define BARE(first, text)                                                                          \
    {                                                                                              \
        first, text, sizeof(text) - 1, true                                                        \
    }

static const struct row rows[] = {
    {"5.1 a frame of a client has a mask", {BARE(0x81, "a")}, "", "close 1002 "},
    {"5.2 RSV1 without an extension", {F(0xc1, "a")}, "", "close 1002 "},
    {"5.2 RSV2", {F(0xa1, "a")}, "", "close 1002 "},
    {"5.2 RSV3", {F(0x91, "a")}, "", "close 1002 "},
    {"5.2 RSV1 of a control frame", {F(0xc9, "a")}, "", "close 1002 "},
    {"5.2 opcode 3 is reserved", {F(0x83, "a")}, "", "close 1002 "},
    {"5.2 opcode 7 is reserved", {F(0x87, "a")}, "", "close 1002 "},
    {"5.2 opcode 11 is reserved", {F(0x8b, "a")}, "", "close 1002 "},
    {"5.2 opcode 15 is reserved", {F(0x8f, "a")}, "", "close 1002 "},
    {"5.4 a message in one frame", {F(0x81, "Hello")}, "text(Hello) ", ""},
    {"5.4 two fragments", {F(0x01, "Hel"), F(0x80, "lo")}, "text(Hello) ", ""},
    {"5.4 three fragments", {F(0x02, "H"), F(0x00, "el"), F(0x80, "lo")}, "binary(Hello) ", ""},
    {"5.4 empty fragments", {F(0x01, ""), F(0x00, ""), F(0x80, "")}, "text() ", ""},
    {"5.4 a continuation of nothing", {F(0x80, "a")}, "", "close 1002 "},
    {"5.4 a message inside a message", {F(0x01, "a"), F(0x81, "b")}, "", "close 1002 "},
    {"5.4 a message after its end has none to continue",
     {F(0x01, "a"), F(0x80, "b"), F(0x80, "c")},
     "text(ab) ",
     "close 1002 "},
    {"5.4 control frames between fragments",
     {F(0x01, "Hel"), F(0x89, "x"), F(0x00, "l"), F(0x8a, "y"), F(0x80, "o")},
     "text(Hello) ",
     "pong(x) "},
    {"5.4 a Close between fragments", {F(0x01, "Hel"), F(0x88, "\x03\xe8")}, "", "close 1000 "},
    {"5.5 a fragmented ping", {F(0x09, "a")}, "", "close 1002 "},
    {"5.5 a fragmented Close", {F(0x08, "\x03\xe8")}, "", "close 1002 "},
    {"5.5.1 a Close without a code", {F(0x88, "")}, "", "close "},
    {"5.5.1 a Close of one byte", {F(0x88, "\x03")}, "", "close 1002 "},
    {"5.5.1 a Close with a reason",
     {F(0x88, "\x03\xe9"
              "bye")},
     "",
     "close 1001 "},
    {"5.5.1 a reason that is not UTF-8",
     {F(0x88, "\x03\xe8"
              "\xff")},
     "",
     "close 1007 "},
    {"5.5.1 a reason that ends within a character",
     {F(0x88, "\x03\xe8"
              "\xc3")},
     "",
     "close 1007 "},
    {"5.5.1 nothing is heard after a Close",
     {F(0x88, "\x03\xe8"), F(0x81, "late"), F(0x89, "late")},
     "",
     "close 1000 "},
    {"5.5.2 a ping", {F(0x89, "payload")}, "", "pong(payload) "},
    {"5.5.2 an empty ping", {F(0x89, "")}, "", "pong() "},
    {"5.5.2 pings", {F(0x89, "a"), F(0x89, "b")}, "", "pong(a) pong(b) "},
    {"5.5.3 a pong that nobody asked for", {F(0x8a, "a"), F(0x81, "b")}, "text(b) ", ""},
    {"5.6 binary data is any bytes", {F(0x82, "\xff\x80")}, "binary(\xff\x80) ", ""},
    {"5.6 an empty message", {F(0x81, ""), F(0x82, "")}, "text() binary() ", ""},
    {"5.6 messages follow each other",
     {F(0x81, "a"), F(0x82, "b"), F(0x01, "c"), F(0x80, "d"), F(0x81, "e")},
     "text(a) binary(b) text(cd) text(e) ",
     ""},
    {"7.4.1 1009: a frame that is too large",
     {F(0x82, "1234567890123456789012345678901")},
     "",
     "close 1009 "},
    {"7.4.1 1009: a message that is too large",
     {F(0x02, "123456789012345678901234567890"), F(0x80, "12345678901")},
     "",
     "close 1009 "},
    {"7.4.1 the largest message",
     {F(0x02, "123456789012345678901234567890"), F(0x80, "1234567890")},
     "binary(1234567890123456789012345678901234567890) ",
     ""},
    {"8.1 text in UTF-8", {F(0x81, "\xce\xba\xe1\xbd\xb9")}, "text(\xce\xba\xe1\xbd\xb9) ", ""},
    {"8.1 a character in two fragments", {F(0x01, "\xce"), F(0x80, "\xba")}, "text(\xce\xba) ", ""},
    {"8.1 a text that ends within a character", {F(0x81, "\xce")}, "", "close 1007 "},
    {"8.1 fragments that end within a character",
     {F(0x01, "a"), F(0x80, "\xe1\xbd")},
     "",
     "close 1007 "},
    {"8.1 an overlong form", {F(0x81, "\xc0\x80")}, "", "close 1007 "},
    {"8.1 a surrogate", {F(0x81, "\xed\xa0\x80")}, "", "close 1007 "},
    {"8.1 each message is text of its own",
     {F(0x81, "\xce\xba"), F(0x81, "\xba")},
     "text(\xce\xba) ",
     "close 1007 "},
};

/* ---- what happened, as text ---- */

static char heard[NOTES_ROOM];

static void note(char *notes, const char *word, const void *bytes, size_t len)
{
    const size_t at = strlen(notes);

    assert_true(at + strlen(word) + len + 4 < NOTES_ROOM);
    (void)snprintf(notes + at, NOTES_ROOM - at, "%s(%.*s) ", word, (int)len, (const char *)bytes);
}

static const char *name_of(enum mk_ws_kind kind)
{
    return kind == MK_WS_TEXT ? "text" : "binary";
}

static void on_message(struct mk_ws *ws, enum mk_ws_kind kind, struct mk_str message)
{
    (void)ws;
    note(heard, name_of(kind), message.p, message.len);
}

static char gathered[NOTES_ROOM];

static void on_piece(struct mk_ws *ws, enum mk_ws_kind kind, struct mk_str piece, bool is_last)
{
    const size_t at = strlen(gathered);

    (void)ws;
    assert_true(at + piece.len < NOTES_ROOM);
    if (piece.len > 0)
        memcpy(gathered + at, piece.p, piece.len);
    gathered[at + piece.len] = '\0';
    if (!is_last)
        return;
    note(heard, name_of(kind), gathered, strlen(gathered));
    gathered[0] = '\0';
}

/* Frames of a server that are small: head, payload. */
static void read_sent(const struct scene *s, char *notes)
{
    notes[0] = '\0';
    for (size_t at = 0; at < s->nsent;) {
        const uint8_t *frame = (const uint8_t *)s->sent + at;
        const size_t len = frame[1];
        const size_t end = strlen(notes);

        assert_true(len <= WS_CONTROL_MAX);
        assert_true(at + 2 + len <= s->nsent);
        if (frame[0] == (0x80 | WS_CLOSE) && len >= 2)
            (void)snprintf(notes + end, NOTES_ROOM - end, "close %d ", frame[2] << 8 | frame[3]);
        else if (frame[0] == (0x80 | WS_CLOSE))
            (void)snprintf(notes + end, NOTES_ROOM - end, "close ");
        else if (frame[0] == (0x80 | WS_PONG))
            note(notes, "pong", frame + 2, len);
        else
            fail_msg("a frame begins with %02x", frame[0]);
        at += 2 + len;
    }
}

/* ---- reading a row ---- */

static size_t write_frame(char *to, const struct frame *frame)
{
    static const char mask[4] = {0x37, (char)0xfa, 0x21, 0x3d};
    const size_t nmask = frame->is_bare ? 0 : sizeof(mask);

    assert_true(frame->len < 126);
    to[0] = (char)frame->first;
    to[1] = (char)(frame->len | (nmask ? 0x80 : 0));
    memcpy(to + 2, mask, nmask);
    for (size_t i = 0; i < frame->len; i++)
        to[2 + nmask + i] = (char)(frame->payload[i] ^ (nmask ? mask[i % 4] : 0));
    return 2 + nmask + frame->len;
}

static size_t write_row(char *to, const struct row *row)
{
    size_t len = 0;

    for (size_t i = 0; i < FRAMES_MAX && row->frames[i].payload; i++)
        len += write_frame(to + len, &row->frames[i]);
    assert_true(len <= INPUT_ROOM);
    return len;
}

static void begin(struct scene *s, bool in_pieces)
{
    scene_open(s);
    heard[0] = gathered[0] = '\0';
    s->spec.max_message = SMALL_MESSAGE;
    s->ws.frames.max = SMALL_FRAME;
    if (in_pieces)
        s->spec.on_piece = on_piece;
    else
        s->spec.on_message = on_message;
    scene_take(s, SCENE_ROOM);
}

static void end(struct scene *s, const struct row *row, size_t split)
{
    char sent[NOTES_ROOM];

    read_sent(s, sent);
    if (strcmp(heard, row->heard) != 0)
        fail_msg("%s, split at %zu: heard \"%s\"", row->name, split, heard);
    if (strcmp(sent, row->sent) != 0)
        fail_msg("%s, split at %zu: sent \"%s\"", row->name, split, sent);
    assert_int_equal(s->ws.state, *row->sent == 'c' ? WS_LEAVING : WS_OPEN);
    scene_close(s);
}

/* In two parts. The row is written anew, since reading takes the masks off. */
static void read_split(const struct row *row, size_t split, bool in_pieces)
{
    char bytes[INPUT_ROOM];
    const size_t len = write_row(bytes, row);
    struct scene s;

    begin(&s, in_pieces);
    ws_take_input(&s.ws, bytes, split);
    ws_take_input(&s.ws, bytes + split, len - split);
    end(&s, row, split);
}

static void each_row_is_read_whole_and_split_at_each_byte(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char bytes[INPUT_ROOM];
        const size_t len = write_row(bytes, &rows[i]);

        for (size_t split = 0; split < len; split++)
            read_split(&rows[i], split, false);
    }
}

static void each_row_is_read_byte_by_byte(void **state)
{
    struct scene s;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char bytes[INPUT_ROOM];
        const size_t len = write_row(bytes, &rows[i]);

        begin(&s, false);
        for (size_t at = 0; at < len; at++)
            ws_take_input(&s.ws, bytes + at, 1);
        end(&s, &rows[i], 1);
    }
}

/* The pieces of a message are the message, wherever they are cut; what breaks a rule may come after some of them. */
static void pieces_are_the_messages(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char bytes[INPUT_ROOM];
        const size_t len = write_row(bytes, &rows[i]);

        for (size_t split = 0; split < len && !strstr(rows[i].sent, "close"); split++)
            read_split(&rows[i], split, true);
    }
}

/* Nothing is kept between messages: an idle connection costs no memory beyond its own. */
static void nothing_is_kept_between_messages(void **state)
{
    struct scene s;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char bytes[INPUT_ROOM];
        const size_t len = write_row(bytes, &rows[i]);

        begin(&s, false);
        for (size_t at = 0; at < len; at++)
            ws_take_input(&s.ws, bytes + at, 1);
        if (s.ws.state == WS_OPEN && !s.ws.frames.in_message)
            assert_null(s.ws.gathered);
        scene_close(&s);
    }
}

/* Section 5.2: the length in the fewest bytes, and at most 63 bits. */
static void lengths_have_one_form(void **state)
{
    static const struct {
        uint8_t head[10];
        size_t len;
        unsigned code;
    } heads[] = {
        {{0x82, 0xfe, 0, 125}, 4, MK_WS_PROTOCOL_ERROR},
        {{0x82, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 10, MK_WS_PROTOCOL_ERROR},
        {{0x82, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0}, 10, MK_WS_PROTOCOL_ERROR},
        {{0x82, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, 10, MK_WS_TOO_LARGE},
        {{0x82, 0xfe, 0xff, 0xff}, 4, MK_WS_TOO_LARGE},
        {{0x89, 0xfe, 0, 126}, 4, MK_WS_PROTOCOL_ERROR},
    };
    struct scene s;

    (void)state;
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        for (size_t split = 0; split < heads[i].len; split++) {
            char bytes[14] = {0}; /* with a mask */

            memcpy(bytes, heads[i].head, heads[i].len);
            begin(&s, false);
            ws_take_input(&s.ws, bytes, split);
            ws_take_input(&s.ws, bytes + split, heads[i].len + 4 - split);
            assert_int_equal(s.ws.state, WS_LEAVING);
            assert_int_equal(s.ws.code, heads[i].code);
            scene_close(&s);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_row_is_read_whole_and_split_at_each_byte),
        cmocka_unit_test(each_row_is_read_byte_by_byte),
        cmocka_unit_test(pieces_are_the_messages),
        cmocka_unit_test(nothing_is_kept_between_messages),
        cmocka_unit_test(lengths_have_one_form),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
