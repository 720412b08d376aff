/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "owner.h"

/* ---- the owner of a client ---- */

static int head_err; /* what `head` returns */

static int head(struct h2_stream *st)
{
    say("head %u %u%s; ", st->id, st->status, h2_stream_has_end(st) ? " whole" : "");
    return head_err;
}

static const struct h2_events events = {.field = field,
                                        .head = head,
                                        .data = data,
                                        .end = end,
                                        .give = give,
                                        .trailers = trailers,
                                        .answered = answered,
                                        .over = over};

static const struct h2_limits limits = {.is_client = true,
                                        .max_streams = 200,
                                        .max_head = 1000,
                                        .stream_window = 65536,
                                        .window_max = 1 << 20};

static void open_with(struct h2_out *out)
{
    memset(&w, 0, sizeof(w));
    b.len = 0;
    head_err = 0;
    w.uses_data = true;
    w.out = (struct h2_out){.p = w.bytes, .cap = sizeof(w.bytes)};
    h2_session_init(&w.session, &events, &limits, out, &w.sum, 0);
    w.session.room = w.room;
}

static void open_session(void)
{
    open_with(&w.out);
}

/* What leaves first is not said. */
static void open_quietly(void)
{
    open_session();
    w.out.used = 0;
}

static void put_setting(unsigned id, uint32_t value)
{
    uint8_t payload[H2_SETTING] = {0, (uint8_t)id};

    (void)h2_put_number(payload + 2, value);
    put_frame(&b, H2_SETTINGS, 0, 0, payload, sizeof(payload));
}

static void begin_session(void)
{
    open_quietly();
    put_frame(&b, H2_SETTINGS, 0, 0, "", 0);
    assert_string_equal(feed(), "<4/1/0:0> ");
}

/* @return its number; 0: there is no room */
static uint32_t open_stream(size_t body, bool has_trailers)
{
    struct stream *st = add_stream();
    struct h2_head h;

    st->body = body;
    st->has_trailers = has_trailers;
    if (!h2_session_open(&w.session, &st->base)) {
        w.streams = st->next;
        free(st);
        return 0;
    }
    if (!h2_head_begin(&h, &st->base, 200))
        return 0;
    h2_head_add(&h, MK_STR(":method"), body > 0 ? MK_STR("POST") : MK_STR("GET"));
    h2_head_add(&h, MK_STR(":scheme"), MK_STR("http"));
    h2_head_add(&h, MK_STR(":authority"), MK_STR("a"));
    h2_head_add(&h, MK_STR(":path"), MK_STR("/p"));
    h2_head_end(&h, body > 0 ? H2_FOLLOWS_BODY : H2_FOLLOWS_NOTHING);
    return st->base.id;
}

static const char *request(size_t body, bool has_trailers)
{
    w.len = 0;
    assert_int_not_equal(open_stream(body, has_trailers), 0);
    flush();
    return w.record;
}

/* A request whose end has not left. */
static void request_slowly(void)
{
    w.is_starved = true;
    (void)request(1, false);
}

#define OK ":status=200\n"

/* ---- the beginning ---- */

/* RFC 9113 section 3.4 and 6.5.2, RFC 9218 section 2.1 */
static void test_a_preface_and_settings_leave_first(void **state)
{
    static const uint8_t settings[] = {0, 2, 0, 0, 0, 0,    0, 4, 0, 1, 0, 0,
                                       0, 6, 0, 0, 3, 0xe8, 0, 9, 0, 0, 0, 1};

    (void)state;
    open_session();
    assert_memory_equal(w.bytes, H2_PREFACE, H2_PREFACE_LEN);
    assert_memory_equal(w.bytes + H2_PREFACE_LEN + H2_FRAME_HEAD, settings, sizeof(settings));
    memmove(w.bytes, w.bytes + H2_PREFACE_LEN, w.out.used - H2_PREFACE_LEN);
    w.out.used -= H2_PREFACE_LEN;
    say_output();
    assert_string_equal(w.record, "<4/0/0:24> <8/0/0:4=983041> ");
    close_session();
}

/* RFC 9113 section 3.4: settings are the first of a server too. */
static void test_a_server_begins_with_settings(void **state)
{
    (void)state;
    open_quietly();
    put_frame(&b, H2_PING, 0, 0, "12345678", 8);
    assert_string_equal(feed(), "<7/0/0:8=0,1> ");
    close_session();
}

/* ---- requests and responses ---- */

