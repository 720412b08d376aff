/* SPDX-License-Identifier: Apache-2.0 */
#include "encoder.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#ifdef COMPRESS_HAS_BR
#include <brotli/decode.h>
#endif
#ifdef COMPRESS_HAS_GZIP
#include <zlib.h>
#endif
#ifdef COMPRESS_HAS_ZSTD
#include <zstd.h>
#endif

/* Each encoder against the decoder of its library: pieces of any size, flushes, levels, memory. */

enum { SIZE = 300000 };

static char text[SIZE], packed[2 * SIZE], unpacked[SIZE + 1];

/* ---- decoders: @return bytes that the beginning of a stream gives */

#ifdef COMPRESS_HAS_BR
static size_t decode_br(size_t len)
{
    BrotliDecoderState *d = BrotliDecoderCreateInstance(NULL, NULL, NULL);
    const uint8_t *in = (const uint8_t *)packed;
    uint8_t *out = (uint8_t *)unpacked;
    size_t room = sizeof(unpacked);

    assert_int_not_equal(BrotliDecoderDecompressStream(d, &len, &in, &room, &out, NULL),
                         BROTLI_DECODER_RESULT_ERROR);
    BrotliDecoderDestroyInstance(d);
    return sizeof(unpacked) - room;
}
#endif

#ifdef COMPRESS_HAS_GZIP
static size_t decode_gzip(size_t len)
{
    z_stream z = {.next_in = (Bytef *)packed, .avail_in = (uInt)len};
    int status;

    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    z.next_out = (Bytef *)unpacked;
    z.avail_out = sizeof(unpacked);
    status = inflate(&z, Z_SYNC_FLUSH);
    assert_true(status == Z_OK || status == Z_STREAM_END);
    assert_int_equal(inflateEnd(&z), Z_OK);
    return sizeof(unpacked) - z.avail_out;
}
#endif

#ifdef COMPRESS_HAS_ZSTD
static size_t decode_zstd(size_t len)
{
    ZSTD_DCtx *d = ZSTD_createDCtx();
    ZSTD_inBuffer in = {packed, len, 0};
    ZSTD_outBuffer out = {unpacked, sizeof(unpacked), 0};
    size_t before;

    do {
        before = in.pos + out.pos;
        assert_false(ZSTD_isError(ZSTD_decompressStream(d, &out, &in)));
    } while (in.pos + out.pos > before);
    (void)ZSTD_freeDCtx(d);
    return out.pos;
}
#endif

static size_t decode(const struct encoder *e, size_t len)
{
#ifdef COMPRESS_HAS_BR
    if (e == &compress_encoder_br)
        return decode_br(len);
#endif
#ifdef COMPRESS_HAS_GZIP
    if (e == &compress_encoder_gzip)
        return decode_gzip(len);
#endif
#ifdef COMPRESS_HAS_ZSTD
    if (e == &compress_encoder_zstd)
        return decode_zstd(len);
#endif
    fail_msg("there is no decoder of %s", e->coding.p);
    return len;
}

/* ---- encoding ---- */

/* Words, and noise in between. */
static int make_text(void **state)
{
    static const char *const words[] = {"<p>",         "wombat ", "possum ",
                                        "kookaburra ", "</p>\n",  "echidna "};
    size_t len = 0;

    (void)state;
    srandom(1);
    while (len + 16 < SIZE) {
        if (random() % 5 == 0)
            len += (size_t)snprintf(text + len, 16, "%lx", random());
        else
            len += (size_t)snprintf(text + len, 16, "%s", words[random() % 6]);
    }
    memset(text + len, '.', SIZE - len);
    return 0;
}

