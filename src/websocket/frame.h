/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBSOCKET_FRAME_H
#define WEBSOCKET_FRAME_H

#include <monkey/types.h>

#include <stdbool.h>
#include <sys/types.h>

/* Frames (RFC 6455 section 5): bytes in, values out. No descriptors, no memory. */

enum ws_opcode {
    WS_CONTINUATION = 0,
    WS_TEXT = 1,
    WS_BINARY = 2,
    WS_CLOSE = 8,
    WS_PING = 9,
    WS_PONG = 10,
};

enum {
    WS_HEAD_MAX = 14,      /* opcode, length in 1, 3 or 9 bytes, mask */
    WS_SENT_HEAD_MAX = 10, /* a server masks nothing (section 5.1) */
    WS_CONTROL_MAX = 125,  /* section 5.5 */
};

static inline bool ws_is_control(unsigned opcode)
{
    return (opcode & 8) != 0;
}

/** The frames of a client as they come. Zeroed before the first; max is set by the caller. */
struct ws_frames {
    uint64_t left; /* bytes of the present frame's payload still to come */
    uint64_t max;  /* of one frame's payload */
    uint8_t mask[4];
    uint8_t head[WS_HEAD_MAX]; /* as far as it has come */
    uint8_t nhead;
    uint8_t at; /* next byte of the mask */
    uint8_t opcode : 4;
    bool is_final : 1;
    bool is_packed : 1;  /* RSV1: compressed (RFC 7692 section 6) */
    bool in_payload : 1; /* its head is complete */
    bool in_message : 1; /* a fragment has come that was not the last */
    bool may_pack : 1;   /* set by the caller: permessage-deflate was agreed on */
};

/** A part of a frame's payload. */
struct ws_piece {
    struct mk_str bytes; /* borrowed from the input, unmasked there */
    uint8_t opcode;      /* enum ws_opcode; WS_CONTINUATION of a further fragment */
    bool is_first;       /* of its frame */
    bool is_last;        /* of its frame */
    bool is_final;       /* its frame is the last of the message */
    bool is_packed;      /* of the message's first frame */
};

/**
 * Read the next piece: a whole frame, if all of it is there.
 * @param bytes  input, behind what earlier calls used; payload in it is unmasked
 * @param used   out: bytes read
 * @param why    out, after an error: a sentence
 * @return 1: a piece; MK_E_AGAIN: all was used, and more is needed; MK_E_BAD: close with 1002; MK_E_LIMIT: a frame
 *         larger than max, close with 1009. Not called again after an error.
 */
int ws_frames_next(struct ws_frames *f, char *bytes, size_t len, size_t *used,
                   struct ws_piece *piece, const char **why) MK_MUST_USE;

/** Write the head of a frame that a server sends: final, unmasked. @return its length, at most WS_SENT_HEAD_MAX. */
size_t ws_frame_head(uint8_t dst[WS_SENT_HEAD_MAX], enum ws_opcode opcode, bool is_packed,
                     uint64_t len);

#endif