static void test_a_request_and_its_response(void **state)
{
    (void)state;
    begin_session();
    assert_string_equal(request(0, false), "answered 1; <1/5/1:9> ");
    put_block(0, 1, OK "x=y\ncontent-length=5\n");
    put_frame(&b, H2_DATA, 0, 1, "abc", 3);
    put_frame(&b, H2_DATA, H2_FLAG_END_STREAM, 1, "de", 2);
    assert_string_equal(feed(), "field 1 x=y; head 1 200; data 1 3; data 1 2; end 1; over 1 0; ");
    assert_string_equal(request(20000, false), "answered 3; <1/4/3:7> <0/0/3:16384> <0/1/3:3616> ");
    put_block(H2_FLAG_END_STREAM, 3, ":status=404\n");
    assert_string_equal(feed(), "head 3 404 whole; over 3 0; ");
    assert_int_equal(w.session.nstreams, 0);
    close_session();
}

/* RFC 9113 section 8.1 */
static void test_trailers_both_ways(void **state)
{
    (void)state;
    begin_session();
    assert_string_equal(request(3, true), "answered 1; <1/4/1:9> <0/0/1:3> <1/5/1:5> ");
    put_block(0, 1, OK);
    put_frame(&b, H2_DATA, 0, 1, "abc", 3);
    put_block(H2_FLAG_END_STREAM, 1, "x=y\n");
    assert_string_equal(feed(), "head 1 200; data 1 3; trailer 1 x=y; end 1; over 1 0; ");
    (void)request(0, false);
    put_block(0, 3, OK); /* no body */
    put_block(H2_FLAG_END_STREAM, 3, "x=y\n");
    assert_string_equal(feed(), "head 3 200; trailer 3 x=y; end 3; over 3 0; ");
    close_session();
}

/* RFC 9113 section 8.1: any number of them, and the message begins anew after each. */
static void test_interim_heads(void **state)
{
    (void)state;
    begin_session();
    request_slowly();
    put_block(0, 1, ":status=100\nx=y\n");
    put_block(0, 1, ":status=103\ncontent-length=7\n");
    put_block(0, 1, OK "x=z\ncontent-length=1\n");
    put_frame(&b, H2_DATA, H2_FLAG_END_STREAM, 1, "a", 1);
    assert_string_equal(feed(), "field 1 x=y; head 1 100; head 1 103; field 1 x=z; head 1 200; "
                                "data 1 1; end 1; ");
    assert_int_equal(stream(1)->state, H2_STREAM_HALF_REMOTE);
    w.is_starved = false;
    h2_stream_resume(stream(1));
    assert_string_equal(feed(), "<0/1/1:1> over 1 0; ");
    close_session();
}

/* RFC 9113 section 8.1: a response that is whole while the request's body goes on, and RST_STREAM that wants no more of it. */
static void test_an_early_response(void **state)
{
    (void)state;
    begin_session();
    request_slowly();
    put_block(H2_FLAG_END_STREAM, 1, ":status=413\n");
    assert_string_equal(feed(), "head 1 413 whole; ");
    put_number(H2_RST_STREAM, 1, H2_E_NO_ERROR);
    assert_string_equal(feed(), "over 1 0; ");
    assert_int_equal(w.session.credit.left,
                     H2_CREDIT_MAX - 20 + H2_CREDIT_A_REQUEST); /* settings alone cost */
    close_session();
}

/* RFC 9113 section 6.4 and 8.7 */
static void test_a_reset_stream_is_over(void **state)
{
    (void)state;
    begin_session();
    (void)request(0, false);
    (void)request(0, false);
    put_number(H2_RST_STREAM, 1, H2_E_REFUSED_STREAM);
    put_number(H2_RST_STREAM, 3, 77);
    assert_string_equal(feed(), "over 3 77; over 1 7; ");
    assert_int_equal(h2_session_room(&w.session), 200);
    close_session();
}

static void test_an_owner_takes_no_head(void **state)
{
    (void)state;
    begin_session();
    request_slowly();
    w.is_starved = false;
    (void)request(0, false);
    head_err = MK_E_BAD;
    put_block(0, 1, OK);
    assert_string_equal(feed(), "head 1 200; over 1 1; <3/0/1:4=1> ");
    head_err = MK_E_NOMEM;
    put_block(H2_FLAG_END_STREAM, 3, OK); /* both sides have ended: there is nothing to reset */
    assert_string_equal(feed(), "head 3 200 whole; over 3 2; ");
    close_session();
}

/* A proxy's response says to its own client how urgent it is (RFC 9218 section 8). */
static void test_a_response_has_no_priority_here(void **state)
{
    (void)state;
    begin_session();
    request_slowly();
    put_block(0, 1, OK "priority=u=0\n");
    (void)feed();
    assert_int_equal(stream(1)->turn.priority.urgency, H2_URGENCY);
    close_session();
}

/* ---- tunnels ---- */

