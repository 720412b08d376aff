/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "owner.h"

/* ---- the owner of a server ---- */

static struct h2_stream *begin(struct h2_session *s, uint32_t id)
{
    (void)s;
    if (w.refuses_at > 0 && --w.refuses_at == 0)
        return NULL;
    say("begin %u; ", id);
    return &add_stream()->base;
}

static int head(struct h2_stream *st)
{
    say("head %u%s; ", st->id, h2_stream_has_end(st) ? " whole" : "");
    return 0;
}

static const struct h2_events events = {.begin = begin,
                                        .field = field,
                                        .head = head,
                                        .data = data,
                                        .end = end,
                                        .give = give,
                                        .trailers = trailers,
                                        .answered = answered,
                                        .over = over};

static void open_with(struct h2_limits limits)
{
    memset(&w, 0, sizeof(w));
    w.uses_data = true;
    w.out = (struct h2_out){.p = w.bytes, .cap = sizeof(w.bytes)};
    h2_session_init(&w.session, &events, &limits, &w.out, &w.sum, 0);
    w.session.room = w.room;
}

static void open_session(void)
{
    open_with((struct h2_limits){
        .max_streams = 3, .max_head = 1000, .stream_window = 65536, .window_max = 1 << 20});
}

#define HEAD ":method=GET\n:scheme=http\n:path=/\n:authority=a\n"

static void put_request(uint32_t id, bool ends)
{
    put_block(ends ? H2_FLAG_END_STREAM : 0, id, HEAD);
}

static void begin_session(void)
{
    open_session();
    put_begin(&b);
    assert_string_equal(feed(), "<4/0/0:30> <4/1/0:0> ");
}

static const char *answer(uint32_t id, size_t body, bool has_trailers)
{
    struct h2_stream *st = stream(id);
    struct h2_head h;

    w.len = 0;
    whole(st)->body = body;
    whole(st)->has_trailers = has_trailers;
    assert_true(h2_head_begin(&h, st, 100));
    h2_head_status(&h, 200);
    h2_head_end(&h, body > 0 ? H2_FOLLOWS_BODY : H2_FOLLOWS_NOTHING);
    flush();
    return w.record;
}

/* ---- requests and answers ---- */

static void test_a_request_and_its_answer(void **state)
{
    (void)state;
    begin_session();
    put_request(1, true);
    assert_string_equal(feed(), "begin 1; head 1 whole; ");
    assert_string_equal(answer(1, 20000, false), "<1/4/1:1> <0/0/1:16384> <0/1/1:3616> over 1 0; ");
    put_block(0, 3, HEAD "x=y\ncontent-length=5\n");
    put_frame(&b, H2_DATA, 0, 3, "abc", 3);
    put_frame(&b, H2_DATA, H2_FLAG_END_STREAM, 3, "de", 2);
    assert_string_equal(feed(), "begin 3; field 3 x=y; head 3; data 3 3; data 3 2; end 3; ");
    assert_string_equal(answer(3, 0, false), "<1/5/3:1> over 3 0; ");
    close_session();
}

/* RFC 9113 section 8.1 */
static void test_trailers_both_ways(void **state)
{
    (void)state;
    begin_session();
    put_request(1, false);
    put_frame(&b, H2_DATA, 0, 1, "abc", 3);
    put_block(H2_FLAG_END_STREAM, 1, "x=y\n");
    assert_string_equal(feed(), "begin 1; head 1; data 1 3; trailer 1 x=y; end 1; ");
    assert_string_equal(answer(1, 3, true), "<1/4/1:1> <0/0/1:3> <1/5/1:5> over 1 0; ");
    close_session();
}

/* RFC 9113 section 8.5 */
static void test_a_tunnel_has_no_trailers(void **state)
{
    (void)state;
    begin_session();
    put_block(0, 1, ":method=CONNECT\n:authority=a\n");
    put_frame(&b, H2_DATA, 0, 1, "abc", 3);
    put_block(H2_FLAG_END_STREAM, 1, "x=y\n");
    assert_string_equal(feed(), "begin 1; head 1; data 1 3; over 1 1; <3/0/1:4=1> ");
    close_session();
}

static void test_an_early_answer_leaves_a_half(void **state)
{
    (void)state;
    begin_session();
    put_request(1, false);
    (void)feed();
    assert_string_equal(answer(1, 0, false), "answered 1; <1/5/1:1> ");
    put_frame(&b, H2_DATA, H2_FLAG_END_STREAM, 1, "abc", 3);
    assert_string_equal(feed(), "data 1 3; end 1; over 1 0; ");
    close_session();
}

