/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/h2/session_int.h"

#include <string.h>

/* A session's life: how it begins, what it announces, and how it ends. */

void h2_session_init(struct h2_session *s, const struct h2_events *events,
                     const struct h2_limits *limits, struct h2_out *out, size_t *sum,
                     int64_t now_ms)
{
    memset(s, 0, sizeof(*s));
    s->events = events;
    s->out = out;
    s->late.sum = s->part.sum = sum;
    s->now_ms = now_ms;
    s->window = s->peer_window = H2_WINDOW;
    s->stream_window = limits->stream_window;
    s->window_max = limits->window_max;
    s->max_streams = limits->max_streams;
    h2_reader_init(&s->reader, true);
    hpack_decoder_init(&s->decoder);
    hpack_encoder_init(&s->encoder);
    h2_credit_init(&s->credit, now_ms);
    h2_flow_init(&s->flow, H2_WINDOW);
    h2_send_settings(s, limits);
}

void h2_session_fini(struct h2_session *s)
{
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

void h2_session_fail(struct h2_session *s, enum h2_error error)
{
    if (s->is_over)
        return;
    s->is_over = true;
    h2_send_goaway(s, s->newest, error);
}

void h2_session_notice(struct h2_session *s)
{
    h2_send_goaway(s, H2_WINDOW_MAX, H2_E_NO_ERROR);
}

void h2_session_refuse(struct h2_session *s)
{
    s->is_refusing = true;
    h2_send_goaway(s, s->newest, H2_E_NO_ERROR);
}

void h2_session_ping(struct h2_session *s)
{
    static const uint8_t payload[8] = {0};

    h2_send_ping(s, payload, 0);
}
