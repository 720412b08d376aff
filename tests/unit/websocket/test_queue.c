/* SPDX-License-Identifier: Apache-2.0 */
#include "scene.h"

static ssize_t say(struct scene *s, const char *text)
{
    return mk_ws_send(&s->ws, MK_WS_TEXT, mk_str_from(text));
}

static void test_sends_at_once_without_a_queue(void **state)
{
    struct scene s;

    (void)state;
    scene_open(&s);
    s.credit = SCENE_ROOM;
    assert_int_equal(say(&s, "one"), 0);
    SCENE_EXPECT(&s, "\x81\3one");
    assert_null(s.ws.queue);
    scene_close(&s);
}

/* Wherever the peer stops taking, it gets each byte once and in order. */
static void test_keeps_order_at_each_split(void **state)
{
    (void)state;
    for (size_t split = 0; split <= 10; split++) {
        struct scene s;

        scene_open(&s);
        s.credit = split;
        (void)say(&s, "one");
        assert_int_equal(say(&s, "two"), 10 - (ssize_t)split);
        scene_take(&s, SCENE_ROOM);
        SCENE_EXPECT(&s, "\x81\3one\x81\3two");
        assert_null(s.ws.queue);
        assert_int_equal(s.ws.is_drained, split < 10);
        scene_close(&s);
    }
}

/* What a group sends is shared by its receivers, and is counted for none. */
static void test_what_waits_for_one_receiver_is_reported(void **state)
{
    struct ws_frame *shared = ws_frame_new(WS_TEXT, MK_STR("for all"));
    struct scene s;

    (void)state;
    scene_open(&s);
    (void)say(&s, "one");
    assert_int_equal(s.held, 5);
    assert_true(ws_queue_send(&s.ws, shared) > 0);
    ws_frame_put(shared);
    assert_int_equal(s.held, 5);
    (void)say(&s, "three");
    assert_int_equal(s.held, 12);
    scene_take(&s, 5);
    ws_book(&s.ws);
    assert_int_equal(s.held, 7);
    ws_queue_clear(&s.ws);
    assert_int_equal(s.held, 0);
    scene_close(&s);
}

/* RFC 6455 section 5.5: a pong may stand between messages, but not inside a frame. */
static void test_pong_overtakes_whole_messages_only(void **state)
{
    struct scene s;

    (void)state;
    scene_open(&s);
    s.credit = 2;
    (void)say(&s, "one");
    (void)say(&s, "two");
    assert_int_equal(ws_queue_control(&s.ws, WS_PONG, MK_STR("p")), 0);
    scene_take(&s, SCENE_ROOM);
    SCENE_EXPECT(&s, "\x81\3one\x8a\1p\x81\3two");
    scene_close(&s);
}

/* on_drain answers a send that said that bytes wait, and no ping or pong. */
static void test_control_frames_alone_drain_nothing(void **state)
{
    struct scene s;

    (void)state;
    scene_open(&s);
    s.credit = SCENE_ROOM;
    assert_int_equal(ws_queue_control(&s.ws, WS_PONG, MK_STR("p")), 0);
    assert_null(s.ws.queue);
    assert_false(s.ws.is_drained);
    s.credit = 1;
    assert_int_equal(ws_queue_control(&s.ws, WS_PING, MK_STR("p")), 0);
    scene_take(&s, SCENE_ROOM);
    assert_null(s.ws.queue);
    assert_false(s.ws.is_drained);
    scene_close(&s);
}

static void test_a_message_that_waits_again_is_not_drained(void **state)
{
    struct scene s;

    (void)state;
    scene_open(&s);
    (void)say(&s, "one");
    scene_take(&s, 5);
    assert_true(s.ws.is_drained);
    assert_int_equal(say(&s, "two"), 5);
    assert_false(s.ws.is_drained);
    assert_int_equal(ws_queue_control(&s.ws, WS_PONG, MK_STR("p")), 0);
    scene_take(&s, SCENE_ROOM);
    assert_true(s.ws.is_drained);
    scene_close(&s);
}