static void test_a_large_head_goes_on(void **state)
{
    static char value[40000];
    struct h2_head h;

    (void)state;
    begin_session();
    put_request(1, true);
    (void)feed();
    w.len = 0;
    memset(value, 1, sizeof(value)); /* Huffman's code makes it longer */
    assert_true(h2_head_begin(&h, stream(1), 40100));
    h2_head_status(&h, 200);
    h2_head_add(&h, MK_STR("x"), (struct mk_str){value, sizeof(value)});
    h2_head_end(&h, H2_FOLLOWS_NOTHING);
    flush();
    assert_string_equal(w.record, "<1/1/1:16384> <9/0/1:16384> <9/4/1:7240> over 1 0; ");
    close_session();
}

/* What an owner writes while there is nowhere to write leaves later, in its order. */
static void test_what_is_late_keeps_its_order(void **state)
{
    struct h2_head h;

    (void)state;
    begin_session();
    put_request(1, true);
    put_request(3, true);
    (void)feed();
    w.len = 0;
    w.session.out = NULL;
    assert_true(h2_head_begin(&h, stream(3), 100));
    h2_head_status(&h, 404);
    h2_head_end(&h, H2_FOLLOWS_NOTHING);
    w.session.out = &w.out;
    assert_true(h2_head_begin(&h, stream(1), 100));
    h2_head_status(&h, 200);
    h2_head_end(&h, H2_FOLLOWS_NOTHING);
    assert_int_equal(w.out.used, 0);
    flush();
    assert_string_equal(w.record, "<1/5/3:1> <1/5/1:1> over 1 0; over 3 0; ");
    close_session();
}

/* ---- windows ---- */

/* RFC 9113 section 6.9 */
static void test_bodies_wait_for_windows(void **state)
{
    (void)state;
    begin_session();
    put_frame(&b, H2_SETTINGS, 0, 0, "\0\4\0\0\0\12", 6);
    put_request(1, true);
    assert_string_equal(feed(), "begin 1; head 1 whole; <4/1/0:0> ");
    assert_string_equal(answer(1, 100, false), "<1/4/1:1> <0/0/1:10> ");
    put_number(H2_WINDOW_UPDATE, 1, 5);
    assert_string_equal(feed(), "<0/0/1:5> ");
    put_frame(&b, H2_SETTINGS, 0, 0, "\0\4\0\0\0\4", 6); /* 6 less: below nothing (section 6.9.2) */
    assert_string_equal(feed(), "<4/1/0:0> ");
    assert_int_equal(stream(1)->window, -6);
    put_number(H2_WINDOW_UPDATE, 1, 6);
    assert_string_equal(feed(), "");
    put_number(H2_WINDOW_UPDATE, 1, 1000);
    assert_string_equal(feed(), "<0/1/1:85> over 1 0; ");
    close_session();
}

/* RFC 9113 section 6.5.3: together, when all of the frame is there; the last value counts. */
static void test_settings_change_windows_once(void **state)
{
    (void)state;
    begin_session();
    put_frame(&b, H2_SETTINGS, 0, 0, "\0\4\0\0\0\0", 6);
    put_request(1, true);
    (void)feed();
    assert_string_equal(answer(1, 100, false), "<1/4/1:1> ");
    put_frame(&b, H2_SETTINGS, 0, 0, "\0\4\0\0\0\144\0\4\0\0\0\12", 12);
    b.len -= 6;
    assert_string_equal(feed(), "");
    put(&b, "\0\4\0\0\0\12", 6);
    assert_string_equal(feed(), "<4/1/0:0> <0/0/1:10> ");
    close_session();
}

static void test_the_connection_has_a_window_too(void **state)
{
    (void)state;
    begin_session();
    put_frame(&b, H2_SETTINGS, 0, 0, "\0\4\0\3\0\0", 6);
    put_request(1, true);
    (void)feed();
    assert_string_equal(answer(1, 70000, false),
                        "<1/4/1:1> <0/0/1:16384> <0/0/1:16384> <0/0/1:16384> <0/0/1:16383> ");
    put_number(H2_WINDOW_UPDATE, 0, 10000);
    assert_string_equal(feed(), "<0/1/1:4465> over 1 0; ");
    close_session();
}

