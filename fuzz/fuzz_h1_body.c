/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "base/limits.h"
#include "http/h1_body.h"

/*
 * A body, whole, cut in two and byte by byte: the verdict, the data and the length used must
 * agree. What was decoded must come out again when it is sent in chunks.
 * Input: one byte (chunked or a length, the limit), two bytes of cut, the body.
 */

struct outcome {
    int ret;
    size_t len, used;
    char *data;
};

/** Decode in pieces: first bytes, then step bytes at a time. */
static struct outcome decode(struct mk_h1_body b, const uint8_t *data, size_t size, size_t first,
                             size_t step)
{
    struct outcome o = {.ret = MK_E_AGAIN, .data = exact_copy(data, size)};
    size_t at = 0, n = first;

    do {
        size_t len = n < size - at ? n : size - at, used, received = len;
        char *piece = exact_copy(data + at, len);

        o.ret = mk_h1_body_decode(&b, piece, &len, &used);
        require(len <= used && used <= received);
        require(o.ret != MK_E_AGAIN || used == received);
        require(memcmp(piece + used, data + at + used, received - used) == 0);
        memcpy(o.data + o.len, piece, len);
        o.len += len;
        o.used += used;
        at += received;
        n = step;
        free(piece);
    } while (o.ret == MK_E_AGAIN && at < size);
    require(b.total == o.len && b.total <= b.max);
    return o;
}

static void require_same(const struct outcome *a, struct outcome b)
{
    require(a->ret == b.ret && a->len == b.len && a->used == b.used);
    require(memcmp(a->data, b.data, a->len) == 0);
    free(b.data);
}

/** Send what was decoded in chunks of a size, and decode it again. */
static void round_trip(const struct outcome *o, size_t chunk)
{
    char *sent = malloc(o->len + (o->len / chunk + 1) * (MK_H1_CHUNK_HEAD + 2) + 5);
    static const char last[5] = {'0', '\r', '\n', '\r', '\n'};
    size_t out = 0;
    struct mk_h1_body b;
    struct outcome again;

    require(sent != NULL);
    for (size_t at = 0; at < o->len; at += chunk) {
        size_t n = chunk < o->len - at ? chunk : o->len - at;

        out += mk_h1_chunk_head(sent + out, n);
        memcpy(sent + out, o->data + at, n);
        sent[out + n] = '\r';
        sent[out + n + 1] = '\n';
        out += n + 2;
    }
    memcpy(sent + out, last, sizeof(last));
    out += sizeof(last);
    mk_h1_body_init_chunked(&b, o->len);
    again = decode(b, (const uint8_t *)sent, out, out, out);
    require(again.ret == 1 && again.used == out && again.len == o->len);
    require(memcmp(again.data, o->data, o->len) == 0);
    free(again.data);
    free(sent);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned kind = take_byte(&data, &size);
    size_t cut = take_byte(&data, &size);
    struct mk_h1_body b;
    struct outcome whole;

    cut = cut << 8 | take_byte(&data, &size);
    if (kind & 1)
        mk_h1_body_init_chunked(&b, kind & 2 ? UINT64_MAX : kind);
    else if (mk_h1_body_init_length(&b, kind, 200) < 0)
        return 0;
    whole = decode(b, data, size, size, size);
    require_same(&whole, decode(b, data, size, size ? cut % size : 0, size));
    if (size < 4096)
        require_same(&whole, decode(b, data, size, 1, 1));
    round_trip(&whole, whole.len / 8 + 40);
    free(whole.data);
    return 0;
}