/* RFC 8441 section 3: it is known when the whole of the first settings is there, and is not taken back. */
static void test_a_server_offers_tunnels(void **state)
{
    (void)state;
    open_quietly();
    assert_false(w.session.is_greeted || w.session.takes_connect);
    put_setting(H2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1);
    for (size_t i = 0, len = b.len; i < len; i++) {
        assert_false(w.session.is_greeted);
        h2_session_receive(&w.session, b.p + i, 1);
    }
    assert_true(w.session.is_greeted && w.session.takes_connect);
    b.len = 0;
    put_frame(&b, H2_SETTINGS, 0, 0, "", 0);
    put_setting(H2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1);
    assert_string_equal(feed(), "<4/1/0:0> <4/1/0:0> <4/1/0:0> ");
    assert_true(w.session.takes_connect);
    put_setting(H2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 0);
    assert_string_equal(feed(), "<7/0/0:8=0,1> ");
    close_session();
}

/* RFC 8441 section 3: 0 or 1; it may come late. */
static void test_a_setting_of_tunnels_comes_late(void **state)
{
    (void)state;
    begin_session();
    assert_true(w.session.is_greeted && !w.session.takes_connect);
    put_setting(H2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 0);
    put_setting(H2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1);
    assert_string_equal(feed(), "<4/1/0:0> <4/1/0:0> ");
    assert_true(w.session.takes_connect);
    put_setting(H2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 2);
    assert_string_equal(feed(), "<7/0/0:8=0,1> ");
    close_session();
}

static const struct {
    const char *sentence, *fields, *seen;
    bool has_trailers;
} openings[] = {
    {"any length: RFC 9110, 9.3.6", OK "content-length=1\n",
     "head 1 200; data 1 3; end 1; over 1 0; ", false},
    {"204 too: RFC 9110, 9.3.6", ":status=204\n", "head 1 204; data 1 3; end 1; over 1 0; ", false},
    {"no trailers: RFC 9113, 8.5", OK, "head 1 200; data 1 3; over 1 1; <3/0/1:4=1> ", true},
    {"refused, with its length", ":status=403\ncontent-length=3\n",
     "head 1 403; data 1 3; end 1; over 1 0; ", false},
    {"refused, with trailers", ":status=403\n",
     "head 1 403; data 1 3; trailer 1 x=y; end 1; over 1 0; ", true},
    {"refused, with another length: RFC 9113, 8.1.1", ":status=403\ncontent-length=1\n",
     "head 1 403; over 1 1; <3/0/1:4=1> ", false},
};

static void test_heads_that_open_tunnels(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(openings) / sizeof(openings[0]); i++) {
        begin_session();
        (void)request(0, false);
        stream(1)->is_connect = true;
        put_block(0, 1, openings[i].fields);
        put_frame(&b, H2_DATA, openings[i].has_trailers ? 0 : H2_FLAG_END_STREAM, 1, "abc", 3);
        if (openings[i].has_trailers)
            put_block(H2_FLAG_END_STREAM, 1, "x=y\n");
        if (strcmp(feed(), openings[i].seen) != 0)
            fail_msg("%s: %s", openings[i].sentence, w.record);
        close_session();
    }
}

/* ---- lengths ---- */

static const struct {
    const char *sentence;
    bool is_head;
    const char *fields, *body; /* NULL: the head has the end */
    const char *seen;
} lengths[] = {
    {"as long as it says: 8.1.1", false, OK "content-length=3\n", "abc",
     "head 1 200; data 1 3; end 1; over 1 0; "},
    {"shorter: 8.1.1", false, OK "content-length=3\n", "ab",
     "head 1 200; data 1 2; over 1 1; <3/0/1:4=1> "},
    {"longer: 8.1.1", false, OK "content-length=3\n", "abcd", "head 1 200; over 1 1; <3/0/1:4=1> "},
    {"none, where a length is: 8.1.1", false, OK "content-length=3\n", NULL,
     "over 1 1; <3/0/1:4=1> "},
    {"none, of none", false, OK "content-length=0\n", NULL, "head 1 200 whole; over 1 0; "},
    {"of any length", false, OK, "abc", "head 1 200; data 1 3; end 1; over 1 0; "},
    {"to HEAD: RFC 9110, 8.6", true, OK "content-length=3\n", NULL, "head 1 200 whole; over 1 0; "},
    {"to HEAD, its end by DATA", true, OK "content-length=3\n", "",
     "head 1 200; end 1; over 1 0; "},
    {"to HEAD, with a body: RFC 9110, 9.3.2", true, OK "content-length=3\n", "abc",
     "head 1 200; over 1 1; <3/0/1:4=1> "},
    {"to HEAD, with a body of any length: RFC 9110, 9.3.2", true, OK, "abc",
     "head 1 200; over 1 1; <3/0/1:4=1> "},
    {"204: 8.1.1", false, ":status=204\ncontent-length=3\n", NULL, "head 1 204 whole; over 1 0; "},
    {"204 with a body: RFC 9110, 6.4.1", false, ":status=204\n", "abc",
     "head 1 204; over 1 1; <3/0/1:4=1> "},
    {"304: 8.1.1", false, ":status=304\ncontent-length=3\n", NULL, "head 1 304 whole; over 1 0; "},
    {"304, its end by DATA", false, ":status=304\ncontent-length=3\n", "",
     "head 1 304; end 1; over 1 0; "},
    {"304 with a body: RFC 9110, 6.4.1", false, ":status=304\n", "abc",
     "head 1 304; over 1 1; <3/0/1:4=1> "},
};