/* A body that moves gets more under way, up to what its connection may have. */
static void test_windows_grow(void **state)
{
    static const uint8_t piece[16384];
    uint64_t said = 0;

    (void)state;
    begin_session();
    put_frame(&b, H2_SETTINGS, H2_FLAG_ACK, 0, "", 0);
    put_request(1, false);
    (void)feed();
    for (int i = 0; i < 1000; i++) {
        put_frame(&b, H2_DATA, 0, 1, piece, sizeof(piece));
        (void)feed();
        assert_non_null(w.streams);
    }
    for (struct h2_flow *f = &stream(1)->flow;; f = &w.session.flow) {
        assert_in_range(f->window, 1 << 19, (1 << 20) + 65536);
        assert_true(f->left > 0 && f->left <= f->window);
        said++;
        if (f == &w.session.flow)
            break;
    }
    assert_int_equal(said, 2);
    close_session();
}

/* How a peer answers. */
struct delays {
    int ack_ms;   /* until our settings are acknowledged; -1: never */
    int round_ms; /* until a PING is; -1: never */
};

static void answer_measuring(int round_ms)
{
    if (round_ms < 0 || w.session.asked_ms < 0 || w.session.now_ms - w.session.asked_ms < round_ms)
        return;
    put_frame(&b, H2_PING, H2_FLAG_ACK, 0, "round\0\0", 8);
    (void)feed();
    assert_int_equal(w.session.asked_ms, -1);
}

/* A body whose pieces come at a rate. @param unread  bytes that wait all the time */
static void upload(unsigned npieces, unsigned us, struct delays delays, size_t unread)
{
    static const uint8_t piece[16384];

    w.session.now_ms = delays.ack_ms;
    if (delays.ack_ms >= 0)
        put_frame(&b, H2_SETTINGS, H2_FLAG_ACK, 0, "", 0);
    put_request(1, false);
    (void)feed();
    w.holds_data = true;
    for (size_t i = 0; i < npieces; i++) {
        w.session.now_ms = 10000 + (int64_t)(i * us / 1000);
        answer_measuring(delays.round_ms);
        put_frame(&b, H2_DATA, 0, 1, piece, sizeof(piece));
        (void)feed();
        if (i * sizeof(piece) >= unread)
            h2_stream_use(stream(1), sizeof(piece));
        assert_false(w.session.is_over);
    }
}

/* What windows may grow by together. */
struct account {
    int64_t most, taken;
};

static bool take(void *owner, int64_t bytes)
{
    struct account *account = owner;

    if (bytes > 0 && account->taken + bytes > account->most)
        return false;
    account->taken += bytes;
    return true;
}

/* RFC 9113 section 5.2: windows follow the product of bandwidth and delay, within bounds. */
static void test_windows_follow_the_line(void **state)
{
    static const struct {
        const char *about;
        unsigned us; /* for 16 KB */
        struct delays delays;
        size_t unread;
        int64_t most;               /* of all sessions */
        int32_t stream, connection; /* windows, in 64 KB */
    } cases[] = {
        {"1 Gbit/s, 50 ms", 131, {50, 50}, 0, 1 << 30, 256, 256},
        {"100 Mbit/s, 50 ms", 1311, {50, 50}, 0, 1 << 30, 16, 16},
        {"200 Mbit/s, 100 ms", 655, {100, 100}, 0, 1 << 30, 64, 64},
        {"1 Gbit/s, a delay that nobody knows", 131, {-1, -1}, 0, 1 << 30, 16, 16},
        {"1 Gbit/s, 50 ms, and a reader who lags behind", 131, {50, 50}, 30000, 1 << 30, 1, 256},
        {"1 Gbit/s, 50 ms, and little memory", 131, {50, 50}, 0, 1 << 19, 8, 256},
        {"1 Gbit/s, 50 ms, and no memory", 131, {50, 50}, 0, 0, 1, 256},
        {"1 Gbit/s, 2 ms, and settings that are acknowledged late",
         131,
         {5000, 2},
         0,
         1 << 30,
         16,
         16},
        {"1 Gbit/s, 50 ms, and settings that are acknowledged late",
         131,
         {5000, 50},
         0,
         1 << 30,
         256,
         256},
        {"1 Gbit/s, and no answer to PING", 131, {50, -1}, 0, 1 << 30, 16, 16},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct account account = {.most = cases[i].most};
        const struct h2_growth growth = {take, &account};

        open_with((struct h2_limits){.max_streams = 3,
                                     .max_head = 1000,
                                     .stream_window = 65536,
                                     .window_max = 16 << 20,
                                     .growth = &growth});
        put_begin(&b);
        upload(4000, cases[i].us, cases[i].delays, cases[i].unread);
        if (stream(1)->flow.window != cases[i].stream * 65536 ||
            w.session.flow.window != cases[i].connection * H2_WINDOW)
            fail_msg("%s: %d and %d", cases[i].about, stream(1)->flow.window,
                     w.session.flow.window);
        assert_int_equal(account.taken, (cases[i].stream - 1) * 65536);
        h2_stream_reset(stream(1), H2_E_CANCEL);
        assert_int_equal(account.taken, 0);
        (void)feed();
        close_session();
    }
}

