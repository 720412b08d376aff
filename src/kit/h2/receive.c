/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/h2/session_int.h"

#include <string.h>

/* What frames of a peer do (RFC 9113 section 5 and 6). Errors of the connection end the session. */

/* Streams that come after GOAWAY are skipped, and never known. */
static bool is_idle(const struct h2_session *s, uint32_t id)
{
    return (id > s->newest && !s->is_refusing) || id % 2 == 0;
}

/* A frame of DATA or HEADERS for a stream that has no object. */
static void judge_past(struct h2_session *s, uint32_t id, bool is_data)
{
    enum h2_error error = id <= s->newest ? h2_past_judge(&s->past, id, is_data) : H2_E_NO_ERROR;

    if (error != H2_E_NO_ERROR)
        h2_session_fail(s, error);
}

/* ---- DATA ---- */

/* By how much the connection's window grows: no memory hangs on it. */
static int32_t growth(struct h2_session *s)
{
    const struct h2_flow *f = &s->flow;
    const bool is_small = f->window <= H2_FREE / 2;

    if (f->window > s->window_max / 2)
        return 0;
    if (f->window >= H2_MEASURED)
        h2_session_measure(s);
    return is_small || h2_session_is_short(s, f) ? f->window : 0;
}

/*
 * The connection's window bounds what is under way, and is given back as bytes come: what waits to be read is bounded by the
 * windows of streams, so that one that nobody reads keeps no other one from being read (RFC 9113 section 5.2.2).
 */
static void renew(struct h2_session *s, uint32_t len)
{
    uint32_t more = h2_flow_use(&s->flow, len, s->now_ms);

    if (h2_flow_is_used(&s->flow))
        more += h2_flow_widen(&s->flow, growth(s));
    if (more > 0)
        h2_send_number(s, H2_WINDOW_UPDATE, 0, more);
}

/* @return whether its bytes may be the stream's. */
static bool may_take(struct h2_stream *st, uint32_t length, uint32_t len)
{
    if (h2_stream_awaits_head(st)) { /* RFC 9113 section 8.1 */
        h2_stream_refuse(st, H2_E_PROTOCOL_ERROR);
        return false;
    }
    if (st->state == H2_STREAM_HALF_REMOTE) {
        h2_stream_refuse(st, H2_E_STREAM_CLOSED);
        return false;
    }
    if (!h2_flow_take(&st->flow, length)) {
        h2_stream_refuse(st, H2_E_FLOW_CONTROL_ERROR);
        return false;
    }
    if (st->to_come >= 0 && len > st->to_come) { /* RFC 9113 section 8.1.1 */
        h2_stream_refuse(st, H2_E_PROTOCOL_ERROR);
        return false;
    }
    if (st->to_come >= 0)
        st->to_come -= len;
    return true;
}

static void begin_data(struct h2_session *s, const struct h2_frame *f)
{
    uint32_t padding = h2_reader_padding(&s->reader);
    struct h2_stream *st = h2_stream_find(s, f->id);

    s->current = NULL;
    if (!h2_flow_take(&s->flow, f->length)) {
        h2_session_fail(s, H2_E_FLOW_CONTROL_ERROR);
        return;
    }
    renew(s, f->length);
    if (f->length == padding && !(f->flags & H2_FLAG_END_STREAM))
        (void)h2_session_pay(s, H2_PRICE_EMPTY);
    h2_credit_move(&s->credit, f->length - padding);
    if (!st && is_idle(s, f->id)) {
        h2_session_fail(s, H2_E_PROTOCOL_ERROR);
    } else if (!st) {
        judge_past(s, f->id, true);
    } else if (may_take(st, f->length, f->length - padding)) {
        h2_stream_use(st, padding);
        s->current = st;
    }
}

static void take_data(struct h2_session *s, const uint8_t *bytes, size_t len)
{
    struct h2_stream *st = s->current;

    if (st && s->events->data(st, bytes, len) < 0)
        h2_stream_refuse(st, H2_E_INTERNAL_ERROR);
}

static void end_data(struct h2_session *s, const struct h2_frame *f)
{
    struct h2_stream *st = s->current;

    s->current = NULL;
    if (!st || !(f->flags & H2_FLAG_END_STREAM))
        return;
    if (st->to_come > 0) {
        h2_stream_refuse(st, H2_E_PROTOCOL_ERROR);
        return;
    }
    h2_stream_end_input(st);
    s->events->end(st);
}

/* ---- HEADERS ---- */

/* RFC 7540 section 5.3.1: a stream that depends on itself. */
static bool depends_on_itself(const uint8_t *priority, uint32_t id)
{
    return h2_number31(priority) == id;
}