/* Section 5.5.3: pings of a peer that reads nothing take the memory of one pong. */
static void test_last_pong_replaces_earlier_ones(void **state)
{
    struct scene s;

    (void)state;
    scene_open(&s);
    for (unsigned i = 0; i < 1000; i++)
        assert_int_equal(ws_queue_control(&s.ws, WS_PONG, MK_STR("a")), 0);
    assert_int_equal(ws_queue_control(&s.ws, WS_PONG, MK_STR("z")), 0);
    scene_take(&s, SCENE_ROOM);
    SCENE_EXPECT(&s, "\x8a\1z");
    scene_close(&s);
}

/* One that is larger than the queue has only itself to wait for; the next one waits behind it, or does not. */
static void test_sends_a_large_message_alone(void **state)
{
    (void)state;
    for (unsigned policy = MK_WS_CLOSE; policy <= MK_WS_DROP_OLD; policy++) {
        struct scene s;

        scene_open(&s);
        s.spec.max_queue = 4;
        s.spec.policy = (enum mk_ws_policy)policy;
        s.credit = 1;
        assert_int_equal(say(&s, "a message of many bytes"), 24);
        assert_int_equal(s.ws.state, WS_OPEN);
        assert_int_equal(say(&s, "x"), MK_E_BUSY);
        scene_take(&s, SCENE_ROOM);
        assert_memory_equal(s.sent, "\x81\27a message of many bytes", 25);
        if (policy != MK_WS_CLOSE)
            assert_int_equal(say(&s, "a message of many bytes"), 0);
        scene_close(&s);
    }
}

/* A ping or pong that waits is no reader's fault. */
static void test_sends_a_large_message_behind_a_pong(void **state)
{
    struct scene s;

    (void)state;
    scene_open(&s);
    s.spec.max_queue = 4;
    assert_int_equal(ws_queue_control(&s.ws, WS_PONG, MK_STR("p")), 0);
    assert_int_equal(say(&s, "a message of many bytes"), 28);
    scene_take(&s, SCENE_ROOM);
    SCENE_EXPECT(&s, "\x8a\1p\x81\27a message of many bytes");
    scene_close(&s);
}

static void test_drops_the_newest(void **state)
{
    struct scene s;

    (void)state;
    scene_open(&s);
    s.spec.max_queue = 10;
    s.spec.policy = MK_WS_DROP_NEW;
    assert_int_equal(say(&s, "one"), 5);
    assert_int_equal(say(&s, "two"), 10);
    assert_int_equal(say(&s, "six"), MK_E_BUSY);
    scene_take(&s, SCENE_ROOM);
    SCENE_EXPECT(&s, "\x81\3one\x81\3two");
    scene_close(&s);
}

/* A message of which a byte was sent is sent whole. */
static void test_drops_the_oldest_that_is_whole(void **state)
{
    struct scene s;

    (void)state;
    scene_open(&s);
    s.spec.max_queue = 10;
    s.spec.policy = MK_WS_DROP_OLD;
    s.credit = 1;
    assert_int_equal(say(&s, "one"), 4);
    assert_int_equal(say(&s, "two"), 9);
    assert_int_equal(say(&s, "six"), 9);
    scene_take(&s, SCENE_ROOM);
    SCENE_EXPECT(&s, "\x81\3one\x81\3six");
    scene_close(&s);
}

static void test_closes_a_slow_reader(void **state)
{
    struct scene s;

    (void)state;
    scene_open(&s);
    s.spec.max_queue = 10;
    s.spec.policy = MK_WS_CLOSE;
    s.credit = 1;
    (void)say(&s, "one");
    (void)say(&s, "two");
    assert_int_equal(say(&s, "six"), MK_E_BUSY);
    assert_int_equal(say(&s, "end"), MK_E_PEER);
    assert_int_equal(s.ws.code, MK_WS_TRY_LATER);
    scene_take(&s, SCENE_ROOM);
    SCENE_EXPECT(&s, "\x81\3one\x88\x18\x03\xf5the reader is too slow");
    scene_close(&s);
}