/* Of a peer whose answers are late by chance the shortest counts, and nothing grows far before there are some. */
static void test_the_shortest_answer_counts(void **state)
{
    static const uint8_t piece[16384];

    (void)state;
    for (unsigned seed = 1; seed <= 20; seed++) {
        int late_ms = -1, shortest_ms, answers = 0;

        srand(seed);
        open_with((struct h2_limits){
            .max_streams = 3, .max_head = 1000, .stream_window = 65536, .window_max = 16 << 20});
        put_begin(&b);
        shortest_ms = 2 + rand() % 5000;
        w.session.now_ms = shortest_ms;
        put_frame(&b, H2_SETTINGS, H2_FLAG_ACK, 0, "", 0);
        put_request(1, false);
        (void)feed();
        for (int i = 0; i < 5000; i++) {
            w.session.now_ms = 10000 + i;
            if (w.session.asked_ms >= 0 && late_ms < 0)
                late_ms = 1 + rand() % 800;
            answer_measuring(late_ms);
            if (w.session.asked_ms < 0 && late_ms > 0) {
                shortest_ms = late_ms < shortest_ms ? late_ms : shortest_ms;
                answers++;
                late_ms = -1;
            }
            put_frame(&b, H2_DATA, 0, 1, piece, sizeof(piece));
            (void)feed();
            assert_int_equal(w.session.round_ms, shortest_ms);
            assert_true(answers >= H2_SAMPLES || w.session.flow.window <= H2_FREE + 65535);
        }
        assert_true(answers >= H2_SAMPLES);
        close_session();
    }
}

/* A session that ends gives back what its streams had. */
static void test_a_session_gives_its_growth_back(void **state)
{
    struct account account = {.most = 1 << 30};
    const struct h2_growth growth = {take, &account};

    (void)state;
    open_with((struct h2_limits){.max_streams = 3,
                                 .max_head = 1000,
                                 .stream_window = 65536,
                                 .window_max = 16 << 20,
                                 .growth = &growth});
    put_begin(&b);
    upload(1000, 131, (struct delays){50, 50}, 0);
    assert_true(account.taken > 0);
    close_session();
    assert_int_equal(account.taken, 0);
}

static const struct h2_stream *traced;
static unsigned ntraced;

static void trace(const void *of, const struct states *table, unsigned was, unsigned is)
{
    assert_ptr_equal(table, &h2_stream_states);
    assert_true(states_may(table, was, is));
    traced = of;
    ntraced++;
}

static void test_changes_of_states_are_traced(void **state)
{
    (void)state;
    begin_session();
    ntraced = 0;
    put_request(1, false);
    (void)feed();
    assert_int_equal(ntraced, 0);
    w.session.log = trace;
    put_request(3, false);
    (void)feed();
    assert_int_equal(ntraced, 1);
    assert_ptr_equal(traced, stream(3));
    h2_stream_reset(stream(3), H2_E_CANCEL);
    assert_int_equal(ntraced, 2);
    (void)feed();
    close_session();
}

static void test_nobody_sends_more_than_a_window(void **state)
{
    static const uint8_t piece[16384];

    (void)state;
    begin_session();
    w.uses_data = false; /* nobody reads it */
    put_frame(&b, H2_SETTINGS, H2_FLAG_ACK, 0, "", 0);
    put_request(1, false);
    for (int i = 0; i < 4; i++)
        put_frame(&b, H2_DATA, 0, 1, piece, sizeof(piece));
    w.holds_data = true;
    assert_string_equal(feed(), "begin 1; head 1; <8/0/0:4=32768> <8/0/0:4=98303> ");
    put_frame(&b, H2_DATA, 0, 1, "1", 1);
    assert_string_equal(feed(), "over 1 3; <3/0/1:4=3> ");
    close_session();
}