/* As the server calls a filter. @return bytes written so far */
static size_t encode(const struct encoder *e, void *state, struct mk_str in, enum encoder_flow flow,
                     size_t at, size_t room)
{
    int result = MK_FILTER_HOLDS;

    for (size_t calls = 0; in.len > 0 || (flow != ENCODER_MORE && result == MK_FILTER_HOLDS);
         calls++) {
        size_t used = in.len, out = room;

        assert_true(calls < SIZE);
        assert_true(at + room <= sizeof(packed));
        result = e->code(state, in.p, &used, packed + at, &out, flow);
        assert_in_range(result, MK_FILTER_MORE, MK_FILTER_HOLDS);
        if (used + out == 0 && flow != ENCODER_FLUSH && result != MK_FILTER_DONE)
            fail_msg("%s stands still: %zu bytes of input, room %zu", e->coding.p, in.len, room);
        in.p += used;
        in.len -= used;
        at += out;
    }
    assert_true(flow != ENCODER_FINISH || result == MK_FILTER_DONE);
    return at;
}

#define EACH_ENCODER(e) for (unsigned i_ = 0; ((e) = compress_encoder_at(i_)); i_++)

static void assert_same(const struct encoder *e, size_t len, size_t packed_len)
{
    if (decode(e, packed_len) != len || memcmp(text, unpacked, len) != 0)
        fail_msg("%s: not the same", e->coding.p);
}

static void bodies_are_the_same_in_pieces_of_any_size(void **state)
{
    static const size_t pieces[] = {1, 100, 8192}, rooms[] = {1, 7, 8192},
                        lengths[] = {0, 1, 5000, SIZE};
    const struct encoder *e;

    (void)state;
    EACH_ENCODER(e)
    {
        for (size_t i = 0; i < 3 * 3 * 4; i++) {
            size_t piece = pieces[i % 3], room = rooms[i / 3 % 3], len = lengths[i / 9], at = 0,
                   n = 0;
            void *stream = e->open(5, &(struct encoder_past){0});

            if (len == SIZE && piece * room < 8192)
                len = 20000;
            for (size_t rest = len; rest > piece; rest -= piece, n += piece)
                at = encode(e, stream, (struct mk_str){text + n, piece}, ENCODER_MORE, at, room);
            at = encode(e, stream, (struct mk_str){text + n, len - n}, ENCODER_FINISH, at, room);
            e->close(stream);
            assert_same(e, len, at);
        }
    }
}

/* After a flush all that was given can be read, however small the room is. */
static void flushes_give_all_that_was_given(void **state)
{
    static const size_t rooms[] = {
        7, 20, 8192}; /* zlib repeats the mark of a flush where 6 bytes do not do */
    const struct encoder *e;

    (void)state;
    EACH_ENCODER(e)
    {
        for (size_t i = 0; i < 3; i++) {
            void *stream = e->open(1 + 4 * (unsigned)i, &(struct encoder_past){0});
            size_t at = 0;

            for (size_t n = 0; n < 5000; n += 100) {
                at = encode(e, stream, (struct mk_str){text + n, 100}, ENCODER_MORE, at, rooms[i]);
                at = encode(e, stream, (struct mk_str){NULL, 0}, ENCODER_FLUSH, at, rooms[i]);
                assert_same(e, n + 100, at);
            }
            at = encode(e, stream, (struct mk_str){NULL, 0}, ENCODER_FINISH, at, rooms[i]);
            e->close(stream);
            assert_same(e, 5000, at);
        }
    }
}

/* The next event comes while the last one still waits for room. */
static void input_may_come_in_the_middle_of_a_flush(void **state)
{
    const struct encoder *e;

    (void)state;
    EACH_ENCODER(e)
    {
        void *stream = e->open(5, &(struct encoder_past){0});
        size_t at = 0;

        for (size_t n = 0; n < 5000; n += 100) {
            size_t none = 0, out = 3;

            at = encode(e, stream, (struct mk_str){text + n, 100}, ENCODER_MORE, at, 8192);
            assert_true(e->code(stream, NULL, &none, packed + at, &out, ENCODER_FLUSH) >= 0);
            at += out;
        }
        at = encode(e, stream, (struct mk_str){NULL, 0}, ENCODER_FINISH, at, 8192);
        e->close(stream);
        assert_same(e, 5000, at);
    }
}