/* The memory of a reader that takes nothing stays bounded, whatever is sent. */
static void test_waiting_bytes_stay_bounded(void **state)
{
    (void)state;
    for (unsigned policy = MK_WS_CLOSE; policy <= MK_WS_DROP_OLD; policy++) {
        struct scene s;

        scene_open(&s);
        s.spec.max_queue = 64;
        s.spec.policy = (enum mk_ws_policy)policy;
        for (unsigned i = 0; i < 1000; i++)
            assert_true(say(&s, "a message") <= 64);
        scene_take(&s, SCENE_ROOM);
        assert_true(s.nsent > 0 && s.nsent <= 64);
        scene_close(&s);
    }
}

/* What holds a message that waits takes memory too, also that of an empty one. */
static void test_waiting_messages_stay_bounded(void **state)
{
    enum { MOST = 640 / 32 + 16 };

    (void)state;
    for (unsigned policy = MK_WS_CLOSE; policy <= MK_WS_DROP_OLD; policy++) {
        struct scene s;

        scene_open(&s);
        s.spec.max_queue = 640;
        s.spec.policy = (enum mk_ws_policy)policy;
        for (unsigned i = 0; i < MOST; i++)
            assert_int_equal(say(&s, ""), 2 * (i + 1));
        assert_int_equal(say(&s, "x") < 0, policy != MK_WS_DROP_OLD);
        scene_take(&s, SCENE_ROOM);
        if (policy == MK_WS_DROP_NEW)
            assert_int_equal(s.nsent, 2 * MOST);
        else if (policy == MK_WS_DROP_OLD)
            assert_int_equal(s.nsent, 2 * MOST + 1);
        else
            assert_int_equal(s.ws.code, MK_WS_TRY_LATER);
        scene_close(&s);
    }
}

static void test_failed_write_ends_the_connection(void **state)
{
    struct scene s;

    (void)state;
    scene_open(&s);
    s.is_broken = true;
    assert_int_equal(say(&s, "one"), MK_E_PEER);
    assert_int_equal(s.ws.state, WS_OVER);
    assert_int_equal(s.ws.code, MK_WS_ABNORMAL);
    assert_true(s.is_asked);
    scene_close(&s);
}

static void a_ping_goes_before_what_waits(void **state)
{
    struct scene s;
    char payload[126] = {0};

    (void)state;
    scene_open(&s);
    assert_int_equal(mk_ws_ping(&s.ws, (struct mk_str){payload, sizeof(payload)}), MK_E_LIMIT);
    assert_true(mk_ws_send(&s.ws, MK_WS_TEXT, MK_STR("waits")) > 0);
    assert_int_equal(mk_ws_ping(&s.ws, MK_STR("beat")), 0);
    scene_take(&s, 100);
    SCENE_EXPECT(&s, "\x89\x04"
                     "beat\x81\x05waits");
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ping_goes_before_what_waits),
        cmocka_unit_test(test_sends_at_once_without_a_queue),
        cmocka_unit_test(test_keeps_order_at_each_split),
        cmocka_unit_test(test_what_waits_for_one_receiver_is_reported),
        cmocka_unit_test(test_pong_overtakes_whole_messages_only),
        cmocka_unit_test(test_control_frames_alone_drain_nothing),
        cmocka_unit_test(test_a_message_that_waits_again_is_not_drained),
        cmocka_unit_test(test_last_pong_replaces_earlier_ones),
        cmocka_unit_test(test_sends_a_large_message_alone),
        cmocka_unit_test(test_sends_a_large_message_behind_a_pong),
        cmocka_unit_test(test_drops_the_newest),
        cmocka_unit_test(test_drops_the_oldest_that_is_whole),
        cmocka_unit_test(test_closes_a_slow_reader),
        cmocka_unit_test(test_waiting_bytes_stay_bounded),
        cmocka_unit_test(test_waiting_messages_stay_bounded),
        cmocka_unit_test(test_failed_write_ends_the_connection),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