/* RFC 9113 section 6.5.3: a peer that has not seen our settings keeps to the defaults. */
static void test_a_small_window_holds_when_it_is_acknowledged(void **state)
{
    static const uint8_t piece[2000];

    (void)state;
    open_with((struct h2_limits){
        .max_streams = 3, .max_head = 1000, .stream_window = 1024, .window_max = 1 << 20});
    w.uses_data = false;
    put_begin(&b);
    put_request(1, false);
    put_frame(&b, H2_DATA, 0, 1, piece, sizeof(piece));
    assert_string_equal(feed(), "begin 1; head 1; data 1 2000; <4/0/0:30> <4/1/0:0> ");
    put_frame(&b, H2_SETTINGS, H2_FLAG_ACK, 0, "", 0);
    put_request(3, false);
    put_frame(&b, H2_DATA, 0, 3, piece, 1024);
    assert_string_equal(feed(), "begin 3; head 3; data 3 1024; ");
    put_frame(&b, H2_DATA, 0, 3, piece, 1);
    assert_string_equal(feed(), "over 3 3; <3/0/3:4=3> ");
    close_session();
}

/* ---- what a peer must not do ---- */

enum { OPEN = 1, ENDED, RESET, ANSWERED, NEVER };

/* After a stream 1 that is so, a frame comes. */
static const struct {
    const char *sentence;
    int before;
    unsigned type, flags;
    uint32_t id;
    const char *payload;
    size_t len;
    const char *output; /* begins with */
} rows[] = {
    {"DATA of an idle stream: 5.1", NEVER, H2_DATA, 0, 3, "a", 1, "<7/0/0:8=1,1>"},
    {"DATA of an even one: 5.1.1", OPEN, H2_DATA, 0, 2, "a", 1, "<7/0/0:8=1,1>"},
    {"RST_STREAM of an idle one: 6.4", NEVER, H2_RST_STREAM, 0, 3, "\0\0\0\1", 4, "<7/0/0:8=1,1>"},
    {"WINDOW_UPDATE of an idle one: 5.1", NEVER, H2_WINDOW_UPDATE, 0, 3, "\0\0\0\1", 4,
     "<7/0/0:8=1,1>"},
    {"DATA after its end: 5.1", ENDED, H2_DATA, 0, 1, "a", 1, "over 1 5; <3/0/1:4=5>"},
    {"HEADERS after its end: 5.1", ENDED, H2_HEADERS, 5, 1, "", 0, "over 1 5; <3/0/1:4=5>"},
    {"DATA of one that was answered: 5.1", ANSWERED, H2_DATA, 0, 1, "a", 1, "<7/0/0:8=1,5>"},
    {"HEADERS of one that was answered: 5.1", ANSWERED, H2_HEADERS, 5, 1, "", 0, "<7/0/0:8=1,5>"},
    {"WINDOW_UPDATE of one that was answered: 5.1", ANSWERED, H2_WINDOW_UPDATE, 0, 1, "\0\0\0\1", 4,
     ""},
    {"RST_STREAM of one that was answered: 5.1", ANSWERED, H2_RST_STREAM, 0, 1, "\0\0\0\1", 4, ""},
    {"DATA of one that we reset: 5.1", RESET, H2_DATA, 0, 1, "a", 1, ""},
    {"HEADERS of one that we reset: 5.1", RESET, H2_HEADERS, 5, 1, "", 0, ""},
    {"HEADERS of an even one: 5.1.1", OPEN, H2_HEADERS, 5, 2, "", 0, "<7/0/0:8=1,1>"},
    {"trailers that do not end it: 8.1", OPEN, H2_HEADERS, 4, 1, "", 0, "over 1 1; <3/0/1:4=1>"},
    {"a block that is cut: 4.3", OPEN, H2_HEADERS, 5, 3, "\0\5x", 3, "begin 3; <7/0/0:8=3,9>"},
    {"an index of nothing: 4.3", OPEN, H2_HEADERS, 5, 3, "\377", 1, "begin 3; <7/0/0:8=3,9>"},
    {"a head without fields: 8.3.1", OPEN, H2_HEADERS, 5, 3, "", 0,
     "begin 3; over 3 1; <3/0/3:4=1>"},
    {"one that depends on itself: RFC 7540, 5.3.1", OPEN, H2_PRIORITY, 0, 3, "\0\0\0\3\1", 5,
     "<7/0/0:8=1,1>"},
    {"so in HEADERS", OPEN, H2_HEADERS, 0x25, 3, "\200\0\0\3\1", 5, "<7/0/0:8=1,1>"},
    {"PUSH_PROMISE: 8.4", OPEN, H2_PUSH_PROMISE, 4, 1, "\0\0\0\2", 4, "<7/0/0:8=1,1>"},
    {"a window that opens by nothing: 6.9", OPEN, H2_WINDOW_UPDATE, 0, 1, "\0\0\0\0", 4,
     "over 1 1; <3/0/1:4=1>"},
    {"so of the connection: 6.9", OPEN, H2_WINDOW_UPDATE, 0, 0, "\0\0\0\0", 4, "<7/0/0:8=1,1>"},
    {"a window that is too large: 6.9.1", OPEN, H2_WINDOW_UPDATE, 0, 1, "\177\377\377\377", 4,
     "over 1 3; <3/0/1:4=3>"},
    {"so of the connection: 6.9.1", OPEN, H2_WINDOW_UPDATE, 0, 0, "\177\377\377\377", 4,
     "<7/0/0:8=1,3>"},
    {"so by settings: 6.9.2", OPEN, H2_SETTINGS, 0, 0, "\0\4\200\0\0\0", 6, "<7/0/0:8=1,3>"},
    {"ENABLE_PUSH of 2: 6.5.2", OPEN, H2_SETTINGS, 0, 0, "\0\2\0\0\0\2", 6, "<7/0/0:8=1,1>"},
    {"MAX_FRAME_SIZE that is too small: 6.5.2", OPEN, H2_SETTINGS, 0, 0, "\0\5\0\0\77\377", 6,
     "<7/0/0:8=1,1>"},
    {"MAX_FRAME_SIZE that is too large: 6.5.2", OPEN, H2_SETTINGS, 0, 0, "\0\5\1\0\0\0", 6,
     "<7/0/0:8=1,1>"},
    {"NO_RFC7540_PRIORITIES of 2: RFC 9218, 2.1", OPEN, H2_SETTINGS, 0, 0, "\0\11\0\0\0\2", 6,
     "<7/0/0:8=1,1>"},
    {"a setting that nobody knows: 6.5.2", OPEN, H2_SETTINGS, 0, 0, "\0\77\0\0\0\2", 6,
     "<4/1/0:0>"},
    {"priority of a push: RFC 9218, 7.1", OPEN, H2_PRIORITY_UPDATE, 0, 0, "\0\0\0\2u=1", 7,
     "<7/0/0:8=1,1>"},
    {"PING: 6.7", OPEN, H2_PING, 0, 0, "12345678", 8, "<6/1/0:8>"},
    {"an answer to PING: 6.7", OPEN, H2_PING, 1, 0, "12345678", 8, ""},
    {"GOAWAY: 6.8", OPEN, H2_GOAWAY, 0, 0, "\0\0\0\0\0\0\0\0", 8, ""},
    {"a type that nobody knows: 5.5", OPEN, 0xbe, 0xff, 77, "abc", 3, ""},
};

