/* SPDX-License-Identifier: Apache-2.0 */
#include "encoder.h"

#ifdef COMPRESS_HAS_BR

#include <brotli/encode.h>
#include <setjmp.h>
#include <stdlib.h>

/* br (RFC 7932) by libbrotlienc. */

enum { WINDOW_BITS = 16 }; /* 18 would take 5 MB from level 5 on, and save 3 % */

/* What the library takes. It ends the process when it gets no memory (BROTLI_ENCODER_EXIT_ON_OOM is how it is built), so
 * a failure jumps out of it instead, and all is freed here. */
struct block {
    struct block *before, *next;
    max_align_t start[];
};

struct brotli {
    BrotliEncoderState *encoder;
    struct block *blocks;
    jmp_buf no_memory; /* set while the library runs */
    bool is_flushing;  /* until all of it is written the library takes no other operation */
};

static void *take(void *arg, size_t size)
{
    struct brotli *b = arg;
    struct block *block = malloc(sizeof(*block) + size);

    if (!block)
        longjmp(b->no_memory, 1);
    *block = (struct block){.next = b->blocks};
    if (b->blocks)
        b->blocks->before = block;
    b->blocks = block;
    return block->start;
}

static void give_back(void *arg, void *p)
{
    struct brotli *b = arg;
    struct block *block;

    if (!p)
        return;
    block = (struct block *)(void *)((char *)p - offsetof(struct block, start));
    if (block->before)
        block->before->next = block->next;
    else
        b->blocks = block->next;
    if (block->next)
        block->next->before = block->before;
    free(block);
}

/* The library's own state is one of the blocks, whatever it was doing. */
static void close_brotli(void *state)
{
    struct brotli *b = state;

    for (struct block *block = b->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    free(b);
}

/* What it says of the stream before it is not looked at beyond its window: a number without a bound would be refused. */
static bool join(struct brotli *b, const struct encoder_past *past)
{
    enum { FAR = 1 << 30 };

    return past->len == 0 || BrotliEncoderSetParameter(b->encoder, BROTLI_PARAM_STREAM_OFFSET,
                                                       past->len < FAR ? (uint32_t)past->len : FAR);
}

static bool make_encoder(struct brotli *b, unsigned level, const struct encoder_past *past)
{
    if (setjmp(b->no_memory))
        return false;
    b->encoder = BrotliEncoderCreateInstance(take, give_back, b);
    return b->encoder && BrotliEncoderSetParameter(b->encoder, BROTLI_PARAM_QUALITY, level) &&
           BrotliEncoderSetParameter(b->encoder, BROTLI_PARAM_LGWIN, WINDOW_BITS) && join(b, past);
}

static void *open_brotli(unsigned level, struct encoder_past *past)
{
    struct brotli *b = calloc(1, sizeof(*b));

    if (b && !make_encoder(b, level, past)) {
        close_brotli(b);
        b = NULL;
    }
    return b;
}

/* One operation. What was used and written moves on, unless it fails. @return whether the library could. */
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

    if (setjmp(b->no_memory) || !BrotliEncoderCompressStream(b->encoder, operation, &in->len,
                                                             &from.bytes, room, &to.bytes, NULL))
        return false;
    in->p = from.text;
    *out = to.text;
    return true;
}

static bool flush(struct brotli *b, char **out, size_t *room)
{
    struct mk_str none = {NULL, 0};

    if (!run(b, BROTLI_OPERATION_FLUSH, &none, out, room))
        return false;
    b->is_flushing = BrotliEncoderHasMoreOutput(b->encoder);
    return true;
}

/* Where states meet, the library flushes of its own accord, and takes no input before that is written. @return as run. */
static bool drain(struct brotli *b, char **out, size_t *room, bool *is_dry)
{
    struct mk_str none = {NULL, 0};
    bool could = !BrotliEncoderHasMoreOutput(b->encoder) ||
                 run(b, BROTLI_OPERATION_PROCESS, &none, out, room);

    *is_dry = !BrotliEncoderHasMoreOutput(b->encoder);
    return could;
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
    bool could = true, is_dry = true;

    if (b->is_flushing || flow == ENCODER_FLUSH)
        could = flush(b, &out, &room);
    else if (input.len > 0)
        could = drain(b, &out, &room, &is_dry);
    if (could && is_dry && !b->is_flushing && flow != ENCODER_FLUSH)
        could = run(b, flow == ENCODER_FINISH ? BROTLI_OPERATION_FINISH : BROTLI_OPERATION_PROCESS,
                    &input, &out, &room);
    *in_len -= input.len;
    *out_len -= room;
    return could ? result_of(b, flow) : MK_E_NOMEM; /* it has no other reason */
}

const struct encoder compress_encoder_br = {
    .coding = MK_STR_INIT("br"),
    .kb = {128, 1024, 1024, 2048, 2048, 2048, 2048, 2048, 2816},
    .open = open_brotli,
    .part_end = ENCODER_FLUSH,
    .code = code_brotli,
    .close = close_brotli,
};

#endif