static void refuse_new(struct h2_session *s, uint32_t id, enum h2_price price)
{
    s->resets++;
    h2_send_number(s, H2_RST_STREAM, id, H2_E_REFUSED_STREAM);
    h2_past_add(&s->past, id, true);
    (void)h2_session_pay(s, price);
}

static struct h2_priority early_priority(const struct h2_session *s, uint32_t id)
{
    return s->early_id == id ? s->early : (struct h2_priority){.urgency = H2_URGENCY};
}

static struct h2_stream *begin_stream(struct h2_session *s, uint32_t id)
{
    struct h2_stream *st;

    if (s->is_refusing)
        return NULL;
    s->newest = id;
    if (s->nstreams >= s->max_streams) {
        refuse_new(s, id, H2_PRICE_FAULT);
        return NULL;
    }
    st = s->events->begin(s, id);
    if (!st) {
        refuse_new(s, id, H2_PRICE_REFUSAL);
        return NULL;
    }
    h2_stream_open(s, st, id);
    h2_stream_set_priority(st, early_priority(s, id));
    return st;
}

/* Fields after a body (RFC 9113 section 8.1). @return it; NULL: they are not taken. */
static struct h2_stream *begin_trailers(struct h2_stream *st, bool ends)
{
    if (st->state == H2_STREAM_HALF_REMOTE)
        h2_stream_refuse(st, H2_E_STREAM_CLOSED);
    else if (!ends || st->to_come > 0 || st->message.is_connect) /* RFC 9113 section 8.5 */
        h2_stream_refuse(st, H2_E_PROTOCOL_ERROR);
    if (h2_stream_is_closed(st))
        return NULL;
    st->message.is_trailer = true;
    return st;
}

/* The next frame of a stream: a head of a response, the first one or the one after an interim one, or trailers. */
static struct h2_stream *go_on(struct h2_stream *st, bool ends)
{
    if (!h2_stream_awaits_head(st))
        return begin_trailers(st, ends);
    h2_message_init(&st->message, true);
    return st;
}

/* RFC 9113 section 5.1.1: streams have odd numbers without pushes, and servers begin none. */
static bool is_out_of_place(const struct h2_session *s, const struct h2_frame *f)
{
    const size_t at = f->flags & H2_FLAG_PADDED ? 1 : 0;

    return f->id % 2 == 0 || (s->is_client && f->id > s->newest) ||
           (f->flags & H2_FLAG_PRIORITY && depends_on_itself(s->reader.fields + at, f->id));
}

static void begin_headers(struct h2_session *s, const struct h2_frame *f)
{
    struct h2_stream *st = h2_stream_find(s, f->id);

    s->current = NULL;
    s->ends_stream = f->flags & H2_FLAG_END_STREAM;
    hpack_decoder_begin(&s->decoder);
    if (is_out_of_place(s, f))
        h2_session_fail(s, H2_E_PROTOCOL_ERROR);
    else if (st)
        s->current = go_on(st, s->ends_stream);
    else if (f->id <= s->newest)
        judge_past(s, f->id, false);
    else
        s->current = begin_stream(s, f->id);
}

/* ---- SETTINGS ---- */

/* A frame of a few bytes is work for each stream: so many cost a point. */
enum { STREAMS_A_POINT = 8 };

static void set_windows(struct h2_session *s, int32_t window)
{
    int64_t by = (int64_t)window - s->peer_window;
    unsigned n = 0;

    s->peer_window = window;
    for (size_t i = 0; i < H2_CHAINS && by != 0; i++) {
        for (struct h2_stream *st = s->chains[i]; st; st = st->chained) {
            if (++n % STREAMS_A_POINT == 0 && !h2_session_pay(s, H2_PRICE_WINDOW))
                return;
            if (!h2_stream_open_window(st, by)) {
                h2_session_fail(s, H2_E_FLOW_CONTROL_ERROR);
                return;
            }
        }
    }
}

static void take_max_streams(struct h2_session *s, uint32_t most)
{
    s->peer_streams = most;
    s->is_assumed = false;
}

/* RFC 8441 section 3: who has said 1 says no 0. It means nothing from a client. */
static void take_connect(struct h2_session *s, uint32_t value)
{
    if (value > 1 || (s->is_client && s->takes_connect && value == 0))
        h2_session_fail(s, H2_E_PROTOCOL_ERROR);
    else
        s->takes_connect = value == 1;
}

