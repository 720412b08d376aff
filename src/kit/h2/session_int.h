/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KIT_H2_SESSION_INT_H
#define KIT_H2_SESSION_INT_H

#include "kit/h2/session.h"

/* What the files of a session share. */

/** The windows of streams are smaller by so much. */
static inline void h2_session_narrow(struct h2_session *s, int32_t by)
{
    s->widened -= by;
    if (s->growth && by > 0)
        (void)s->growth->take(s->growth->owner, -(int64_t)by);
}

/* ---- the round trip ---- */

/** Payload of PINGs that measure. */
extern const uint8_t h2_measuring[8];
/** Ask for a sample, unless one is under way. */
void h2_session_measure(struct h2_session *s);
/** Of a window that is used: was it what held its peer back? Not before some PINGs have said how long a round trip is. */
bool h2_session_is_short(const struct h2_session *s, const struct h2_flow *f);

/* ---- streams ---- */

/** @return NULL: there is none that is not closed. */
struct h2_stream *h2_stream_find(const struct h2_session *s, uint32_t id);
void h2_stream_open(struct h2_session *s, struct h2_stream *st, uint32_t id);
void h2_stream_turn_to(struct h2_stream *st, enum h2_stream_state state);
/** It ends. @param is_ours  we reset it, and its peer may not know */
void h2_stream_close(struct h2_stream *st, uint32_t error, bool is_ours);
/** Its peer is at fault: it is reset, and that costs. */
void h2_stream_refuse(struct h2_stream *st, enum h2_error error);
/** It waits for its turn if it has something to send and a window for it. */
void h2_stream_line_up(struct h2_stream *st);
void h2_stream_set_priority(struct h2_stream *st, struct h2_priority priority);
/** Its peer takes more, or less. @return false: the window would be too large (RFC 9113 section 6.9.1). */
bool h2_stream_open_window(struct h2_stream *st, int64_t by);
/** A client's, whose final head has not come. */
static inline bool h2_stream_awaits_head(const struct h2_stream *st)
{
    return st->message.is_response && st->status < 200;
}
/** Its peer sends no more: by END_STREAM. */
void h2_stream_end_input(struct h2_stream *st);

/* ---- field blocks ---- */

/** Bytes of a block, whose fields are its stream's; those of no stream are decoded all the same. */
void h2_block_take(struct h2_session *s, const uint8_t *bytes, size_t len);
void h2_block_end(struct h2_session *s);

/* ---- frames that leave ---- */

/** @return room for len bytes, which h2_out_commit takes; NULL: no memory, the session is lost. */
uint8_t *h2_out_room(struct h2_session *s, size_t len);
void h2_out_commit(struct h2_session *s, const uint8_t *room, size_t len);
/** A frame with one or two numbers: RST_STREAM, WINDOW_UPDATE, GOAWAY. */
void h2_send_number(struct h2_session *s, enum h2_type type, uint32_t id, uint32_t number);
void h2_send_goaway(struct h2_session *s, uint32_t last, enum h2_error error);
void h2_send_ping(struct h2_session *s, const uint8_t payload[8], uint8_t flags);
/** The first frame, after a client's preface. */
void h2_send_settings(struct h2_session *s, const struct h2_limits *limits);
void h2_send_settings_ack(struct h2_session *s);

#endif