static void expect(const char *sentence, const char *seen, const char *wanted)
{
    if (strcmp(seen, wanted) != 0)
        fail_msg("%s: %s", sentence, seen);
}

static void test_bodies_have_their_length(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        begin_session();
        (void)request(0, false);
        stream(1)->is_head = lengths[i].is_head;
        put_block(lengths[i].body ? 0 : H2_FLAG_END_STREAM, 1, lengths[i].fields);
        if (lengths[i].body)
            put_frame(&b, H2_DATA, H2_FLAG_END_STREAM, 1, lengths[i].body, strlen(lengths[i].body));
        expect(lengths[i].sentence, feed(), lengths[i].seen);
        close_session();
    }
}

/* ---- windows ---- */

/* RFC 9113 section 6.9 */
static void test_bodies_wait_for_windows(void **state)
{
    (void)state;
    begin_session();
    put_setting(H2_SETTINGS_INITIAL_WINDOW_SIZE, 10);
    (void)feed();
    assert_string_equal(request(100, false), "<1/4/1:9> <0/0/1:10> ");
    put_setting(H2_SETTINGS_INITIAL_WINDOW_SIZE, 30); /* of those that are open too: 6.9.2 */
    assert_string_equal(feed(), "<4/1/0:0> <0/0/1:20> ");
    put_number(H2_WINDOW_UPDATE, 1, 1000);
    assert_string_equal(feed(), "answered 1; <0/1/1:70> ");
    close_session();
}

/* Requests are of many clients: none waits until another one's body has left. */
static void test_bodies_leave_in_turns(void **state)
{
    (void)state;
    begin_session();
    w.is_starved = true;
    (void)request(20000, false);
    (void)request(20000, false);
    w.is_starved = false;
    h2_stream_resume(stream(1));
    h2_stream_resume(stream(3));
    assert_string_equal(feed(), "answered 1; answered 3; <0/0/1:16384> <0/0/3:16384> <0/1/1:3616> "
                                "<0/1/3:3616> ");
    close_session();
}

/* RFC 9113 section 5.2 and 6.9.1: a server may send the whole window of the connection at once, and no byte more. */
static void test_a_server_sends_no_more_than_windows(void **state)
{
    static const uint8_t piece[16384];

    (void)state;
    begin_session();
    w.uses_data = false; /* nobody reads it */
    w.holds_data = true;
    (void)request(0, false);
    (void)request(0, false);
    put_block(0, 1, OK);
    for (int i = 0; i < 4; i++)
        put_frame(&b, H2_DATA, 0, 1, piece, sizeof(piece));
    assert_string_equal(feed(), "head 1 200; ");
    put_frame(&b, H2_DATA, 0, 1, "1", 1);
    assert_string_equal(feed(), "over 1 3; <3/0/1:4=3> ");
    w.session.flow.left = 16383;
    put_block(0, 3, OK);
    put_frame(&b, H2_DATA, 0, 3, piece, sizeof(piece));
    assert_string_equal(feed(), "head 3 200; <7/0/0:8=0,3> ");
    close_session();
}

/* RFC 9113 section 6.5.3: settings come before all streams, so that they hold for each without their acknowledgement. */
static void test_a_small_window_holds_at_once(void **state)
{
    static const uint8_t piece[1024];

    (void)state;
    begin_session();
    w.session.stream_window = sizeof(piece);
    w.uses_data = false;
    (void)request(0, false);
    (void)request(0, false);
    put_block(0, 1, OK);
    put_frame(&b, H2_DATA, 0, 1, piece, sizeof(piece));
    assert_string_equal(feed(), "head 1 200; data 1 1024; ");
    put_frame(&b, H2_DATA, 0, 1, "1", 1);
    assert_string_equal(feed(), "over 1 3; <3/0/1:4=3> ");
    put_frame(&b, H2_SETTINGS, H2_FLAG_ACK, 0, "", 0);
    (void)feed();
    assert_int_equal(stream(3)->flow.left, sizeof(piece));
    close_session();
}

/* A body that is read gets more under way. */
static void test_windows_are_given_back(void **state)
{
    static const uint8_t piece[16384];

    (void)state;
    begin_session();
    (void)request(0, false);
    put_block(0, 1, OK);
    (void)feed();
    for (int i = 0; i < 200; i++) {
        put_frame(&b, H2_DATA, 0, 1, piece, sizeof(piece));
        (void)feed();
        assert_non_null(w.streams);
        assert_false(w.session.is_over);
    }
    assert_in_range(stream(1)->flow.window, 1 << 19, 1 << 20);
    assert_int_equal(w.session.flow.window, 1 << 20);
    close_session();
}