/* A stream that several states write is one, whatever its decoder: with its end, where a coding has one. */
static void states_go_on_with_a_stream(void **state)
{
    static const size_t pieces[] = {1, 3000, 70000}, rooms[] = {7, 50, 8192};
    const struct encoder *e;

    (void)state;
    EACH_ENCODER(e)
    {
        for (size_t i = 0; i < 3 * 3; i++) {
            size_t piece = pieces[i % 3], room = rooms[i / 3], at = 0, n = 0, len = 40 * piece;
            struct encoder_past past = {0};
            void *stream = e->open(5, &past);

            if (len > SIZE)
                len = SIZE;
            for (; len - n > piece; n += piece) {
                at = encode(e, stream, (struct mk_str){text + n, piece}, ENCODER_MORE, at, room);
                past.len += piece;
                at = encode(e, stream, (struct mk_str){NULL, 0}, e->part_end, at, room);
                e->close(stream);
                stream = e->open(5, &past);
            }
            at = encode(e, stream, (struct mk_str){text + n, len - n}, ENCODER_MORE, at, room);
            past.len += len - n;
            at = encode(e, stream, (struct mk_str){NULL, 0}, ENCODER_FINISH, at, room);
            e->close(stream);
            assert_same(e, len, at);
        }
    }
}

static void streams_left_in_the_middle_leave_nothing(void **state)
{
    const struct encoder *e;

    (void)state;
    EACH_ENCODER(e)
    {
        for (unsigned level = 1; level <= ENCODER_LEVELS; level++) {
            void *stream = e->open(level, &(struct encoder_past){0});

            (void)encode(e, stream, (struct mk_str){text, 10000}, ENCODER_MORE, 0, 8192);
            e->close(stream);
            e->close(e->open(level, &(struct encoder_past){0}));
        }
    }
}

static size_t allocated(void)
{
    struct mallinfo2 info = mallinfo2();

    return info.uordblks + info.hblkhd;
}

static size_t most_memory(const struct encoder *e, unsigned level)
{
    size_t before = allocated(), most = 0;
    void *stream = e->open(level, &(struct encoder_past){0});

    for (size_t n = 0; n < SIZE; n += 5000) {
        (void)encode(e, stream, (struct mk_str){text + n, 5000}, ENCODER_MORE, 0, 8192);
        if (allocated() - before > most)
            most = allocated() - before;
    }
    (void)encode(e, stream, (struct mk_str){NULL, 0}, ENCODER_FINISH, 0, 8192);
    if (allocated() - before > most)
        most = allocated() - before;
    e->close(stream);
    return most;
}

static void memory_is_bounded_as_the_table_says(void **state)
{
    const struct encoder *e;

    (void)state;
    if (allocated() == 0)
        skip(); /* a sanitizer's malloc counts nothing */
    EACH_ENCODER(e)
    {
        for (unsigned level = 1; level <= ENCODER_LEVELS; level++) {
            size_t most = most_memory(e, level);

            print_message("%s level %u: %zu KB\n", e->coding.p, level, (most + 1023) / 1024);
            if (most > encoder_memory(e, level) || most < encoder_memory(e, level) / 8)
                fail_msg("%s, level %u: %zu bytes", e->coding.p, level, most);
        }
    }
}

static void encoders_are_found_by_their_coding(void **state)
{
    const struct encoder *e;
    unsigned count = 0;

    (void)state;
    EACH_ENCODER(e)
    {
        assert_int_equal(compress_encoder_find(e->coding), count++);
    }
    assert_in_range(count, 1, ENCODERS_MAX);
    assert_int_equal(compress_encoder_find(MK_STR("deflate")), ENCODERS_MAX);
    assert_int_equal(compress_encoder_find(MK_STR("")), ENCODERS_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_bounded_as_the_table_says),
        cmocka_unit_test(bodies_are_the_same_in_pieces_of_any_size),
        cmocka_unit_test(flushes_give_all_that_was_given),
        cmocka_unit_test(input_may_come_in_the_middle_of_a_flush),
        cmocka_unit_test(states_go_on_with_a_stream),
        cmocka_unit_test(streams_left_in_the_middle_leave_nothing),
        cmocka_unit_test(encoders_are_found_by_their_coding),
    };

    return cmocka_run_group_tests(tests, make_text, NULL);
}