static void bring(int before)
{
    begin_session();
    put_request(1, before != OPEN && before != RESET);
    (void)feed();
    if (before == RESET) {
        h2_stream_reset(stream(1), H2_E_CANCEL);
        flush();
    } else if (before == ANSWERED) {
        (void)answer(1, 0, false);
    }
}

static void test_frames_in_each_state(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *seen;

        bring(rows[i].before);
        put_frame(&b, rows[i].type, rows[i].flags, rows[i].id, rows[i].payload, rows[i].len);
        seen = feed();
        if (strncmp(seen, rows[i].output, strlen(rows[i].output)) != 0 ||
            (rows[i].output[0] == '\0' && seen[0] != '\0'))
            fail_msg("%s: %s", rows[i].sentence, seen);
        close_session();
    }
}

/* RFC 9113 section 8.1.1 */
static void test_bodies_have_their_length(void **state)
{
    static const struct {
        unsigned head, data;
        const char *length, *bytes;
        bool is_good;
    } lengths[] = {{0, 1, "3", "abc", true}, {0, 1, "3", "ab", false}, {0, 1, "3", "abcd", false},
                   {1, 0, "3", NULL, false}, {1, 0, "0", NULL, true},  {0, 0, "3", "abcd", false},
                   {0, 1, "0", "", true}};

    (void)state;
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        char fields[128];

        begin_session();
        (void)snprintf(fields, sizeof(fields), HEAD "content-length=%s\n", lengths[i].length);
        put_block(lengths[i].head, 1, fields);
        if (lengths[i].bytes)
            put_frame(&b, H2_DATA, lengths[i].data, 1, lengths[i].bytes, strlen(lengths[i].bytes));
        assert_int_equal(strstr(feed(), "<3/0/1:4=1>") == NULL, lengths[i].is_good);
        close_session();
    }
}

