/* SPDX-License-Identifier: Apache-2.0 */
#include "websocket/frame.h"

#include "guard.h"

#include <stdlib.h>

enum { MAX = 70000 };

/* Rows of RFC 6455 section 5 and RFC 7692 section 6: input, and what is read from it: `O` opcode, `F` final, `P` packed, text. */
static const struct {
    const char *name;
    struct mk_str bytes;
    bool may_pack;
    int error;
    const char *read;
} rows[] = {
#define M "\x80"
#define KEY "\x01\x02\x03\x04"
    {"5.7: hello", MK_STR_INIT("\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"), false, 0,
     "1F:Hello;"},
    {"5.2: empty", MK_STR_INIT("\x81\x80" KEY), false, 0, "1F:;"},
    {"5.4: fragments", MK_STR_INIT("\x01\x81" KEY "`\x80\x81" KEY "`"), false, 0, "1:a;0F:a;"},
    {"5.4: a ping in between", MK_STR_INIT("\x02\x81" KEY "`\x89\x81" KEY "`\x80\x80" KEY), false,
     0, "2:a;9F:a;0F:;"},
    {"5.5.1: close", MK_STR_INIT("\x88\x80" KEY), false, 0, "8F:;"},
    {"5.5.3: pong", MK_STR_INIT("\x8a\x80" KEY), false, 0, "10F:;"},
    {"5.1: not masked", MK_STR_INIT("\x81\x01"), false, MK_E_BAD, ""},
    {"5.2: RSV2", MK_STR_INIT("\xa1\x80"), true, MK_E_BAD, ""},
    {"5.2: RSV3", MK_STR_INIT("\x91\x80"), true, MK_E_BAD, ""},
    {"5.2: RSV1 without an extension", MK_STR_INIT("\xc1\x80"), false, MK_E_BAD, ""},
    {"7692 6.1: RSV1 of a ping", MK_STR_INIT("\xc9\x80"), true, MK_E_BAD, ""},
    {"7692 6.1: RSV1 of a further fragment", MK_STR_INIT("\x01\x80" KEY "\xc0\x80"), true, MK_E_BAD,
     "1:;"},
    {"7692 6: RSV1", MK_STR_INIT("\xc1\x81" KEY "`"), true, 0, "1FP:a;"},
    {"5.2: opcode 3", MK_STR_INIT("\x83\x80"), false, MK_E_BAD, ""},
    {"5.2: opcode 11", MK_STR_INIT("\x8b\x80"), false, MK_E_BAD, ""},
    {"5.5: a fragmented ping", MK_STR_INIT("\x09\x80"), false, MK_E_BAD, ""},
    {"5.5: a long ping", MK_STR_INIT("\x89\xfe"), false, MK_E_BAD, ""},
    {"5.4: no beginning", MK_STR_INIT("\x80\x80"), false, MK_E_BAD, ""},
    {"5.4: two beginnings", MK_STR_INIT("\x01\x80" KEY "\x81\x80"), false, MK_E_BAD, "1:;"},
    {"5.2: not the shortest of two", MK_STR_INIT("\x82\xfe\0\x7d" KEY), false, MK_E_BAD, ""},
    {"5.2: not the shortest of eight", MK_STR_INIT("\x82\xff\0\0\0\0\0\0\xff\xff" KEY), false,
     MK_E_BAD, ""},
    {"5.2: negative", MK_STR_INIT("\x82\xff\x80\0\0\0\0\0\0\0" KEY), false, MK_E_BAD, ""},
    {"10.4: too large", MK_STR_INIT("\x82\xff\0\0\0\0\0\1\x11\x71" KEY), false, MK_E_LIMIT, ""},
#undef M
#undef KEY
};

struct reading {
    struct ws_frames frames;
    char text[512];
    size_t len;
};

static void note(struct reading *r, const struct ws_piece *p)
{
    if (p->is_first)
        r->len += (size_t)snprintf(r->text + r->len, sizeof(r->text) - r->len, "%u%s%s:", p->opcode,
                                   p->is_final ? "F" : "", p->is_packed ? "P" : "");
    r->len += (size_t)snprintf(r->text + r->len, sizeof(r->text) - r->len, "%.*s%s",
                               (int)p->bytes.len, p->bytes.p, p->is_last ? ";" : "");
}

static int feed(struct reading *r, char *bytes, size_t len)
{
    int got = 1;

    while (got == 1) {
        struct ws_piece piece;
        const char *why;
        size_t used;

        got = ws_frames_next(&r->frames, bytes, len, &used, &piece, &why);
        if (got == 1)
            note(r, &piece);
        else
            assert_true((got == MK_E_AGAIN) == (why == NULL));
        bytes += used;
        len -= used;
    }
    return got;
}

static void test_rows_split_at_each_byte(void **state)
{
    struct guard g = guard_open(256);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (size_t cut = 0; cut <= rows[i].bytes.len; cut++) {
            struct reading r = {.frames = {.max = MAX, .may_pack = rows[i].may_pack}};
            const size_t rest = rows[i].bytes.len - cut;
            int got = feed(&r, guard_put(&g, rows[i].bytes.p, cut), cut);

            if (got == MK_E_AGAIN)
                got = feed(&r, guard_put(&g, rows[i].bytes.p + cut, rest), rest);
            if (got != (rows[i].error ? rows[i].error : MK_E_AGAIN) ||
                strcmp(r.text, rows[i].read) != 0)
                fail_msg("%s, split at %zu: %d, %s", rows[i].name, cut, got, r.text);
        }
    guard_close(&g);
}

/* A frame of each form of length, masked, in pieces of a seeded size. */
static void read_long(size_t len, unsigned seed)
{
    uint8_t head[WS_SENT_HEAD_MAX];
    const size_t nhead = ws_frame_head(head, WS_BINARY, false, len);
    char *bytes = malloc(nhead + 4 + len);
    struct ws_frames f = {.max = MAX};
    size_t total = nhead + 4 + len, at = 0, read = 0;

    assert_non_null(bytes);
    memcpy(bytes, head, nhead);
    bytes[1] = (char)(bytes[1] | 0x80);
    memcpy(bytes + nhead, "\x11\x22\x33\x44", 4);
    for (size_t i = 0; i < len; i++)
        bytes[nhead + 4 + i] = (char)((i * 7) ^ (0x11U * (i % 4 + 1)));
    while (at < total) {
        struct ws_piece piece;
        const char *why;
        size_t used, part = 1 + (seed = seed * 1103515245U + 12345U) % 977U;

        part = part < total - at ? part : total - at;
        if (ws_frames_next(&f, bytes + at, part, &used, &piece, &why) == 1)
            for (size_t i = 0; i < piece.bytes.len; i++, read++)
                assert_int_equal((uint8_t)piece.bytes.p[i], (uint8_t)(read * 7));
        at += used;
    }
    assert_int_equal(read, len);
    assert_false(f.in_payload);
    free(bytes);
}

static void test_long_frames_in_pieces(void **state)
{
    static const size_t lens[] = {0, 1, 125, 126, 127, 65535, 65536, MAX};

    (void)state;
    for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++)
        for (unsigned seed = 1; seed < 20; seed++)
            read_long(lens[i], seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_split_at_each_byte),
        cmocka_unit_test(test_long_frames_in_pieces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