/* ---- how many ---- */

/* RFC 9113 section 5.1.2 */
static void test_so_many_streams(void **state)
{
    (void)state;
    open_quietly();
    assert_int_equal(h2_session_room(&w.session), 100); /* before settings */
    for (int i = 0; i < 100; i++)
        assert_int_not_equal(open_stream(0, false), 0);
    assert_int_equal(open_stream(0, false), 0);
    put_setting(H2_SETTINGS_MAX_CONCURRENT_STREAMS, 3); /* lower than what is open */
    (void)feed();
    assert_int_equal(h2_session_room(&w.session), 0);
    for (uint32_t id = 1; id < 2 * 97; id += 2)
        put_block(H2_FLAG_END_STREAM, id, OK);
    (void)feed();
    assert_int_equal(h2_session_room(&w.session), 0);
    put_block(H2_FLAG_END_STREAM, 2 * 97 + 1, OK);
    (void)feed();
    assert_int_equal(h2_session_room(&w.session), 1);
    put_setting(H2_SETTINGS_MAX_CONCURRENT_STREAMS, 150);
    (void)feed();
    assert_int_equal(h2_session_room(&w.session), 148);
    put_setting(H2_SETTINGS_MAX_CONCURRENT_STREAMS, 1000); /* ours is the smaller one */
    (void)feed();
    assert_int_equal(h2_session_room(&w.session), 198);
    put_setting(H2_SETTINGS_MAX_CONCURRENT_STREAMS, 0);
    (void)feed();
    assert_int_equal(open_stream(0, false), 0);
    close_session();
}

/* RFC 9113 section 6.5.2: settings that name no bound have none, and later ones that do not name it change nothing. */
static void test_settings_without_a_bound(void **state)
{
    (void)state;
    open_quietly();
    put_frame(&b, H2_SETTINGS, 0, 0, "", 0);
    (void)feed();
    assert_int_equal(h2_session_room(&w.session), 200);
    put_setting(H2_SETTINGS_MAX_CONCURRENT_STREAMS, 7);
    put_frame(&b, H2_SETTINGS, 0, 0, "", 0);
    (void)feed();
    assert_int_equal(h2_session_room(&w.session), 7);
    close_session();
}

/* RFC 9113 section 5.1.1 */
static void test_numbers_are_used_up(void **state)
{
    (void)state;
    begin_session();
    w.session.newest = INT32_MAX - 4;
    assert_int_equal(h2_session_room(&w.session), 2);
    assert_int_equal(open_stream(0, false), INT32_MAX - 2);
    assert_int_equal(open_stream(0, false), INT32_MAX);
    assert_int_equal(h2_session_room(&w.session), 0);
    assert_int_equal(open_stream(0, false), 0);
    close_session();
}

/* ---- ends ---- */

static void put_goaway(uint32_t last, enum h2_error error)
{
    uint8_t payload[8 + 3] = "........why";

    (void)h2_put_number(h2_put_number(payload, last), error);
    put_frame(&b, H2_GOAWAY, 0, 0, payload, sizeof(payload));
}

/* RFC 9113 section 6.8 */
static void test_goaway_closes_what_was_not_seen(void **state)
{
    (void)state;
    begin_session();
    for (int i = 0; i < 4; i++)
        (void)request(0, false);
    put_goaway(INT32_MAX, H2_E_NO_ERROR);
    assert_string_equal(feed(), "");
    assert_true(w.session.is_leaving);
    assert_int_equal(h2_session_room(&w.session), 0);
    assert_int_equal(open_stream(0, false), 0);
    put_goaway(5, H2_E_NO_ERROR);
    assert_string_equal(feed(), "over 7 7; ");
    put_goaway(3, H2_E_NO_ERROR); /* lower */
    assert_string_equal(feed(), "over 5 7; ");
    put_goaway(7, H2_E_NO_ERROR); /* never higher */
    put_block(H2_FLAG_END_STREAM, 1, OK);
    assert_string_equal(feed(), "head 1 200 whole; over 1 0; ");
    put_number(H2_WINDOW_UPDATE, 7, 1);
    put_block(H2_FLAG_END_STREAM, 3, OK);
    assert_string_equal(feed(), "head 3 200 whole; over 3 0; ");
    assert_false(w.session.is_over);
    put_block(H2_FLAG_END_STREAM, 5, OK); /* it said that it had not seen it */
    assert_string_equal(feed(), "<7/0/0:8=0,5> ");
    close_session();
}

