/* SPDX-License-Identifier: Apache-2.0 */
#include "encoder.h"

#ifdef COMPRESS_HAS_BR

#include <brotli/encode.h>
#include <stdlib.h>

/* br (RFC 7932) by libbrotlienc. */

enum { WINDOW_BITS = 16 }; /* 18 would take 5 MB from level 5 on, and save 3 % */

struct brotli {
    BrotliEncoderState *encoder;
    bool is_flushing; /* until all of it is written the library takes no other operation */
};

static void *open_brotli(unsigned level)
{
    struct brotli *b = calloc(1, sizeof(*b));

    if (!b)
        return NULL;
    b->encoder = BrotliEncoderCreateInstance(NULL, NULL, NULL);
    if (!b->encoder) {
        free(b);
        return NULL;
    }
    (void)BrotliEncoderSetParameter(b->encoder, BROTLI_PARAM_QUALITY, level);
    (void)BrotliEncoderSetParameter(b->encoder, BROTLI_PARAM_LGWIN, WINDOW_BITS);
    return b;
}

/* One operation. What was used and written moves on. @return whether the library could. */
static bool run(struct brotli *b, BrotliEncoderOperation operation, struct mk_str *in, char **out,
                size_t *room)
{
    union {
        const char *text;
        const uint8_t *bytes;
    } from = {in->p};
    union {
        char *text;
        uint8_t *bytes;
    } to = {*out};
    BROTLI_BOOL could = BrotliEncoderCompressStream(b->encoder, operation, &in->len, &from.bytes,
                                                    room, &to.bytes, NULL);

    in->p = from.text;
    *out = to.text;
    return could;
}

static bool flush(struct brotli *b, char **out, size_t *room)
{
    struct mk_str none = {NULL, 0};

    if (!run(b, BROTLI_OPERATION_FLUSH, &none, out, room))
        return false;
    b->is_flushing = BrotliEncoderHasMoreOutput(b->encoder);
    return true;
}

static int result_of(const struct brotli *b, enum encoder_flow flow)
{
    if (BrotliEncoderIsFinished(b->encoder))
        return MK_FILTER_DONE;
    return flow == ENCODER_FLUSH && !b->is_flushing ? MK_FILTER_MORE : MK_FILTER_HOLDS;
}

static int code_brotli(void *state, const char *in, size_t *in_len, char *out, size_t *out_len,
                       enum encoder_flow flow)
{
    struct brotli *b = state;
    struct mk_str input = {in, *in_len};
    size_t room = *out_len;
    bool could = true;

    if (b->is_flushing || flow == ENCODER_FLUSH)
        could = flush(b, &out, &room);
    if (could && !b->is_flushing && flow != ENCODER_FLUSH)
        could = run(b, flow == ENCODER_FINISH ? BROTLI_OPERATION_FINISH : BROTLI_OPERATION_PROCESS,
                    &input, &out, &room);
    *in_len -= input.len;
    *out_len -= room;
    return could ? result_of(b, flow) : MK_E_NOMEM; /* it has no other reason */
}

static void close_brotli(void *state)
{
    struct brotli *b = state;

    BrotliEncoderDestroyInstance(b->encoder);
    free(b);
}

const struct encoder encoder_br = {
    .coding = MK_STR_INIT("br"),
    .kb = {128, 1024, 1024, 2048, 2048, 2048, 2048, 2048, 2816},
    .open = open_brotli,
    .code = code_brotli,
    .close = close_brotli,
};

#endif
