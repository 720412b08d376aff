/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/h2/session_int.h"

#include <string.h>

/* A session's life: how it begins, what it announces, and how it ends. */

enum {
    STREAMS_ASSUMED = 100,        /* no less should anyone allow (RFC 9113 section 6.5.2) */
    STREAM_NUMBER_MAX = INT32_MAX /* RFC 9113 section 5.1.1 */
};

const uint8_t h2_measuring[8] = "round";

/*
 * A proxy reads fast, and what waits to be read is bounded by the windows of streams: a window of the connection that grew by
 * and by would only make the first large answers wait for a round trip each time.
 */
static void open_widely(struct h2_session *s)
{
    if (s->window_max <= H2_WINDOW)
        return;
    h2_flow_init(&s->flow, s->window_max);
    h2_send_number(s, H2_WINDOW_UPDATE, 0, (uint32_t)(s->window_max - H2_WINDOW));
}

void h2_session_init(struct h2_session *s, const struct h2_events *events,
                     const struct h2_limits *limits, struct h2_out *out, size_t *sum,
                     int64_t now_ms)
{
    memset(s, 0, sizeof(*s));
    s->events = events;
    s->out = out;
    s->late.sum = s->part.sum = sum;
    s->begun_ms = s->now_ms = now_ms;
    s->round_ms = s->asked_ms = -1;
    s->growth = limits->growth;
    s->window = s->peer_window = H2_WINDOW;
    s->stream_window = limits->stream_window;
    s->window_max = limits->window_max;
    s->max_streams = limits->max_streams;
    s->is_client = s->is_assumed = limits->is_client;
    s->peer_streams = STREAMS_ASSUMED;
    s->is_settled = limits->is_client; /* its streams leave after its settings */
    h2_reader_init(&s->reader, !limits->is_client);
    hpack_decoder_init(&s->decoder);
    hpack_encoder_init(&s->encoder);
    h2_credit_init(&s->credit, now_ms);
    h2_flow_init(&s->flow, H2_WINDOW);
    h2_send_settings(s, limits);
    if (s->is_client)
        open_widely(s);
}

void h2_session_fini(struct h2_session *s)
{
    h2_session_narrow(s, s->widened);
    hpack_decoder_fini(&s->decoder);
    hpack_encoder_fini(&s->encoder);
    h2_text_free(&s->late);
    h2_text_free(&s->part);
}

size_t h2_session_held(const struct h2_session *s)
{
    return hpack_table_held(&s->decoder.table) + hpack_table_held(&s->encoder.table);
}

void h2_session_sweep(struct h2_session *s)
{
    while (s->over) {
        struct h2_stream *st = s->over;

        s->over = st->chained;
        s->events->over(st);
    }
}

bool h2_session_pay(struct h2_session *s, enum h2_price what)
{
    if (s->is_over || h2_credit_pay(&s->credit, what, s->now_ms))
        return !s->is_over;
    s->is_flooded = true;
    h2_session_fail(s, H2_E_ENHANCE_YOUR_CALM);
    return false;
}

/* The newest stream that the peer has begun: none without pushes. */
static uint32_t newest_of_peer(const struct h2_session *s)
{
    return s->is_client ? 0 : s->newest;
}

void h2_session_fail(struct h2_session *s, enum h2_error error)
{
    if (s->is_over)
        return;
    s->is_over = true;
    h2_send_goaway(s, newest_of_peer(s), error);
}

void h2_session_notice(struct h2_session *s)
{
    h2_send_goaway(s, H2_WINDOW_MAX, H2_E_NO_ERROR);
}

void h2_session_refuse(struct h2_session *s)
{
    s->is_refusing = !s->is_client;
    s->is_leaving = s->is_client;
    h2_send_goaway(s, newest_of_peer(s), H2_E_NO_ERROR);
}

void h2_session_measure(struct h2_session *s)
{
    if (s->asked_ms >= 0 || s->is_over)
        return;
    s->asked_ms = s->now_ms;
    h2_send_ping(s, h2_measuring, 0);
}

bool h2_session_is_short(const struct h2_session *s, const struct h2_flow *f)
{
    return s->samples >= H2_SAMPLES && h2_flow_is_short(f, s->now_ms, s->round_ms);
}

void h2_session_ping(struct h2_session *s)
{
    static const uint8_t payload[8] = {0};

    h2_send_ping(s, payload, 0);
}

/* ---- a client's streams ---- */

/* Numbers that are left: 1 is the first, and all are odd. */
static unsigned numbers_left(const struct h2_session *s)
{
    return (STREAM_NUMBER_MAX + 1U - s->newest) / 2;
}

unsigned h2_session_room(const struct h2_session *s)
{
    const unsigned most = s->max_streams < s->peer_streams ? s->max_streams : s->peer_streams;
    const unsigned numbers = numbers_left(s);
    unsigned room;

    if (s->is_over || s->is_lost || s->is_leaving || s->nstreams >= most)
        return 0;
    room = most - s->nstreams;
    return room < numbers ? room : numbers;
}

bool h2_session_open(struct h2_session *s, struct h2_stream *st)
{
    if (h2_session_room(s) == 0)
        return false;
    s->newest += s->newest == 0 ? 1 : 2;
    h2_stream_open(s, st, s->newest);
    /* requests are of many clients: no body waits for another one's end */
    st->turn.priority.is_incremental = true;
    h2_stream_turn_to(st, H2_STREAM_OPEN);
    return true;
}