/* RFC 9113 section 6.8: the last stream is the server's, and it begins none. */
static void test_a_client_leaves(void **state)
{
    (void)state;
    begin_session();
    (void)request(0, false);
    h2_session_refuse(&w.session);
    assert_string_equal(feed(), "<7/0/0:8=0,0> ");
    assert_int_equal(h2_session_room(&w.session), 0);
    put_block(H2_FLAG_END_STREAM, 1, OK);
    assert_string_equal(feed(), "head 1 200 whole; over 1 0; ");
    put_frame(&b, H2_DATA, 0, 3, "a", 1); /* never begun */
    assert_string_equal(feed(), "<7/0/0:8=0,1> ");
    close_session();
}

/* ---- what a server must not do ---- */

enum { SENDS = 1, SENT, BODY, INTERIM, EARLY, WHOLE, RESET };

/* After a stream 1 that is so, a frame comes. */
static const struct {
    const char *sentence;
    int before;
    unsigned type, flags;
    uint32_t id;
    const char *payload;
    size_t len;
    const char *seen;
} rows[] = {
    {"HEADERS of an idle stream: 5.1", SENT, H2_HEADERS, 5, 3, "\210", 1, "<7/0/0:8=0,1> "},
    {"HEADERS of an even one: 5.1.1", SENT, H2_HEADERS, 5, 2, "\210", 1, "<7/0/0:8=0,1> "},
    {"DATA of an idle one: 5.1", SENT, H2_DATA, 0, 3, "a", 1, "<7/0/0:8=0,1> "},
    {"DATA of an even one: 5.1", SENT, H2_DATA, 0, 2, "a", 1, "<7/0/0:8=0,1> "},
    {"RST_STREAM of an idle one: 6.4", SENT, H2_RST_STREAM, 0, 3, "\0\0\0\1", 4, "<7/0/0:8=0,1> "},
    {"WINDOW_UPDATE of an idle one: 5.1", SENT, H2_WINDOW_UPDATE, 0, 3, "\0\0\0\1", 4,
     "<7/0/0:8=0,1> "},
    {"PUSH_PROMISE: 6.5.2", SENT, H2_PUSH_PROMISE, 4, 1, "\0\0\0\2", 4, "<7/0/0:8=0,1> "},
    {"ENABLE_PUSH of a server: 6.5.2", SENT, H2_SETTINGS, 0, 0, "\0\2\0\0\0\1", 6,
     "<7/0/0:8=0,1> "},
    {"ENABLE_PUSH of 0: 6.5.2", SENT, H2_SETTINGS, 0, 0, "\0\2\0\0\0\0", 6, "<4/1/0:0> "},
    {"MAX_FRAME_SIZE that is too small: 6.5.2", SENT, H2_SETTINGS, 0, 0, "\0\5\0\0\77\377", 6,
     "<7/0/0:8=0,1> "},
    {"a window that is too large, by settings: 6.9.2", SENT, H2_SETTINGS, 0, 0, "\0\4\200\0\0\0", 6,
     "<7/0/0:8=0,3> "},
    {"PRIORITY_UPDATE of a server: RFC 9218, 7.1", SENT, H2_PRIORITY_UPDATE, 0, 0, "\0\0\0\1u=1", 7,
     "<7/0/0:8=0,1> "},
    {"PRIORITY: 5.3.2", SENT, H2_PRIORITY, 0, 1, "\0\0\0\3\1", 5, ""},
    {"PING: 6.7", SENT, H2_PING, 0, 0, "12345678", 8, "<6/1/0:8> "},
    {"a type that nobody knows: 5.5", SENT, 0xbe, 0xff, 77, "abc", 3, ""},
    {"DATA before the head: 8.1", SENT, H2_DATA, 0, 1, "a", 1, "over 1 1; <3/0/1:4=1> "},
    {"an end before the head: 8.1", SENT, H2_DATA, 1, 1, "", 0, "over 1 1; <3/0/1:4=1> "},
    {"DATA after an interim head: 8.1", INTERIM, H2_DATA, 1, 1, "a", 1, "over 1 1; <3/0/1:4=1> "},
    {"an interim head with the end: 8.1", SENT, H2_HEADERS, 5, 1, "\10\003100", 5,
     "over 1 1; <3/0/1:4=1> "},
    {"101: 8.6", SENT, H2_HEADERS, 4, 1, "\10\003101", 5, "over 1 1; <3/0/1:4=1> "},
    {"a head without :status: 8.3.2", SENT, H2_HEADERS, 4, 1, "", 0, "over 1 1; <3/0/1:4=1> "},
    {"one after an interim one: 8.3.2", INTERIM, H2_HEADERS, 4, 1, "", 0, "over 1 1; <3/0/1:4=1> "},
    {":method in a response: 8.3", SENT, H2_HEADERS, 5, 1, "\210\202", 2, "over 1 1; <3/0/1:4=1> "},
    {"a second final head: 8.1", BODY, H2_HEADERS, 4, 1, "\210", 1, "over 1 1; <3/0/1:4=1> "},
    {"a second final head with the end: 8.1", BODY, H2_HEADERS, 5, 1, "\210", 1,
     "over 1 1; <3/0/1:4=1> "},
    {"a head that is cut: 4.3", SENT, H2_HEADERS, 5, 1, "\0\5x", 3, "<7/0/0:8=0,9> "},
    {"an index of nothing: 4.3", SENT, H2_HEADERS, 5, 1, "\377", 1, "<7/0/0:8=0,9> "},
    {"DATA after its end: 5.1", EARLY, H2_DATA, 0, 1, "a", 1, "over 1 5; <3/0/1:4=5> "},
    {"HEADERS after its end: 5.1", EARLY, H2_HEADERS, 5, 1, "", 0, "over 1 5; <3/0/1:4=5> "},
    {"WINDOW_UPDATE after its end: 5.1", EARLY, H2_WINDOW_UPDATE, 0, 1, "\0\0\0\1", 4, ""},
    {"DATA of one that is whole: 5.1", WHOLE, H2_DATA, 0, 1, "a", 1, "<7/0/0:8=0,5> "},
    {"HEADERS of one that is whole: 5.1", WHOLE, H2_HEADERS, 5, 1, "", 0, "<7/0/0:8=0,5> "},
    {"RST_STREAM of one that is whole: 5.1", WHOLE, H2_RST_STREAM, 0, 1, "\0\0\0\0", 4, ""},
    {"WINDOW_UPDATE of one that is whole: 5.1", WHOLE, H2_WINDOW_UPDATE, 0, 1, "\0\0\0\1", 4, ""},
    {"HEADERS of one that we reset: 5.1", RESET, H2_HEADERS, 5, 1, "\210", 1, ""},
    {"DATA of one that we reset: 5.1", RESET, H2_DATA, 0, 1, "a", 1, ""},
    {"a window that opens by nothing: 6.9", SENDS, H2_WINDOW_UPDATE, 0, 1, "\0\0\0\0", 4,
     "over 1 1; <3/0/1:4=1> "},
    {"a window that is too large: 6.9.1", SENDS, H2_WINDOW_UPDATE, 0, 1, "\177\377\377\377", 4,
     "over 1 3; <3/0/1:4=3> "},
    {"so of the connection: 6.9.1", SENDS, H2_WINDOW_UPDATE, 0, 0, "\177\377\377\377", 4,
     "<7/0/0:8=0,3> "},
};

