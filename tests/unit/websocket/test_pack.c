/* SPDX-License-Identifier: Apache-2.0 */
#include "websocket/pack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Compressed messages, against the examples of RFC 7692 section 7.2.3 and against itself. */

enum { ROOM = 1 << 20 };

static const struct ws_deflate alone = {true, false, false, WS_WINDOW_OURS, WS_WINDOW_MAX},
                               kept = {true, true, true, WS_WINDOW_OURS, WS_WINDOW_OURS};
static char text[ROOM];
static unsigned seed;

static unsigned any(unsigned below)
{
    seed = seed * 1103515245U + 12345U;
    return (seed >> 16) % below;
}

/* Give a message in parts of so many bytes. @return the last result; what came out is in text */
static int unpack(struct ws_pack *p, struct mk_str message, size_t part, size_t *total)
{
    char bytes[WS_UNPACKED_ROOM];
    int got = MK_E_AGAIN;
    size_t len;

    *total = 0;
    do {
        struct mk_str input = {message.p, message.len < part ? message.len : part};
        const bool is_last = input.len == message.len;

        message = (struct mk_str){message.p + input.len, message.len - input.len};
        do {
            got = ws_unpack(p, &input, is_last, bytes, &len);
            assert_true(len <= sizeof(bytes) && *total + len <= ROOM);
            memcpy(text + *total, bytes, len);
            *total += len;
        } while (got == 1);
        assert_true(got != MK_E_AGAIN || !is_last);
    } while (got == MK_E_AGAIN);
    return got;
}

static void expect(struct ws_pack *p, struct mk_str message, const char *wanted, size_t wanted_len)
{
    size_t len;

    assert_int_equal(unpack(p, message, message.len ? message.len : 1, &len), 0);
    assert_int_equal(len, wanted_len);
    assert_memory_equal(text, wanted, wanted_len);
}

#define EXPECT(p, message, wanted) expect(p, MK_STR(message), wanted, sizeof(wanted) - 1)

static void examples_of_the_rfc(void **state)
{
    struct ws_pack *p = ws_pack_new(&kept);

    (void)state;
    /* 7.2.3.1 and 7.2.3.2: a block, and one that refers to the message before it */
    EXPECT(p, "\xf2\x48\xcd\xc9\xc9\x07\x00", "Hello");
    EXPECT(p, "\xf2\x00\x11\x00\x00", "Hello");
    /* 7.2.3.3: without compression */
    EXPECT(p, "\x00\x05\x00\xfa\xff\x48\x65\x6c\x6c\x6f\x00", "Hello");
    /* 7.2.3.4: a last block, and behind it one that refers to it */
    EXPECT(p, "\xf3\x48\xcd\xc9\xc9\x07\x00\x00", "Hello");
    EXPECT(p, "\xf2\x00\x11\x00\x00", "Hello");
    /* 7.2.3.5: two blocks */
    EXPECT(p, "\xf2\x48\x05\x00\x00\x00\xff\xff\xca\xc9\xc9\x07\x00", "Hello");
    /* 7.2.3.6: nothing */
    EXPECT(p, "\x00", "");
    ws_pack_free(p);
}

/* The linker's names. NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
static unsigned nmallocs;
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

void *__wrap_malloc(size_t size)
{
    nmallocs++;
    return __real_malloc(size);
}
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */

/* Each of two bytes, and the window is in use; none of them takes memory, and a turn counts them. */
static void many_last_blocks(void **state)
{
    enum { BLOCKS = 10000 };
    static char message[2 * BLOCKS + 1];
    struct ws_pack *p = ws_pack_new(&kept);

    (void)state;
    EXPECT(p, "\xf2\x48\xcd\xc9\xc9\x07\x00", "Hello");
    assert_int_equal(ws_pack_spent(p), 5);
    assert_int_equal(ws_pack_spent(p), 0);
    for (size_t i = 0; i < BLOCKS; i++)
        memcpy(message + 2 * i, "\x03", 2);
    nmallocs = 0;
    expect(p, (struct mk_str){message, sizeof(message)}, "", 0);
    assert_true(nmallocs < 10);
    assert_true(ws_pack_spent(p) >= BLOCKS * (size_t)10);
    EXPECT(p, "\xf2\x00\x11\x00\x00", "Hello"); /* the window is as it was */
    ws_pack_free(p);
}

static void without_takeover_nothing_is_remembered(void **state)
{
    struct ws_pack *p = ws_pack_new(&alone);
    size_t len;

    (void)state;
    EXPECT(p, "\xf2\x48\xcd\xc9\xc9\x07\x00", "Hello");
    assert_int_equal(unpack(p, MK_STR("\xf2\x00\x11\x00\x00"), 100, &len), MK_E_BAD);
    ws_pack_free(p);
}

