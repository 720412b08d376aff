/* SPDX-License-Identifier: Apache-2.0 */
#include "scene.h"

/* The closing handshake: RFC 6455 sections 5.5.1 and 7. */

enum { CODES = 65536 };

static void open_scene(struct scene *s)
{
    scene_open(s);
    scene_take(s, SCENE_ROOM);
}

/* ---- section 7.4: codes ---- */

static const struct {
    unsigned from, to;
    bool may_be_sent;
} ranges[] = {
    {0, 999, false},                              /* 7.4.2: not used */
    {1000, 1003, true},                           /* 7.4.1 */
    {1004, 1006, false},                          /* reserved; 1005 and 1006 must not be sent */
    {1007, 1011, true},       {1012, 1014, true}, /* registered later (section 11.7) */
    {1015, 1015, false},                          /* must not be sent */
    {1016, 2999, false},                          /* reserved */
    {3000, 3999, true},                           /* registered by libraries */
    {4000, 4999, true},                           /* private */
    {5000, CODES - 1, false},
};

static bool may_be_sent(unsigned code)
{
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        if (code >= ranges[i].from && code <= ranges[i].to)
            return ranges[i].may_be_sent;
    }
    return false;
}

/* @return the code of the one Close that was sent, from its place; 0: it has none; -1: nothing was sent. */
static int code_sent(const struct scene *s)
{
    const uint8_t *frame = (const uint8_t *)s->sent;

    if (s->nsent == 0)
        return -1;
    assert_true(s->nsent >= 2);
    assert_int_equal(frame[0], 0x80 | WS_CLOSE);
    assert_int_equal(s->nsent, 2 + frame[1]); /* and nothing after it */
    return frame[1] >= 2 ? frame[2] << 8 | frame[3] : 0;
}

static void section_7_4_each_code_of_a_peer(void **state)
{
    (void)state;
    for (unsigned code = 0; code < CODES; code++) {
        const char payload[] = {(char)(code >> 8), (char)code};
        const unsigned answer = may_be_sent(code) ? code : MK_WS_PROTOCOL_ERROR;
        struct scene s;

        open_scene(&s);
        scene_feed(&s, 0x80 | WS_CLOSE, (struct mk_str){payload, sizeof(payload)});
        if (code_sent(&s) != (int)answer || s.ws.code != answer)
            fail_msg("code %u: answered with %d, reported %u", code, code_sent(&s), s.ws.code);
        assert_int_equal(s.ws.state, WS_LEAVING);
        assert_int_equal(s.ws.has_closed, may_be_sent(code));
        scene_close(&s);
    }
}

static void section_7_4_each_code_of_the_application(void **state)
{
    (void)state;
    for (unsigned code = 0; code < CODES; code++) {
        const unsigned sent = may_be_sent(code) ? code : MK_WS_INTERNAL;
        struct scene s;

        open_scene(&s);
        mk_ws_close(&s.ws, code, MK_STR(""));
        if (code_sent(&s) != (int)sent)
            fail_msg("code %u: sent %d", code, code_sent(&s));
        assert_int_equal(s.ws.state, WS_CLOSING);
        scene_close(&s);
    }
}

/* Section 7.1.5: without a code in the peer's Close it is 1005, which is reported only. */
static void section_7_1_5_a_close_without_a_code(void **state)
{
    struct scene s;

    (void)state;
    open_scene(&s);
    scene_feed(&s, 0x80 | WS_CLOSE, MK_STR(""));
    assert_int_equal(code_sent(&s), 0);
    assert_int_equal(s.ws.code, MK_WS_NO_CODE);
    scene_close(&s);
}

/* ---- sections 5.5.1 and 7.1.6: reasons ---- */

