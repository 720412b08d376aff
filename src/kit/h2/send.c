/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/h2/session_int.h"

#include <string.h>

/* Frames that leave: written where they are sent from, or to a text of the session while there is no room. */

static uint8_t *late_room(struct h2_session *s, size_t len)
{
    uint8_t *room = (uint8_t *)h2_text_room(&s->late, len);

    s->is_lost = s->is_lost || !room;
    return room;
}

static bool goes_late(const struct h2_session *s, size_t len)
{
    return !s->out || h2_text_left(&s->late) > 0 || s->out->cap - s->out->used < len;
}

uint8_t *h2_out_room(struct h2_session *s, size_t len)
{
    return goes_late(s, len) ? late_room(s, len) : (uint8_t *)s->out->p + s->out->used;
}

void h2_out_commit(struct h2_session *s, const uint8_t *room, size_t len)
{
    if (s->out && room == (uint8_t *)s->out->p + s->out->used)
        s->out->used += len;
    else
        s->late.len += (uint32_t)len;
}

/* ---- frames of a known size ---- */

static void send_frame(struct h2_session *s, const struct h2_frame *f, const uint8_t *payload)
{
    uint8_t *room = h2_out_room(s, H2_FRAME_HEAD + f->length);

    if (!room)
        return;
    memcpy(h2_frame_write(room, f), payload, f->length);
    h2_out_commit(s, room, H2_FRAME_HEAD + f->length);
}

void h2_send_number(struct h2_session *s, enum h2_type type, uint32_t id, uint32_t number)
{
    uint8_t payload[4];

    (void)h2_put_number(payload, number);
    send_frame(s, &(struct h2_frame){sizeof(payload), id, (uint8_t)type, 0}, payload);
}

void h2_send_goaway(struct h2_session *s, uint32_t last, enum h2_error error)
{
    uint8_t payload[8];

    (void)h2_put_number(h2_put_number(payload, last), error);
    send_frame(s, &(struct h2_frame){sizeof(payload), 0, H2_GOAWAY, 0}, payload);
}

void h2_send_ping(struct h2_session *s, const uint8_t payload[8], uint8_t flags)
{
    send_frame(s, &(struct h2_frame){8, 0, H2_PING, flags}, payload);
}

void h2_send_settings_ack(struct h2_session *s)
{
    send_frame(s, &(struct h2_frame){0, 0, H2_SETTINGS, H2_FLAG_ACK}, (const uint8_t *)"");
}

static uint8_t *put_setting(uint8_t *dst, enum h2_setting id, uint32_t value)
{
    dst[0] = 0;
    dst[1] = (uint8_t)id;
    return h2_put_number(dst + 2, value);
}

static void send_preface(struct h2_session *s)
{
    uint8_t *room = h2_out_room(s, H2_PREFACE_LEN);

    if (!room)
        return;
    memcpy(room, H2_PREFACE, H2_PREFACE_LEN);
    h2_out_commit(s, room, H2_PREFACE_LEN);
}

void h2_send_settings(struct h2_session *s, const struct h2_limits *limits)
{
    uint8_t payload[5 * H2_SETTING], *at = payload;

    if (limits->is_client) {
        send_preface(s);
        at = put_setting(at, H2_SETTINGS_ENABLE_PUSH, 0);
    } else {
        at = put_setting(at, H2_SETTINGS_MAX_CONCURRENT_STREAMS, limits->max_streams);
        at = put_setting(at, H2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1); /* RFC 8441 section 3 */
    }
    at = put_setting(at, H2_SETTINGS_INITIAL_WINDOW_SIZE, (uint32_t)limits->stream_window);
    at = put_setting(at, H2_SETTINGS_MAX_HEADER_LIST_SIZE, limits->max_head);
    at = put_setting(at, H2_SETTINGS_NO_RFC7540_PRIORITIES, 1); /* RFC 9218 section 2.1 */
    send_frame(s, &(struct h2_frame){(uint32_t)(at - payload), 0, H2_SETTINGS, 0}, payload);
}

/* ---- heads ---- */

/* Heads of CONTINUATION that a block of so many bytes may need. */
static size_t continuations(size_t len)
{
    return len / H2_FRAME_MAX * H2_FRAME_HEAD;
}

bool h2_head_begin(struct h2_head *h, struct h2_stream *st, size_t most)
{
    struct h2_session *s = st->session;

    if (h2_stream_is_closed(st) || s->is_over)
        return false;
    most += HPACK_BEGIN_MAX;
    h->stream = st;
    h->begin = h2_out_room(s, H2_FRAME_HEAD + most + continuations(most));
    if (!h->begin)
        return false;
    h->at = hpack_encode_begin(&s->encoder, h->begin + H2_FRAME_HEAD);
    return true;
}

/* A block in as many frames as it takes, from its end, as each begins with a head for which there is no room yet. */
static size_t part(uint8_t *begin, size_t len, uint32_t id, uint8_t flags)
{
    size_t last = len > 0 ? (len - 1) / H2_FRAME_MAX : 0;

    for (size_t i = last + 1; i-- > 0;) {
        size_t at = i * H2_FRAME_MAX;
        struct h2_frame f = {
            .length = (uint32_t)(i == last ? len - at : H2_FRAME_MAX),
            .id = id,
            .type = i == 0 ? H2_HEADERS : H2_CONTINUATION,
            .flags = (uint8_t)((i == last ? H2_FLAG_END_HEADERS : 0) | (i == 0 ? flags : 0))};
        uint8_t *frame = begin + i * (H2_FRAME_HEAD + H2_FRAME_MAX);

        memmove(frame + H2_FRAME_HEAD, begin + H2_FRAME_HEAD + at, f.length);
        (void)h2_frame_write(frame, &f);
    }
    return len + (last + 1) * H2_FRAME_HEAD;
}