static void take_setting(struct h2_session *s, const uint8_t *entry)
{
    uint32_t value = h2_number(entry + 2);

    switch (entry[0] << 8 | entry[1]) {
    case H2_SETTINGS_HEADER_TABLE_SIZE:
        hpack_encoder_resize(&s->encoder, value);
        break;
    case H2_SETTINGS_MAX_CONCURRENT_STREAMS:
        take_max_streams(s, value);
        break;
    case H2_SETTINGS_ENABLE_PUSH: /* a server says 0 or nothing (RFC 9113 section 6.5.2) */
        if (value > (s->is_client ? 0 : 1))
            h2_session_fail(s, H2_E_PROTOCOL_ERROR);
        break;
    case H2_SETTINGS_ENABLE_CONNECT_PROTOCOL:
        take_connect(s, value);
        break;
    case H2_SETTINGS_NO_RFC7540_PRIORITIES:
        if (value > 1)
            h2_session_fail(s, H2_E_PROTOCOL_ERROR);
        break;
    case H2_SETTINGS_INITIAL_WINDOW_SIZE:
        if (value > H2_WINDOW_MAX)
            h2_session_fail(s, H2_E_FLOW_CONTROL_ERROR);
        else
            s->next_window = (int32_t)value;
        break;
    case H2_SETTINGS_MAX_FRAME_SIZE:
        if (value < H2_FRAME_MAX || value > 0xffffff)
            h2_session_fail(s, H2_E_PROTOCOL_ERROR);
        break;
    default: /* the others ask nothing of us */
        break;
    }
}

/* From now on the peer keeps to what they say: windows of streams that are smaller than the default too. */
static void settle(struct h2_session *s)
{
    int32_t less = s->stream_window < H2_WINDOW ? H2_WINDOW - s->stream_window : 0;

    if (s->is_settled)
        return;
    s->is_settled = true;
    for (size_t i = 0; i < H2_CHAINS && less > 0; i++) {
        for (struct h2_stream *st = s->chains[i]; st; st = st->chained)
            st->flow.left -= less;
    }
}

/* The shortest counts: a peer that was busy, or wants large windows, answers some late. */
static void take_sample(struct h2_session *s, int64_t ms)
{
    if (s->round_ms < 0 || ms < s->round_ms)
        s->round_ms = ms < INT32_MAX ? (int32_t)ms : INT32_MAX;
}

static void end_settings(struct h2_session *s, const struct h2_frame *f)
{
    if (f->flags & H2_FLAG_ACK) {
        if (s->begun_ms >= 0) /* they are acknowledged at once (RFC 9113 section 6.5.3) */
            take_sample(s, s->now_ms - s->begun_ms);
        s->begun_ms = -1;
        settle(s);
        (void)h2_session_pay(s, H2_PRICE_IDLE);
        return;
    }
    if (s->is_assumed) /* the first ones name no bound: there is none (RFC 9113 section 6.5.2) */
        take_max_streams(s, UINT32_MAX);
    s->is_greeted = true;
    if (h2_session_pay(s, H2_PRICE_SETTINGS))
        set_windows(s, s->next_window);
    if (!s->is_over)
        h2_send_settings_ack(s);
}

/* ---- the others ---- */

/*
 * Streams that a server has not seen, and will not (RFC 9113 section 6.8). A later GOAWAY may name a smaller number; a larger one
 * brings none back, for the requests may have been sent to another server by now.
 */
static void take_goaway(struct h2_session *s)
{
    const uint32_t last = h2_number31(s->reader.fields);

    if (!s->is_client) /* of pushes, which there are not */
        return;
    s->is_leaving = true;
    for (size_t i = 0; i < H2_CHAINS; i++) {
        for (struct h2_stream *st = s->chains[i], *next; st; st = next) {
            next = st->chained;
            if (st->id > last)
                h2_stream_close(st, H2_E_REFUSED_STREAM, false);
        }
    }
}

static void take_reset(struct h2_session *s, const struct h2_frame *f)
{
    struct h2_stream *st = h2_stream_find(s, f->id);

    s->resets_of_peer++;
    if (is_idle(s, f->id))
        h2_session_fail(s, H2_E_PROTOCOL_ERROR);
    else if (st)
        h2_stream_close(st, h2_number(s->reader.fields), false);
    /* a server can reset no more streams than we begin, and that is an answer */
    if (!st || !s->is_client)
        (void)h2_session_pay(s, H2_PRICE_RESET);
}

static void open_window(struct h2_session *s, uint32_t by)
{
    if (by == 0)
        h2_session_fail(s, H2_E_PROTOCOL_ERROR);
    else if ((int64_t)s->window + by > H2_WINDOW_MAX)
        h2_session_fail(s, H2_E_FLOW_CONTROL_ERROR);
    else
        s->window += (int32_t)by;
}

static void take_window_update(struct h2_session *s, const struct h2_frame *f)
{
    uint32_t by = h2_number31(s->reader.fields);
    struct h2_stream *st = f->id > 0 ? h2_stream_find(s, f->id) : NULL;

    (void)h2_session_pay(s, H2_PRICE_WINDOW);
    if (f->id == 0)
        open_window(s, by);
    else if (is_idle(s, f->id))
        h2_session_fail(s, H2_E_PROTOCOL_ERROR);
    else if (st && by == 0)
        h2_stream_refuse(st, H2_E_PROTOCOL_ERROR);
    else if (st && !h2_stream_open_window(st, by))
        h2_stream_refuse(st, H2_E_FLOW_CONTROL_ERROR);
}