static void section_7_1_6_a_reason_of_the_peer_is_kept(void **state)
{
    char payload[WS_CONTROL_MAX] = {3, (char)0xe8};

    (void)state;
    memset(payload + 2, 'r', sizeof(payload) - 2);
    for (size_t len = 2; len <= sizeof(payload); len++) {
        struct scene s;

        open_scene(&s);
        scene_feed(&s, 0x80 | WS_CLOSE, (struct mk_str){payload, len});
        assert_int_equal(code_sent(&s), MK_WS_NORMAL);
        assert_non_null(s.ws.gathered);
        assert_int_equal(s.ws.gathered->ncontrol, len);
        assert_memory_equal(s.ws.gathered->control, payload, len);
        scene_close(&s);
    }
}

/* The longest one has 123 bytes, and ends between two characters. */
static void section_5_5_1_a_reason_of_the_application_is_cut(void **state)
{
    static const struct {
        const char *character;
        size_t each, sent;
    } rows[] = {{"a", 1, 123},
                {"\xc3\xa9", 2, 122},
                {"\xe2\x82\xac", 3, 123},
                {"\xf0\x9f\x90\x92", 4, 120}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char reason[200];
        struct scene s;
        size_t len = 0;

        for (; len + rows[i].each <= sizeof(reason); len += rows[i].each)
            memcpy(reason + len, rows[i].character, rows[i].each);
        open_scene(&s);
        mk_ws_close(&s.ws, MK_WS_NORMAL, (struct mk_str){reason, len});
        assert_int_equal(code_sent(&s), MK_WS_NORMAL);
        assert_int_equal(s.nsent, 2 + 2 + rows[i].sent);
        assert_memory_equal(s.sent + 4, reason, rows[i].sent);
        scene_close(&s);
    }
}

/* ---- states ---- */

/* X(NAME, what happens to a connection) */
#define STEPS(X)                                                                                   \
    X(CLOSE, mk_ws_close(ws, MK_WS_NORMAL, MK_STR("")))                                            \
    X(FAIL, ws_fail(ws, MK_WS_PROTOCOL_ERROR, "wrong"))                                            \
    X(PEER, scene_feed(s, 0x80 | WS_CLOSE, MK_STR("\x03\xe9")))                                    \
    X(BAD, scene_feed(s, 0x80 | WS_CLOSE, MK_STR("\x03")))                                         \
    X(BREAK, ws_break(ws, MK_WS_ABNORMAL))

enum step {
#define STEP(name, what) name,
    STEPS(STEP)
#undef STEP
        NSTEPS
};

#define STEP(name, what)                                                                           \
    static void do_##name(struct scene *s, struct mk_ws *ws)                                       \
    {                                                                                              \
        (void)s, (void)ws;                                                                         \
        what;                                                                                      \
    }
STEPS(STEP)
#undef STEP

static void (*const steps[])(struct scene *s, struct mk_ws *ws) = {
#define STEP(name, what) do_##name,
    STEPS(STEP)
#undef STEP
};

/* Where a step leads. A step that a state does not have is not taken; of a connection that opens nothing is read. */
static const struct {
    enum ws_state to[NSTEPS];
} model[] = {
    [WS_OPENING] = {{WS_CLOSING, WS_OPENING, WS_OPENING, WS_OPENING, WS_OVER}},
    [WS_OPEN] = {{WS_CLOSING, WS_LEAVING, WS_LEAVING, WS_LEAVING, WS_OVER}},
    [WS_CLOSING] = {{WS_CLOSING, WS_LEAVING, WS_LEAVING, WS_LEAVING, WS_OVER}},
    [WS_LEAVING] = {{WS_LEAVING, WS_LEAVING, WS_LEAVING, WS_LEAVING, WS_OVER}},
    [WS_OVER] = {{WS_OVER, WS_OVER, WS_OVER, WS_OVER, WS_OVER}},
};

