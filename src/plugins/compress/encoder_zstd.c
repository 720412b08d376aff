/* SPDX-License-Identifier: Apache-2.0 */
#include "encoder.h"

#ifdef COMPRESS_HAS_ZSTD

#include <zstd.h>

/* zstd (RFC 8878) by libzstd. Browsers accept windows of 8 MB (RFC 9659); ours is smaller by far. */

enum { WINDOW_LOG = 14, TABLE_LOG = 13 };

static const struct {
    ZSTD_cParameter parameter;
    int value;
} parameters[] = {
    {ZSTD_c_windowLog, WINDOW_LOG},
    {ZSTD_c_hashLog, TABLE_LOG},
    {ZSTD_c_chainLog, TABLE_LOG},
};

static bool set_up(ZSTD_CCtx *z, unsigned level)
{
    bool is_well = !ZSTD_isError(ZSTD_CCtx_setParameter(z, ZSTD_c_compressionLevel, (int)level));

    for (size_t i = 0; is_well && i < sizeof(parameters) / sizeof(parameters[0]); i++)
        is_well =
            !ZSTD_isError(ZSTD_CCtx_setParameter(z, parameters[i].parameter, parameters[i].value));
    return is_well;
}

/* Frames follow each other (RFC 8878 section 3). */
static void *open_zstd(unsigned level, struct encoder_past *past)
{
    ZSTD_CCtx *z = ZSTD_createCCtx();

    (void)past;
    if (z && !set_up(z, level)) {
        (void)ZSTD_freeCCtx(z);
        z = NULL;
    }
    return z;
}

static int code_zstd(void *state, const char *in, size_t *in_len, char *out, size_t *out_len,
                     enum encoder_flow flow)
{
    static const ZSTD_EndDirective directives[] = {[ENCODER_MORE] = ZSTD_e_continue,
                                                   [ENCODER_FLUSH] = ZSTD_e_flush,
                                                   [ENCODER_FINISH] = ZSTD_e_end};
    ZSTD_inBuffer input = {in, *in_len, 0};
    ZSTD_outBuffer output = {out, *out_len, 0};
    size_t left = ZSTD_compressStream2(state, &output, &input, directives[flow]);

    *in_len = input.pos;
    *out_len = output.pos;
    if (ZSTD_isError(left))
        return MK_E_NOMEM; /* of a stream that was set up well, the only reason */
    if (flow == ENCODER_MORE || left > 0)
        return MK_FILTER_HOLDS;
    return flow == ENCODER_FINISH ? MK_FILTER_DONE : MK_FILTER_MORE;
}

static void close_zstd(void *state)
{
    (void)ZSTD_freeCCtx(state);
}

const struct encoder compress_encoder_zstd = {
    .coding = MK_STR_INIT("zstd"),
    .kb = {208, 208, 208, 208, 208, 208, 208, 208, 208},
    .open = open_zstd,
    .part_end = ENCODER_FINISH,
    .code = code_zstd,
    .close = close_zstd,
};

#endif
