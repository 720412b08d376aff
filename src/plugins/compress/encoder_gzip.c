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
};

static void *open_gzip(unsigned level)
{
    z_stream *z = calloc(1, sizeof(*z));

    if (z && deflateInit2(z, (int)level, Z_DEFLATED, WINDOW_BITS + GZIP, MEMORY_LEVEL,
                          Z_DEFAULT_STRATEGY) != Z_OK) {
        free(z);
        z = NULL;
    }
    return z;
}

static int result_of(const z_stream *z, int status, enum encoder_flow flow)
{
    if (status == Z_STREAM_END)
        return MK_FILTER_DONE;
    if (status != Z_OK && status != Z_BUF_ERROR)
        return MK_E_BAD;
    return flow == ENCODER_FLUSH && z->avail_out > 0 ? MK_FILTER_MORE : MK_FILTER_HOLDS;
}

static int code_gzip(void *state, const char *in, size_t *in_len, char *out, size_t *out_len,
                     enum encoder_flow flow)
{
    static const int flushes[] = {
        [ENCODER_MORE] = Z_NO_FLUSH, [ENCODER_FLUSH] = Z_SYNC_FLUSH, [ENCODER_FINISH] = Z_FINISH};
    z_stream *z = state;
    union {
        const char *from;
        Bytef *to;
    } input = {in};
    int status;

    z->next_in = input.to;
    z->avail_in = (uInt)*in_len;
    z->next_out = (Bytef *)out;
    z->avail_out = (uInt)*out_len;
    status = deflate(z, flushes[flow]);
    *in_len -= z->avail_in;
    *out_len -= z->avail_out;
    return result_of(z, status, flow);
}

static void close_gzip(void *state)
{
    (void)deflateEnd(state);
    free(state);
}

const struct encoder compress_encoder_gzip = {
    .coding = MK_STR_INIT("gzip"),
    .kb = {104, 104, 104, 104, 104, 104, 104, 104, 104},
    .open = open_gzip,
    .code = code_gzip,
    .close = close_gzip,
};

#endif
