/* SPDX-License-Identifier: Apache-2.0 */
#include "encoder.h"

#ifdef COMPRESS_HAS_GZIP

#include <stdlib.h>
#include <zlib.h>

/* gzip (RFC 1952) by zlib. */

enum {
    /* 32 KB for the window and its chains, 64 KB for hashes and symbols: pages become 3 % larger than with the 256 KB of
     * zlib's own choice, and take an eighth less time */
    WINDOW_BITS = 13,
    MEMORY_LEVEL = 7,
    GZIP = 16, /* added to the window's bits: with the gzip header */
    TAIL = 8,
};

struct gzip {
    z_stream z;
    struct encoder_past *past;
    bool goes_on;             /* behind another state: header and tail are not zlib's */
    uint8_t tail_at;          /* of tail: what is written */
    unsigned char tail[TAIL]; /* RFC 1952 section 2.3.1 */
};

static void *open_gzip(unsigned level, struct encoder_past *past)
{
    struct gzip *g = calloc(1, sizeof(*g));
    int bits = past->len > 0 ? -WINDOW_BITS : WINDOW_BITS + GZIP;

    if (!g)
        return NULL;
    g->past = past;
    g->goes_on = past->len > 0;
    if (deflateInit2(&g->z, (int)level, Z_DEFLATED, bits, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
        free(g);
        g = NULL;
    }
    return g;
}

static int result_of(const z_stream *z, int status, enum encoder_flow flow)
{
    if (status == Z_STREAM_END)
        return MK_FILTER_DONE;
    if (status != Z_OK && status != Z_BUF_ERROR)
        return MK_E_BAD;
    return flow == ENCODER_FLUSH && z->avail_out > 0 ? MK_FILTER_MORE : MK_FILTER_HOLDS;
}

static void make_tail(struct gzip *g, uint64_t len)
{
    for (unsigned i = 0; i < TAIL / 2; i++) {
        g->tail[i] = (unsigned char)(g->past->crc >> 8 * i);
        g->tail[TAIL / 2 + i] = (unsigned char)(len >> 8 * i);
    }
}

static int put_tail(struct gzip *g, char *out, size_t room, size_t *put)
{
    for (*put = 0; *put < room && g->tail_at < TAIL; ++*put)
        out[*put] = (char)g->tail[g->tail_at++];
    return g->tail_at == TAIL ? MK_FILTER_DONE : MK_FILTER_HOLDS;
}

static int code_gzip(void *state, const char *in, size_t *in_len, char *out, size_t *out_len,
                     enum encoder_flow flow)
{
    static const int flushes[] = {
        [ENCODER_MORE] = Z_NO_FLUSH, [ENCODER_FLUSH] = Z_SYNC_FLUSH, [ENCODER_FINISH] = Z_FINISH};
    struct gzip *g = state;
    union {
        const char *from;
        Bytef *to;
    } input = {in};
    size_t room = *out_len, tail;
    int status, result;

    g->z.next_in = input.to;
    g->z.avail_in = (uInt)*in_len;
    g->z.next_out = (Bytef *)out;
    g->z.avail_out = (uInt)room;
    status = deflate(&g->z, flushes[flow]);
    *in_len -= g->z.avail_in;
    *out_len -= g->z.avail_out;
    if (!g->goes_on)
        g->past->crc = (uint32_t)g->z.adler;
    else if (*in_len > 0)
        g->past->crc = (uint32_t)crc32(g->past->crc, (const Bytef *)in, (uInt)*in_len);
    result = result_of(&g->z, status, flow);
    if (result != MK_FILTER_DONE || !g->goes_on)
        return result;
    make_tail(g, g->past->len + *in_len);
    result = put_tail(g, out + *out_len, room - *out_len, &tail);
    *out_len += tail;
    return result;
}

static void close_gzip(void *state)
{
    struct gzip *g = state;

    (void)deflateEnd(&g->z);
    free(g);
}

const struct encoder compress_encoder_gzip = {
    .coding = MK_STR_INIT("gzip"),
    .kb = {104, 104, 104, 104, 104, 104, 104, 104, 104},
    .open = open_gzip,
    .part_end = ENCODER_FLUSH,
    .code = code_gzip,
    .close = close_gzip,
};

#endif