/* @param walk  a number whose digits of base NSTEPS are the steps */
static void walk_from(enum ws_state first, unsigned walk, unsigned length)
{
    enum ws_state at = first;
    bool is_closed = false; /* by a Close of ours */
    struct scene s;

    open_scene(&s);
    s.ws.state = first & 7;
    for (unsigned i = 0; i < length; i++, walk /= NSTEPS) {
        const unsigned step = walk % NSTEPS;

        if (at == WS_OPENING && step == FAIL)
            continue; /* only input fails, and none is read */
        is_closed |= at <= WS_OPEN && model[at].to[step] != at && step != BREAK;
        at = model[at].to[step];
        steps[step](&s, &s.ws);
        assert_int_equal(s.ws.state, at);
        assert_int_equal(code_sent(&s) >= 0, is_closed);
        if (at > WS_OPEN)
            assert_int_equal(mk_ws_send(&s.ws, MK_WS_TEXT, MK_STR("late")), MK_E_PEER);
        if (at > WS_OPEN)
            assert_int_equal(mk_ws_ping(&s.ws, MK_STR("late")), MK_E_PEER);
    }
    scene_close(&s);
}

/* Section 5.5.1: at most one Close, and nothing after it, whatever follows. */
static void section_7_1_all_walks_of_four_steps(void **state)
{
    enum { LENGTH = 4, WALKS = NSTEPS * NSTEPS * NSTEPS * NSTEPS };

    (void)state;
    for (unsigned first = WS_OPENING; first <= WS_OVER; first++) {
        for (unsigned walk = 0; walk < WALKS; walk++)
            walk_from((enum ws_state)first, walk, LENGTH);
    }
}

/* Section 7.1.2: our Close waits behind what was sent before, and the peer's answer ends the connection. */
static void section_7_1_2_what_waits_is_sent_before_the_close(void **state)
{
    struct scene s;

    (void)state;
    scene_open(&s); /* the peer takes nothing */
    assert_true(mk_ws_send(&s.ws, MK_WS_TEXT, MK_STR("first")) > 0);
    mk_ws_close(&s.ws, MK_WS_NORMAL, MK_STR("x"));
    ws_leave(&s.ws);
    assert_false(s.is_shut);
    scene_take(&s, SCENE_ROOM);
    SCENE_EXPECT(&s, "\x81\x05"
                     "first\x88\x03\x03\xe8x");
    scene_feed(&s, 0x80 | WS_CLOSE, MK_STR("\x03\xe8"));
    assert_int_equal(s.ws.state, WS_LEAVING);
    assert_int_equal(s.nsent, 0); /* no second one */
    ws_leave(&s.ws);
    assert_int_equal(s.ws.state, WS_OVER);
    assert_int_equal(s.ws.code, MK_WS_NORMAL);
    scene_close(&s);
}

/* Section 7.1.1: after a broken rule our half is closed once, when all was sent, and the peer is heard until it ends. */
static void section_7_1_7_a_failed_connection_closes_its_half(void **state)
{
    struct scene s;

    (void)state;
    scene_open(&s);
    scene_feed(&s, 0x80, MK_STR("a continuation of nothing"));
    assert_int_equal(s.ws.state, WS_LEAVING);
    assert_true(s.is_asked);
    ws_leave(&s.ws);
    assert_false(s.is_shut); /* the Close waits */
    scene_take(&s, SCENE_ROOM);
    assert_int_equal(code_sent(&s), MK_WS_PROTOCOL_ERROR);
    ws_leave(&s.ws);
    assert_true(s.is_shut);
    s.is_shut = false;
    ws_leave(&s.ws);
    assert_false(s.is_shut);
    assert_int_equal(s.ws.state, WS_LEAVING);
    ws_break(&s.ws, MK_WS_ABNORMAL); /* the peer ended */
    assert_int_equal(s.ws.code, MK_WS_PROTOCOL_ERROR);
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(section_7_4_each_code_of_a_peer),
        cmocka_unit_test(section_7_4_each_code_of_the_application),
        cmocka_unit_test(section_7_1_5_a_close_without_a_code),
        cmocka_unit_test(section_7_1_6_a_reason_of_the_peer_is_kept),
        cmocka_unit_test(section_5_5_1_a_reason_of_the_application_is_cut),
        cmocka_unit_test(section_7_1_all_walks_of_four_steps),
        cmocka_unit_test(section_7_1_2_what_waits_is_sent_before_the_close),
        cmocka_unit_test(section_7_1_7_a_failed_connection_closes_its_half),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