/* ---- limits ---- */

/* RFC 9113 section 5.1.2 */
static void test_so_many_streams(void **state)
{
    (void)state;
    begin_session();
    for (uint32_t id = 1; id <= 7; id += 2)
        put_request(id, true);
    assert_string_equal(
        feed(),
        "begin 1; head 1 whole; begin 3; head 3 whole; begin 5; head 5 whole; <3/0/7:4=7> ");
    (void)answer(3, 0, false);
    put_request(9, true);
    assert_string_equal(feed(), "begin 9; head 9 whole; ");
    close_session();
}

static void test_a_stream_without_memory_is_refused(void **state)
{
    (void)state;
    begin_session();
    w.refuses_at = 1;
    put_block(0, 1, HEAD "x=y\n");
    put_frame(&b, H2_DATA, 0, 1, "abc", 3);
    put_request(3, true);
    assert_string_equal(feed(), "begin 3; head 3 whole; <3/0/1:4=7> ");
    close_session();
}

/* RFC 9113 section 6.8 */
static void test_after_goaway_streams_are_skipped(void **state)
{
    (void)state;
    begin_session();
    put_request(1, true);
    (void)feed();
    h2_session_notice(&w.session);
    put_request(3, true);
    assert_string_equal(feed(), "begin 3; head 3 whole; <7/0/0:8=2147483647,0> ");
    h2_session_refuse(&w.session);
    put_request(5, false);
    put_frame(&b, H2_DATA, 0, 5, "abc", 3);
    put_number(H2_RST_STREAM, 5, 8);
    put_number(H2_WINDOW_UPDATE, 7, 8);
    assert_string_equal(feed(), "<7/0/0:8=3,0> ");
    assert_string_equal(answer(1, 3, false), "<1/4/1:1> <0/1/1:3> over 1 0; ");
    h2_session_fail(&w.session, H2_E_NO_ERROR);
    put_request(9, true);
    assert_string_equal(feed(), "<7/0/0:8=3,0> ");
    close_session();
}

/* RFC 9113 section 10.5 */
static void test_floods_end_it(void **state)
{
    static const struct {
        unsigned type, flags;
        uint32_t id;
        const char *payload;
        size_t len;
    } floods[] = {{H2_PING, 0, 0, "12345678", 8},
                  {H2_SETTINGS, 0, 0, "", 0},
                  {H2_SETTINGS, H2_FLAG_ACK, 0, "", 0},
                  {H2_GOAWAY, 0, 0, "\0\0\0\0\0\0\0\0", 8},
                  {H2_HEADERS, H2_FLAG_END_HEADERS, 1, "", 0}, /* after the first, of no stream */
                  {H2_WINDOW_UPDATE, 0, 0, "\0\0\0\1", 4},
                  {H2_DATA, 0, 1, "", 0},
                  {H2_PRIORITY, 0, 1, "\0\0\0\3\1", 5},
                  {0xbe, 0, 0, "", 0},
                  {H2_PRIORITY_UPDATE, 0, 0, "\0\0\0\1", 4},
                  {H2_RST_STREAM, 0, 1, "\0\0\0\1", 4}};

    (void)state;
    for (size_t i = 0; i < sizeof(floods) / sizeof(floods[0]); i++) {
        int n = 0;

        begin_session();
        put_request(1, false);
        (void)feed();
        for (; n < 5000 && !w.session.is_over; n++) {
            put_frame(&b, floods[i].type, floods[i].flags, floods[i].id, floods[i].payload,
                      floods[i].len);
            (void)feed();
        }
        assert_in_range(n, 100, 4500);
        assert_true(w.session.is_flooded);
        assert_non_null(strstr(w.record, "<7/0/0:8=1,11>"));
        close_session();
    }
}

/* RFC 9113 section 10.5: what a frame costs follows the streams that it changes. */
static void test_windows_of_many_streams_cost_more(void **state)
{
    int n = 0;

    (void)state;
    open_with((struct h2_limits){
        .max_streams = 1000, .max_head = 1000, .stream_window = 65536, .window_max = 1 << 20});
    put_begin(&b);
    (void)feed();
    for (uint32_t id = 1; id < 2000; id += 2) {
        put_request(id, true);
        (void)feed();
    }
    for (; n < 1000 && !w.session.is_over; n++) {
        put_frame(&b, H2_SETTINGS, 0, 0, n % 2 ? "\0\4\0\0\0\0" : "\0\4\0\0\0\1", 6);
        (void)feed();
    }
    assert_in_range(n, 10, 40);
    assert_true(w.session.is_flooded);
    close_session();
}

