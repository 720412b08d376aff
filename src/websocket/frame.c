/* SPDX-License-Identifier: Apache-2.0 */
#include "websocket/frame.h"

#include <string.h>

enum { FIN = 0x80, RSV1 = 0x40, RSV2_3 = 0x30, OPCODE = 0x0f, MASKED = 0x80, LENGTH = 0x7f };

/* @return the length of a head that begins with these bytes, as far as it is known. */
static size_t head_len(const uint8_t *head, size_t have)
{
    const unsigned length = have < 2 ? 0 : head[1] & LENGTH;

    if (have < 2)
        return 2;
    return 6 + (length == 126 ? 2U : length == 127 ? 8U : 0U);
}

static uint64_t read_number(const uint8_t *p, size_t len)
{
    uint64_t n = 0;

    for (size_t i = 0; i < len; i++)
        n = n << 8 | p[i];
    return n;
}

/* Sections 5.2, 5.4, 5.5. @return NULL: nothing is wrong with the first two bytes. */
static const char *judge(const struct ws_frames *f, unsigned first, unsigned second)
{
    const unsigned opcode = first & OPCODE;

    if (first & RSV2_3)
        return "a reserved bit is set";
    if ((first & RSV1) && (!f->may_pack || ws_is_control(opcode) || opcode == WS_CONTINUATION))
        return "RSV1 is set without compression";
    if ((opcode > WS_BINARY && opcode < WS_CLOSE) || opcode > WS_PONG)
        return "unknown opcode";
    if (!(second & MASKED))
        return "the frame is not masked";
    if (ws_is_control(opcode) && !(first & FIN))
        return "a control frame is fragmented";
    if (ws_is_control(opcode) && (second & LENGTH) > WS_CONTROL_MAX)
        return "a control frame is too long";
    if (opcode == WS_CONTINUATION && !f->in_message)
        return "a continuation without a beginning";
    if (opcode != WS_CONTINUATION && !ws_is_control(opcode) && f->in_message)
        return "a new message inside a fragmented one";
    return NULL;
}

/* Section 5.2: a length has the shortest form, and its first bit is zero. @return NULL: it is right. */
static const char *judge_length(const uint8_t *head, uint64_t length)
{
    const unsigned form = head[1] & LENGTH;

    if ((form == 126 && length < 126) || (form == 127 && length < 65536))
        return "a length is not in its shortest form";
    return length >> 63 ? "a length is negative" : NULL;
}

static int begin_payload(struct ws_frames *f, const uint8_t *head, const char **why)
{
    const size_t len = head_len(head, 2);
    const unsigned form = head[1] & LENGTH;

    f->left = form < 126 ? form : read_number(head + 2, len - 6);
    *why = judge_length(head, f->left);
    if (*why)
        return MK_E_BAD;
    if (f->left > f->max) {
        *why = "a frame is too large";
        return MK_E_LIMIT;
    }
    memcpy(f->mask, head + len - 4, 4);
    f->at = 0;
    f->opcode = head[0] & OPCODE;
    f->is_final = (head[0] & FIN) != 0;
    if (f->opcode == WS_TEXT || f->opcode == WS_BINARY)
        f->is_packed = (head[0] & RSV1) != 0;
    if (!ws_is_control(f->opcode))
        f->in_message = !f->is_final;
    f->in_payload = true;
    f->nhead = 0;
    return 1;
}

/* A head byte by byte, because it can end anywhere. @return 1: it is complete. */
static int read_head(struct ws_frames *f, const char *bytes, size_t len, size_t *used,
                     const char **why)
{
    while (*used < len) {
        f->head[f->nhead++] = (uint8_t)bytes[(*used)++];
        if (f->nhead == 2)
            *why = judge(f, f->head[0], f->head[1]);
        if (*why)
            return MK_E_BAD;
        if (f->nhead >= 2 && f->nhead == head_len(f->head, f->nhead))
            return begin_payload(f, f->head, why);
    }
    return MK_E_AGAIN;
}

/* Section 5.3. Eight bytes at once; the mask is turned to where the payload stands. */
static void unmask(struct ws_frames *f, char *bytes, size_t len)
{
    uint8_t turned[8];
    uint64_t eight, mask;
    size_t i = 0;

    for (unsigned k = 0; k < 8; k++)
        turned[k] = f->mask[(f->at + k) & 3];
    memcpy(&mask, turned, 8);
    for (; len - i >= 8; i += 8) {
        memcpy(&eight, bytes + i, 8);
        eight ^= mask;
        memcpy(bytes + i, &eight, 8);
    }
    for (; i < len; i++)
        bytes[i] = (char)((uint8_t)bytes[i] ^ turned[i & 7]);
    f->at = (uint8_t)((f->at + len) & 3);
}

int ws_frames_next(struct ws_frames *f, char *bytes, size_t len, size_t *used,
                   struct ws_piece *piece, const char **why)
{
    bool is_first = false;
    size_t here;

    *used = 0;
    *why = NULL;
    if (!f->in_payload) {
        int err = read_head(f, bytes, len, used, why);

        if (err < 0)
            return err;
        is_first = true;
    }
    here = len - *used < f->left ? len - *used : (size_t)f->left;
    if (here == 0 && f->left > 0 && !is_first)
        return MK_E_AGAIN;
    unmask(f, bytes + *used, here);
    f->left -= here;
    *piece = (struct ws_piece){
        .bytes = {bytes + *used, here},
        .opcode = f->opcode,
        .is_first = is_first,
        .is_last = f->left == 0,
        .is_final = f->is_final,
        .is_packed = f->is_packed && !ws_is_control(f->opcode),
    };
    *used += here;
    f->in_payload = f->left > 0;
    return 1;
}

size_t ws_frame_head(uint8_t dst[WS_SENT_HEAD_MAX], enum ws_opcode opcode, bool is_packed,
                     uint64_t len)
{
    const unsigned bytes = len < 126 ? 0 : len < 65536 ? 2 : 8;

    dst[0] = (uint8_t)(FIN | (is_packed ? RSV1 : 0) | (unsigned)opcode);
    dst[1] = (uint8_t)(bytes == 0 ? len : bytes == 2 ? 126 : 127);
    for (unsigned i = 0; i < bytes; i++)
        dst[2 + i] = (uint8_t)(len >> (8 * (bytes - 1 - i)));
    return 2 + bytes;
}