static void bring(int before)
{
    begin_session();
    if (before == SENDS || before == EARLY)
        request_slowly();
    else
        (void)request(0, false);
    if (before == INTERIM)
        put_block(0, 1, ":status=100\n");
    else if (before == BODY)
        put_block(0, 1, OK);
    else if (before == EARLY || before == WHOLE)
        put_block(H2_FLAG_END_STREAM, 1, OK);
    else if (before == RESET)
        h2_stream_reset(stream(1), H2_E_CANCEL);
    (void)feed();
}

static void test_frames_in_each_state(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bring(rows[i].before);
        put_frame(&b, rows[i].type, rows[i].flags, rows[i].id, rows[i].payload, rows[i].len);
        expect(rows[i].sentence, feed(), rows[i].seen);
        close_session();
    }
}

/* ---- floods ---- */

/* RFC 9113 section 10.5 */
static void test_floods_end_it(void **state)
{
    static const struct {
        unsigned type, flags;
        uint32_t id;
        const char *payload;
        size_t len;
    } floods[] = {{H2_PING, 0, 0, "12345678", 8},           {H2_SETTINGS, 0, 0, "", 0},
                  {H2_WINDOW_UPDATE, 0, 0, "\0\0\0\1", 4},  {H2_DATA, 0, 1, "", 0},
                  {H2_PRIORITY, 0, 1, "\0\0\0\3\1", 5},     {0xbe, 0, 0, "", 0},
                  {H2_GOAWAY, 0, 0, "\0\0\0\5\0\0\0\0", 8}, {H2_RST_STREAM, 0, 3, "\0\0\0\1", 4},
                  {H2_HEADERS, 4, 5, "\10\003103", 5}};

    (void)state;
    for (size_t i = 0; i < sizeof(floods) / sizeof(floods[0]); i++) {
        int n = 0;

        begin_session();
        for (int k = 0; k < 3; k++)
            (void)request(0, false);
        put_block(0, 1, OK);
        (void)feed();
        for (; n < 5000 && !w.session.is_over; n++) {
            put_frame(&b, floods[i].type, floods[i].flags, floods[i].id, floods[i].payload,
                      floods[i].len);
            (void)feed();
        }
        assert_in_range(n, 100, 4500);
        assert_true(w.session.is_flooded);
        assert_non_null(strstr(w.record, "<7/0/0:8=0,11>"));
        close_session();
    }
}