/* ---- priorities ---- */

/* RFC 9218 section 7.1 and 10 */
static void test_the_urgent_leave_first(void **state)
{
    (void)state;
    begin_session();
    w.is_starved = true;
    put_request(1, true);
    put_frame(&b, H2_PRIORITY_UPDATE, 0, 0, "\0\0\0\3u=5", 7); /* before its stream */
    put_request(3, true);
    put_block(H2_FLAG_END_STREAM, 5, HEAD "priority=u=4\n");
    (void)feed();
    for (uint32_t id = 1; id <= 5; id += 2)
        (void)answer(id, 1, false);
    put_frame(&b, H2_PRIORITY_UPDATE, 0, 0, "\0\0\0\1u=6", 7);
    (void)feed();
    w.is_starved = false;
    for (struct stream *s = w.streams; s; s = s->next)
        h2_stream_resume(&s->base);
    assert_string_equal(feed(), "<0/1/5:1> <0/1/3:1> <0/1/1:1> over 1 0; over 3 0; over 5 0; ");
    close_session();
}

/* ---- memory ---- */

/* Each allocation fails once: the session goes on, or says that it cannot; nothing leaks. */
static void test_allocations_fail(void **state)
{
    (void)state;
    for (unsigned n = 1;; n++) {
        bool has_failed;

        open_session();
        put_begin(&b);
        put_block(0, 1, HEAD "x=y\n");
        /* indexed literals, in two frames: a table and a part have memory */
        put_frame(&b, H2_HEADERS, H2_FLAG_END_STREAM, 3, "\202\206\204\101\1a\100\1x", 9);
        put_frame(&b, H2_CONTINUATION, H2_FLAG_END_HEADERS, 3, "\1y", 2);
        fails_in = n;
        w.session.out = NULL; /* all that leaves is late */
        h2_session_receive(&w.session, b.p, b.len);
        has_failed = fails_in == 0;
        fails_in = 0;
        w.session.out = &w.out;
        assert_true(!has_failed || w.session.is_lost || w.session.is_over);
        if (!w.session.is_lost)
            flush();
        close_session();
        if (!has_failed)
            break;
    }
}

static void test_states_are_a_table(void **state)
{
    const struct states *t = &h2_stream_states;

    (void)state;
    for (unsigned from = 0; from < t->count; from++) {
        assert_true(t->rows[from].next >> t->count == 0);
        assert_false(states_may(t, from, from));
        assert_int_equal(states_may(t, from, H2_STREAM_CLOSED), from != H2_STREAM_CLOSED);
        assert_false(states_may(t, from, H2_STREAM_HEAD));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_request_and_its_answer),
        cmocka_unit_test(test_trailers_both_ways),
        cmocka_unit_test(test_a_tunnel_has_no_trailers),
        cmocka_unit_test(test_an_early_answer_leaves_a_half),
        cmocka_unit_test(test_a_large_head_goes_on),
        cmocka_unit_test(test_what_is_late_keeps_its_order),
        cmocka_unit_test(test_bodies_wait_for_windows),
        cmocka_unit_test(test_settings_change_windows_once),
        cmocka_unit_test(test_the_connection_has_a_window_too),
        cmocka_unit_test(test_windows_grow),
        cmocka_unit_test(test_windows_follow_the_line),
        cmocka_unit_test(test_the_shortest_answer_counts),
        cmocka_unit_test(test_a_session_gives_its_growth_back),
        cmocka_unit_test(test_changes_of_states_are_traced),
        cmocka_unit_test(test_nobody_sends_more_than_a_window),
        cmocka_unit_test(test_a_small_window_holds_when_it_is_acknowledged),
        cmocka_unit_test(test_frames_in_each_state),
        cmocka_unit_test(test_bodies_have_their_length),
        cmocka_unit_test(test_so_many_streams),
        cmocka_unit_test(test_a_stream_without_memory_is_refused),
        cmocka_unit_test(test_after_goaway_streams_are_skipped),
        cmocka_unit_test(test_floods_end_it),
        cmocka_unit_test(test_windows_of_many_streams_cost_more),
        cmocka_unit_test(test_the_urgent_leave_first),
        cmocka_unit_test(test_allocations_fail),
        cmocka_unit_test(test_states_are_a_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