/* Our side has ended. */
static void end_output(struct h2_stream *st)
{
    st->sending = H2_SENDING_NOTHING;
    h2_stream_line_up(st);
    if (st->state == H2_STREAM_HALF_REMOTE) {
        h2_stream_close(st, H2_E_NO_ERROR, false);
        return;
    }
    h2_stream_turn_to(st, H2_STREAM_HALF_LOCAL);
    st->session->events->answered(st);
}

void h2_head_end(struct h2_head *h, enum h2_follows follows)
{
    struct h2_stream *st = h->stream;
    size_t len = (size_t)(h->at - h->begin) - H2_FRAME_HEAD;

    len = part(h->begin, len, st->id, follows == H2_FOLLOWS_NOTHING ? H2_FLAG_END_STREAM : 0);
    h2_out_commit(st->session, h->begin, len);
    if (follows == H2_FOLLOWS_NOTHING) {
        end_output(st);
    } else if (follows == H2_FOLLOWS_BODY) {
        st->sending = H2_SENDING_READY;
        h2_stream_line_up(st);
    }
}

/* ---- bodies ---- */

static size_t most_data(const struct h2_stream *st)
{
    int32_t most = st->window < st->session->window ? st->window : st->session->window;

    return most < H2_FRAME_MAX ? (size_t)most : H2_FRAME_MAX;
}

static void starve(struct h2_stream *st, ssize_t err)
{
    if (err == MK_E_AGAIN) {
        st->sending = H2_SENDING_STARVED;
        h2_stream_line_up(st);
    } else {
        h2_stream_reset(st, H2_E_INTERNAL_ERROR);
    }
}

/* The frame's bytes are there; 0 bytes without an end are no frame. */
static void commit_data(struct h2_stream *st, uint8_t *room, size_t len, enum h2_last last)
{
    struct h2_session *s = st->session;
    struct h2_frame f = {.length = (uint32_t)len,
                         .id = st->id,
                         .type = H2_DATA,
                         .flags = last == H2_LAST_END ? H2_FLAG_END_STREAM : 0};

    if (len == 0 && last != H2_LAST_END)
        return;
    (void)h2_frame_write(room, &f);
    s->out->used += H2_FRAME_HEAD + len;
    s->window -= (int32_t)len;
    st->window -= (int32_t)len;
    h2_stream_line_up(st);
    h2_turns_pass(&s->turns, &st->turn);
}

/* What a body ends with. Trailers that are none end it by an empty frame. */
static void end_body(struct h2_stream *st, uint8_t *room, enum h2_last last)
{
    if (last == H2_LAST_TRAILERS && !h2_stream_is_closed(st)) {
        if (st->session->events->trailers(st))
            return;
        room = (uint8_t *)st->session->out->p + st->session->out->used;
        commit_data(st, room, 0, H2_LAST_END);
    }
    if (!h2_stream_is_closed(st))
        end_output(st);
}

/* Of a server, frames that windows cut earn nothing: a client could have any number of them. */
static void earn(const struct h2_stream *st, size_t len)
{
    struct h2_session *s = st->session;

    if (s->is_client)
        h2_credit_move(&s->credit, len); /* a server's owner does */
    if (s->is_client || (len > 0 && st->window > 0 && s->window > 0))
        h2_credit_earn(&s->credit, H2_CREDIT_A_SENT);
}

static void write_data(struct h2_session *s, struct h2_stream *st)
{
    struct h2_out *out = s->out;
    uint8_t *room = (uint8_t *)out->p + out->used;
    enum h2_last last = H2_LAST_NOT;
    ssize_t n;

    s->out = NULL; /* whatever its owner writes meanwhile comes after this frame */
    n = s->events->give(st, (char *)room + H2_FRAME_HEAD, most_data(st), &last);
    s->out = out;
    if (h2_stream_is_closed(st))
        return;
    if (n < 0) {
        starve(st, n);
        return;
    }
    commit_data(st, room, (size_t)n, last);
    earn(st, (size_t)n);
    if (last != H2_LAST_NOT)
        end_body(st, room, last);
}

static bool has_room(const struct h2_out *out)
{
    return out->cap - out->used >= 2 * H2_FRAME_HEAD + H2_FRAME_MAX;
}

static void write_late(struct h2_session *s)
{
    struct h2_out *out = s->out;

    out->used += h2_text_take(&s->late, out->p + out->used, out->cap - out->used);
}

static struct h2_stream *whose_turn(const struct h2_session *s)
{
    struct h2_turn *turn = s->window > 0 && !s->is_over ? h2_turns_next(&s->turns) : NULL;

    return turn ? (struct h2_stream *)((char *)turn - offsetof(struct h2_stream, turn)) : NULL;
}

bool h2_session_has_output(const struct h2_session *s)
{
    return h2_text_left(&s->late) > 0 || whose_turn(s) != NULL;
}

bool h2_session_write(struct h2_session *s)
{
    write_late(s);
    while (!s->is_lost && has_room(s->out)) {
        struct h2_stream *st = whose_turn(s);

        if (!st)
            return h2_text_left(&s->late) > 0;
        write_data(s, st);
        write_late(s);
    }
    return !s->is_lost && h2_session_has_output(s);
}
