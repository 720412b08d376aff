/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEBSOCKET_WS_INT_H
#define WEBSOCKET_WS_INT_H

#include "kit/counted/counted.h"
#include "kit/states/states.h"
#include "websocket/frame.h"
#include "websocket/pack.h"
#include "websocket/utf8.h"

#include <monkey/stream.h>
#include <monkey/websocket.h>

/* X(NAME, name, states that may follow, sentence) */
#define WS_STATES(X)                                                                               \
    X(OPENING, "opening", WS_TO(OPEN) | WS_TO(CLOSING) | WS_TO(OVER),                              \
      "the answer's head has not left")                                                            \
    X(OPEN, "open", WS_TO(CLOSING) | WS_TO(LEAVING) | WS_TO(OVER), "messages in both directions")  \
    X(CLOSING, "closing", WS_TO(LEAVING) | WS_TO(OVER), "our Close is sent, the peer's awaited")   \
    X(LEAVING, "leaving", WS_TO(OVER), "nothing more is read; what waits is sent")                 \
    X(OVER, "over", 0, "to be freed in the stream's next event")

enum ws_state {
#define WS_STATE_ENUM(name, text, follow, sentence) WS_##name,
    WS_STATES(WS_STATE_ENUM)
#undef WS_STATE_ENUM
};

/** A frame as it is sent, for one receiver or many. */
struct ws_frame {
    struct counted refs;
    size_t len;
    uint8_t nhead; /* bytes before the payload */
    bool is_own;   /* of one receiver */
    char bytes[];
};

/** What of a message or a control frame has come. */
struct ws_gathered {
    char *bytes;
    size_t len, room;
    uint64_t total; /* of the message */
    struct ws_utf8 utf8;
    uint8_t kind; /* of the message, enum mk_ws_kind */
    uint8_t ncontrol;
    char control[WS_CONTROL_MAX];
};

struct ws_queue;
struct group_member;

struct mk_ws {
    struct mk_stream *stream;
    const struct mk_ws_spec *spec;
    void *data;
    struct mk_worker *worker;
    struct ws_frames frames;
    struct ws_pack *pack;         /* NULL: no compression */
    struct ws_gathered *gathered; /* NULL: nothing is incomplete */
    struct ws_queue *queue;       /* NULL: nothing waits */
    struct mk_ws_handle *handle;  /* NULL: nobody asked for one */
    struct group_member *groups;  /* NULL: in none */
    uint32_t heard_ms;            /* when the peer sent last */
    uint32_t held;                /* bytes, as was reported for MaxMemory */
    uint16_t code;                /* for on_close */
    uint8_t protocol;
    uint8_t state : 3;   /* enum ws_state */
    bool is_pinged : 1;  /* and nothing was heard since */
    bool has_closed : 1; /* the peer sent Close */
    bool is_shut : 1;    /* our half is closed */
    bool is_drained : 1; /* on_drain is due */
    bool is_hung_up : 1; /* by the peer, whose input then ends, or because the server stops */
};

/* ---- ws.c ---- */

/** Change the state; nothing else does. */
void ws_go(struct mk_ws *ws, enum ws_state to);
/** End without Close. The stream's next event, which this asks for, frees. */
void ws_break(struct mk_ws *ws, unsigned code);

/** Report what is kept of messages that are incomplete, or wait to be sent: mk_stream_hold. */
void ws_book(struct mk_ws *ws);

/* ---- message.c ---- */

/** Read pieces of input until it is used or the state changes. */
void ws_take_input(struct mk_ws *ws, char *bytes, size_t len);
/** Free what has come of a message. */
void ws_gathered_free(struct mk_ws *ws);

/* ---- close.c ---- */

/** The peer sent Close with this payload. */
void ws_take_close(struct mk_ws *ws, struct mk_str payload);
/** The peer broke a rule: send Close, read no more (section 7.1.7). */
void ws_fail(struct mk_ws *ws, unsigned code, const char *why);
/** Go on leaving: end when all was sent. */
void ws_leave(struct mk_ws *ws);

/* ---- queue.c ---- */

/** @return a frame with one reference; NULL: no memory. */
struct ws_frame *ws_frame_new(enum ws_opcode opcode, struct mk_str payload);
/** The same of a payload that is compressed. */
struct ws_frame *ws_frame_packed(enum ws_opcode opcode, struct mk_str payload);
static inline enum ws_opcode ws_frame_opcode(const struct ws_frame *frame)
{
    return (enum ws_opcode)(frame->bytes[0] & 15);
}
static inline struct mk_str ws_frame_payload(const struct ws_frame *frame)
{
    return (struct mk_str){frame->bytes + frame->nhead, frame->len - frame->nhead};
}
void ws_frame_put(struct ws_frame *frame);
/** Send a frame or let it wait. A reference is taken if it waits. @return as mk_ws_send */
ssize_t ws_queue_send(struct mk_ws *ws, struct ws_frame *frame);
/** Send a message, compressed if that was agreed on. No frame is made, unless some of it must wait. @return as mk_ws_send */
ssize_t ws_queue_send_message(struct mk_ws *ws, enum ws_opcode opcode, struct mk_str message);
/** The same of a message that has a frame, which is not compressed. */
ssize_t ws_queue_send_framed(struct mk_ws *ws, struct ws_frame *frame);
/** Is a message worth being compressed for this connection? */
bool ws_is_packed(const struct mk_ws *ws, size_t len);
/** Send a control frame, whatever waits: a ping or pong before messages, a Close after them. @return 0 or MK_E_NOMEM. */
int ws_queue_control(struct mk_ws *ws, enum ws_opcode opcode, struct mk_str payload);
/** Send what waits, as far as the peer takes it. */
void ws_queue_flush(struct mk_ws *ws);
/** Drop what waits but for a frame that is sent in part. */
void ws_queue_clear(struct mk_ws *ws);
void ws_queue_free(struct mk_ws *ws);
/** @return bytes of frames that wait for this connection alone: those of groups are counted nowhere, since they are shared. */
size_t ws_queue_own(const struct mk_ws *ws);

/* ---- handle.c, group.c ---- */

/** The connection has ended. */
void ws_handle_end(struct mk_ws *ws);
void ws_groups_end(struct mk_ws *ws);

static inline uint32_t ws_max(uint32_t given, uint32_t otherwise)
{
    return given ? given : otherwise;
}

#endif