/* Once, whichever side gets it. */
static void test_goaway_costs_its_price(void **state)
{
    int32_t left;

    (void)state;
    begin_session();
    left = w.session.credit.left;
    put_frame(&b, H2_GOAWAY, 0, 0, "\177\377\377\377\0\0\0\0", 8);
    (void)feed();
    assert_int_equal(w.session.credit.left, left - 4);
    close_session();
}

/* Servers of gRPC answer each small message by PING and by both windows: that is no flood, however fast they go. */
static void test_many_small_calls_are_no_flood(void **state)
{
    (void)state;
    begin_session();
    for (uint32_t id = 1; id < 2 * 5000; id += 2) {
        (void)request(5, false);
        put_frame(&b, H2_PING, 0, 0, "12345678", 8);
        put_number(H2_WINDOW_UPDATE, 0, 5);
        put_number(H2_WINDOW_UPDATE, id, 5);
        put_block(0, id, OK);
        put_frame(&b, H2_DATA, 0, id, "hello", 5);
        put_block(H2_FLAG_END_STREAM, id, "grpc-status=0\n");
        (void)feed();
        assert_false(w.session.is_over);
        assert_null(w.streams);
    }
    close_session();
}

static void test_what_is_sent_earns(void **state)
{
    (void)state;
    begin_session();
    w.session.credit.left = 0;
    (void)request(2 * H2_FRAME_MAX, false);
    assert_int_equal(w.session.credit.left,
                     2 * (H2_CREDIT_A_SENT + H2_FRAME_MAX / H2_CREDIT_BYTES));
    close_session();
}

/* ---- memory ---- */

/* A request, and a response that comes: all that leaves is late. */
static void exchange(void)
{
    open_with(NULL);
    if (!w.session.is_lost && open_stream(3, true) > 0) {
        put_frame(&b, H2_SETTINGS, 0, 0, "", 0);
        /* an indexed literal, in two frames: a table and a part have memory */
        put_frame(&b, H2_HEADERS, 0, 1, "\210\100\1x", 4);
        put_frame(&b, H2_CONTINUATION, H2_FLAG_END_HEADERS, 1, "\1y", 2);
        put_frame(&b, H2_DATA, H2_FLAG_END_STREAM, 1, "abc", 3);
        h2_session_receive(&w.session, b.p, b.len);
    }
}

/* Each allocation fails once: the session says that it cannot go on, or the response is whole; nothing leaks. */
static void test_allocations_fail(void **state)
{
    unsigned n = 0;
    bool has_failed = true;

    (void)state;
    while (has_failed) {
        struct h2_session *s = &w.session;

        fails_in = ++n;
        exchange();
        has_failed = fails_in == 0;
        fails_in = 0;
        s->out = &w.out;
        assert_true(s->is_lost || s->is_over || strstr(w.record, "data 1 3; end 1; "));
        close_session();
    }
    assert_in_range(n, 3, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_preface_and_settings_leave_first),
        cmocka_unit_test(test_a_server_begins_with_settings),
        cmocka_unit_test(test_a_request_and_its_response),
        cmocka_unit_test(test_trailers_both_ways),
        cmocka_unit_test(test_interim_heads),
        cmocka_unit_test(test_an_early_response),
        cmocka_unit_test(test_a_reset_stream_is_over),
        cmocka_unit_test(test_an_owner_takes_no_head),
        cmocka_unit_test(test_a_response_has_no_priority_here),
        cmocka_unit_test(test_a_server_offers_tunnels),
        cmocka_unit_test(test_a_setting_of_tunnels_comes_late),
        cmocka_unit_test(test_heads_that_open_tunnels),
        cmocka_unit_test(test_bodies_have_their_length),
        cmocka_unit_test(test_bodies_wait_for_windows),
        cmocka_unit_test(test_bodies_leave_in_turns),
        cmocka_unit_test(test_a_server_sends_no_more_than_windows),
        cmocka_unit_test(test_a_small_window_holds_at_once),
        cmocka_unit_test(test_windows_are_given_back),
        cmocka_unit_test(test_so_many_streams),
        cmocka_unit_test(test_settings_without_a_bound),
        cmocka_unit_test(test_numbers_are_used_up),
        cmocka_unit_test(test_goaway_closes_what_was_not_seen),
        cmocka_unit_test(test_a_client_leaves),
        cmocka_unit_test(test_frames_in_each_state),
        cmocka_unit_test(test_floods_end_it),
        cmocka_unit_test(test_goaway_costs_its_price),
        cmocka_unit_test(test_many_small_calls_are_no_flood),
        cmocka_unit_test(test_what_is_sent_earns),
        cmocka_unit_test(test_allocations_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