/* @return false: it is another one, or was not asked for */
static bool take_measure(struct h2_session *s)
{
    if (s->asked_ms < 0 || memcmp(s->reader.fields, h2_measuring, sizeof(h2_measuring)) != 0)
        return false;
    take_sample(s, s->now_ms - s->asked_ms);
    s->asked_ms = -1;
    s->samples += s->samples < H2_SAMPLES;
    return true;
}

static void take_ping(struct h2_session *s, const struct h2_frame *f)
{
    bool is_answer = f->flags & H2_FLAG_ACK;

    if (is_answer && take_measure(s))
        return;
    s->was_pinged = s->was_pinged || is_answer;
    if (h2_session_pay(s, H2_PRICE_PING) && !is_answer)
        h2_send_ping(s, s->reader.fields, H2_FLAG_ACK);
}

/* RFC 9218 section 7.1; it may come before its stream. */
static void take_priority_update(struct h2_session *s)
{
    const uint8_t *fields = s->reader.fields;
    uint32_t id = h2_number31(fields);
    struct h2_stream *st = h2_stream_find(s, id);
    struct h2_priority priority = {.urgency = H2_URGENCY};

    if (id % 2 == 0 || s->is_client) { /* servers send none */
        h2_session_fail(s, H2_E_PROTOCOL_ERROR);
        return;
    }
    h2_priority_read(&priority, (struct mk_str){(const char *)fields + 4, s->reader.need - 4U});
    if (st) {
        h2_stream_set_priority(st, priority);
    } else if (id > s->newest) {
        s->early = priority;
        s->early_id = id;
    }
}

static void begin_frame(struct h2_session *s)
{
    const struct h2_frame *f = &s->reader.frame;

    switch (f->type) {
    case H2_DATA:
        begin_data(s, f);
        break;
    case H2_HEADERS:
        begin_headers(s, f);
        break;
    case H2_RST_STREAM:
        take_reset(s, f);
        break;
    case H2_SETTINGS:
        s->next_window = s->peer_window;
        break;
    case H2_GOAWAY:
        take_goaway(s);
        (void)h2_session_pay(s, H2_PRICE_IDLE);
        break;
    case H2_PUSH_PROMISE: /* clients send none, and we want none (RFC 9113 section 8.4 and 6.5.2) */
        h2_session_fail(s, H2_E_PROTOCOL_ERROR);
        break;
    case H2_PING:
        take_ping(s, f);
        break;
    case H2_WINDOW_UPDATE:
        take_window_update(s, f);
        break;
    case H2_PRIORITY:
        if (depends_on_itself(s->reader.fields, f->id))
            h2_session_fail(s, H2_E_PROTOCOL_ERROR);
        (void)h2_session_pay(s, H2_PRICE_IDLE);
        break;
    case H2_PRIORITY_UPDATE:
        take_priority_update(s);
        (void)h2_session_pay(s, H2_PRICE_IDLE);
        break;
    default: /* CONTINUATION, and types that nobody knows (RFC 9113 section 5.5) */
        (void)h2_session_pay(s, H2_PRICE_IDLE);
    }
}

static void take_piece(struct h2_session *s)
{
    if (s->reader.frame.type == H2_DATA)
        take_data(s, s->reader.piece, s->reader.piece_len);
    else
        h2_block_take(s, s->reader.piece, s->reader.piece_len);
}

static void end_frame(struct h2_session *s)
{
    const struct h2_frame *f = &s->reader.frame;

    if (f->type == H2_DATA)
        end_data(s, f);
    else if (f->type == H2_SETTINGS)
        end_settings(s, f);
    else if ((f->type == H2_HEADERS || f->type == H2_CONTINUATION) &&
             f->flags & H2_FLAG_END_HEADERS)
        h2_block_end(s);
}

void h2_session_receive(struct h2_session *s, const uint8_t *bytes, size_t len)
{
    while (!s->is_over && !s->is_lost) {
        switch (h2_reader_next(&s->reader, &bytes, &len)) {
        case H2_MORE:
            return;
        case H2_BEGIN:
            begin_frame(s);
            break;
        case H2_PIECE:
            take_piece(s);
            break;
        case H2_ENTRY:
            take_setting(s, s->reader.fields);
            break;
        case H2_END:
            end_frame(s);
            break;
        case H2_INVALID:
            h2_session_fail(s, s->reader.error);
            return;
        }
    }
}
