/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "websocket/pack.h"

#include <monkey/types.h>

/* The first bytes steer: an offer as text, or compressed messages, in which parts they come. However they are cut, the same
 * comes out; there is no end to what a message may become, so the caller stops. */

enum { MOST = 1 << 20 };

static void offer(const uint8_t *data, size_t size)
{
    const struct ws_deflate_rules rules = {true, size & 1, size & 2};
    char *text = exact_copy(data, size), answer[WS_EXTENSION_ROOM];
    struct ws_deflate d = {.is_agreed = false};

    ws_deflate_offer(&d, &rules, (struct mk_str){text, size});
    if (d.is_agreed) {
        require(d.sent_bits >= WS_WINDOW_MIN && d.sent_bits <= WS_WINDOW_OURS);
        require(d.received_bits >= 8 && d.received_bits <= WS_WINDOW_MAX);
        require(ws_deflate_answer(answer, &d) < sizeof(answer));
    }
    free(text);
}

struct result {
    uint64_t sum;
    size_t total;
    int got;
};

static struct result unpack(struct ws_pack *p, const uint8_t *data, size_t size, size_t part)
{
    struct result r = {.got = MK_E_AGAIN};

    for (size_t at = 0; r.got == MK_E_AGAIN; at += part) {
        const size_t here = size - at < part ? size - at : part;
        char *bytes = exact_copy(data + at, here), out[WS_UNPACKED_ROOM];
        struct mk_str input = {bytes, here};
        const bool is_last = at + here == size;
        size_t len;

        do {
            r.got = ws_unpack(p, &input, is_last, out, &len);
            require(len <= sizeof(out) && input.len <= here && (r.got == 1) == (len > 0));
            for (size_t i = 0; i < len; i++)
                r.sum = r.sum * 31 + (uint8_t)out[i];
            r.total += len;
        } while (r.got == 1 && r.total < MOST);
        require(r.got != MK_E_AGAIN || (!is_last && input.len == 0));
        free(bytes);
    }
    return r;
}

static void messages(const uint8_t *data, size_t size, bool keeps, uint8_t bits, size_t part)
{
    const struct ws_deflate agreed = {true, keeps, keeps, WS_WINDOW_OURS, bits};
    struct ws_pack *whole = ws_pack_new(&agreed), *cut = ws_pack_new(&agreed);

    for (unsigned i = 0; i < 2; i++) { /* the same twice: it may refer to itself */
        struct result a = unpack(whole, data, size, size + 1), b = unpack(cut, data, size, part);

        if (a.total >= MOST || b.total >= MOST)
            break;
        /* zlib notices a reference beyond a smaller window or not, by what one call has written */
        if (bits < WS_WINDOW_MAX)
            continue;
        require(a.got == b.got && (a.got != 0 || (a.sum == b.sum && a.total == b.total)));
        if (a.got != 0)
            break;
    }
    ws_pack_free(whole);
    ws_pack_free(cut);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t flags = take_byte(&data, &size);
    const size_t part = 1 + take_byte(&data, &size);

    if (flags & 1)
        offer(data, size);
    else
        messages(data, size, flags & 2, (uint8_t)(8 + (flags >> 5)), part);
    return 0;
}
