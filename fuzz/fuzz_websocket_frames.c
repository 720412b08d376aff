/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "websocket/frame.h"

/* The first bytes steer: may frames be packed, how large are they, in which parts does the input come. No more bytes are
 * read than came, and an error has a sentence. */

static uint64_t sum_of(const uint8_t *data, size_t size, size_t part, bool may_pack, uint64_t max)
{
    struct ws_frames frames = {.max = max, .may_pack = may_pack};
    uint64_t sum = 0;
    int got = MK_E_AGAIN;

    for (size_t at = 0; at < size && got == MK_E_AGAIN; at += part) {
        const size_t here = size - at < part ? size - at : part;
        char *bytes = exact_copy(data + at, here), *p = bytes;
        size_t left = here;

        do {
            struct ws_piece piece;
            const char *why;
            size_t used;

            got = ws_frames_next(&frames, p, left, &used, &piece, &why);
            require(used <= left && (got == 1 || (got == MK_E_AGAIN) == (why == NULL)));
            require(got != MK_E_AGAIN || used == left);
            if (got == 1) {
                require(piece.bytes.len <= used);
                sum = sum * 31 + (piece.is_first ? piece.opcode + 1U : 0);
                for (size_t i = 0; i < piece.bytes.len; i++)
                    sum = sum * 31 + (uint8_t)piece.bytes.p[i];
            }
            p += used;
            left -= used;
        } while (got == 1);
        free(bytes);
    }
    return sum * 31 + (uint64_t)(-got);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const bool may_pack = take_byte(&data, &size) & 1;
    const uint64_t max = (uint64_t)take_byte(&data, &size) << 10;
    const size_t part = 1 + take_byte(&data, &size);

    (void)sum_of(data, size, part, may_pack, max);
    return 0;
}