static void invalid_messages(void **state)
{
    static const struct mk_str rows[] = {
        MK_STR_INIT("\xff"),                     /* no such block */
        MK_STR_INIT("\x00\x05\x00\xfa\xfe"),     /* a length that does not match */
        MK_STR_INIT("\x00\x05\x00\xfa\xff\x48"), /* cut: the tail would be data */
        MK_STR_INIT("\xf2\x48\xcd"),             /* cut within a code */
        MK_STR_INIT("\xf2\x00\xff\x00\x00"),     /* before the first byte */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (size_t part = 1; part <= rows[i].len; part++) {
            struct ws_pack *p = ws_pack_new(&kept);
            size_t len;

            if (unpack(p, rows[i], part, &len) != MK_E_BAD)
                fail_msg("row %zu in parts of %zu", i, part);
            ws_pack_free(p);
        }
    }
}

static struct mk_str random_message(char *room)
{
    const size_t len = any(4) ? any(300) : any(60000);
    const unsigned letters = 1 + any(20);

    for (size_t i = 0; i < len; i++)
        room[i] = (char)('a' + any(letters));
    return (struct mk_str){room, len};
}

/* Each end with what it agreed on: what one compresses the other reads, in whatever parts. */
static void round_trips(const struct ws_deflate *agreed)
{
    struct ws_pack *from = ws_pack_new(agreed), *to = ws_pack_new(agreed);
    static char room[ROOM];
    unsigned npacked = 0;

    for (unsigned i = 0; i < 300; i++) {
        struct mk_str message = random_message(room), packed;
        size_t len;

        if (!ws_pack_message(from, message, &packed))
            continue; /* sent as it is */
        npacked++;
        assert_true(packed.len < message.len);
        assert_int_equal(unpack(to, packed, 1 + any(4000), &len), 0);
        assert_int_equal(len, message.len);
        assert_memory_equal(text, message.p, len);
        ws_pack_drop(packed);
        if (any(20) == 0)
            ws_pack_forget(from);
    }
    assert_true(npacked > 100);
    ws_pack_free(from);
    ws_pack_free(to);
}

static void all_windows(void **state)
{
    (void)state;
    for (seed = 1; seed < 20; seed++) {
        const uint8_t bits = (uint8_t)(WS_WINDOW_MIN + any(WS_WINDOW_OURS - WS_WINDOW_MIN + 1));
        const struct ws_deflate agreed = {true, any(2), any(2), bits, WS_WINDOW_MAX};
        struct ws_deflate same = agreed;

        same.keeps_received = agreed.keeps_sent;
        round_trips(&same);
    }
}

static size_t packed_size(struct ws_pack *p, struct mk_str message)
{
    struct mk_str packed;

    assert_int_equal(ws_pack_message(p, message, &packed), 1);
    ws_pack_drop(packed);
    return packed.len;
}

static void a_kept_window_makes_the_second_message_small(void **state)
{
    static const struct mk_str message =
        MK_STR_INIT("{\"sensor\": \"outside\", \"celsius\": 17.25, \"humidity\": 61, \"wind\": "
                    "\"south-west\"}");
    struct ws_pack *p = ws_pack_new(&kept), *q = ws_pack_new(&alone);

    (void)state;
    assert_true(packed_size(p, message) > 50);
    assert_true(packed_size(p, message) < 10);
    assert_int_equal(packed_size(q, message), packed_size(q, message));
    assert_true(ws_pack_is_shareable(q) && !ws_pack_is_shareable(p));
    ws_pack_forget(p);
    assert_true(packed_size(p, message) > 50);
    ws_pack_free(p);
    ws_pack_free(q);
}

static void noise_is_sent_as_it_is(void **state)
{
    struct ws_pack *p = ws_pack_new(&alone);
    struct mk_str packed;
    char noise[200];

    (void)state;
    for (size_t i = 0; i < sizeof(noise); i++)
        noise[i] = (char)any(256);
    assert_int_equal(ws_pack_message(p, (struct mk_str){noise, sizeof(noise)}, &packed), 0);
    assert_int_equal(ws_pack_message(p, MK_STR(""), &packed), 0);
    ws_pack_free(p);
}

/* A message of 1 KB that would be 1 MB comes in parts, so the caller can stop. */
static void output_comes_in_parts(void **state)
{
    static char zeros[ROOM];
    struct ws_pack *p = ws_pack_new(&alone);
    struct mk_str packed, input;
    char bytes[WS_UNPACKED_ROOM];
    unsigned parts = 0;
    size_t len;

    (void)state;
    assert_int_equal(ws_pack_message(p, (struct mk_str){zeros, sizeof(zeros)}, &packed), 1);
    assert_true(packed.len < 8192);
    input = packed;
    while (ws_unpack(p, &input, true, bytes, &len) == 1)
        parts++;
    assert_true(parts >= ROOM / WS_UNPACKED_ROOM);
    ws_pack_drop(packed);
    ws_pack_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_of_the_rfc),
        cmocka_unit_test(many_last_blocks),
        cmocka_unit_test(without_takeover_nothing_is_remembered),
        cmocka_unit_test(invalid_messages),
        cmocka_unit_test(all_windows),
        cmocka_unit_test(a_kept_window_makes_the_second_message_small),
        cmocka_unit_test(noise_is_sent_as_it_is),
        cmocka_unit_test(output_comes_in_parts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
