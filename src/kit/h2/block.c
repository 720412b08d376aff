/* SPDX-License-Identifier: Apache-2.0 */
#include "kit/h2/session_int.h"

#include <string.h>

/* Field blocks (RFC 9113 section 4.3): all are decoded, those that nobody reads too, for the dynamic table's sake. */

/* Bytes of a field at most, as it comes: Huffman's longest codes have 30 bits. */
enum { FIELD_CODED_MAX = 4 * HPACK_FIELD_MAX };

/* Streams that are begun say how urgent they are (RFC 9218 section 5); responses say it to others than us (section 8). */
static void see_priority(struct h2_stream *st, const struct hpack_field *f)
{
    struct h2_priority priority = st->turn.priority;

    if (st->message.is_trailer || f->name.len != 8 || memcmp(f->name.p, "priority", 8) != 0 ||
        st->message.is_response)
        return;
    st->session->again.may_keep = false; /* what its owner keeps has no urgency */
    h2_priority_read(&priority, f->value);
    h2_stream_set_priority(st, priority);
}

/* Three digits, as h2_message_field has seen. */
static uint16_t read_status(struct mk_str v)
{
    return (uint16_t)((v.p[0] - '0') * 100 + (v.p[1] - '0') * 10 + (v.p[2] - '0'));
}

static void give_field(struct h2_session *s, const struct hpack_field *f)
{
    struct h2_stream *st = s->current;
    enum h2_field kind;
    int err;

    if (!st) { /* it costs work all the same */
        (void)h2_session_pay(s, H2_PRICE_FIELD);
        return;
    }
    kind = h2_message_field(&st->message, f);
    if (kind == H2_FIELD_MALFORMED) {
        h2_stream_refuse(st, H2_E_PROTOCOL_ERROR);
        return;
    }
    if (kind == H2_FIELD_OTHER)
        see_priority(st, f);
    else if (kind == H2_FIELD_STATUS)
        st->status = read_status(f->value);
    err = s->events->field(st, kind, f);
    if (err < 0)
        h2_stream_refuse(st, err == MK_E_NOMEM ? H2_E_INTERNAL_ERROR : H2_E_PROTOCOL_ERROR);
}

static void fail(struct h2_session *s, ssize_t err)
{
    h2_session_fail(s, err == MK_E_NOMEM ? H2_E_INTERNAL_ERROR : H2_E_COMPRESSION_ERROR);
}

/* @return bytes of whole fields. */
static size_t decode(struct h2_session *s, const uint8_t *bytes, size_t len)
{
    size_t at = 0;

    while (at < len && !s->is_over) {
        struct hpack_field f;
        ssize_t n = hpack_decode(&s->decoder, bytes + at, len - at, s->room, &f);

        if (n == 0)
            break;
        if (n < 0) {
            fail(s, n);
            break;
        }
        at += (size_t)n;
        if (f.name.p)
            give_field(s, &f);
    }
    return at;
}

static void keep(struct h2_session *s, const uint8_t *bytes, size_t len)
{
    int err = h2_text_append(&s->part, bytes, len, FIELD_CODED_MAX);

    if (err < 0)
        fail(s, err);
}

/* ---- the same block again ---- */

/* Did nothing of this block come before? */
static bool is_beginning(const struct h2_session *s)
{
    return !s->decoder.has_field && s->decoder.nchanges == 0 && h2_text_left(&s->part) == 0;
}

/* Are these bytes all of a request's head, and few enough? */
static bool is_whole(const struct h2_session *s, size_t len)
{
    return len <= H2_AGAIN_MAX && s->reader.body == 0 && s->reader.block_of == 0 &&
           is_beginning(s) && s->current && !s->current->message.is_trailer && s->events->again;
}

static bool has_table(const struct h2_session *s)
{
    return s->again.inserted == s->decoder.table.inserted &&
           s->again.count == s->decoder.table.count;
}

static bool is_again(const struct h2_session *s, const uint8_t *bytes, size_t len)
{
    const struct h2_again *again = &s->again;

    return again->len == len && memcmp(again->bytes, bytes, len) == 0 && has_table(s);
}

static void note(struct h2_session *s, const uint8_t *bytes, size_t len)
{
    struct h2_again *again = &s->again;

    memcpy(again->bytes, bytes, len);
    again->len = (uint8_t)len;
    again->number = 0;
    again->inserted = s->decoder.table.inserted;
    again->count = s->decoder.table.count;
}

/* @return whether its fields are told. Most blocks come once, so that they are kept when they come the second time. */
static bool repeat(struct h2_session *s, const uint8_t *bytes, size_t len)
{
    struct h2_again *again = &s->again;

    if (!is_again(s, bytes, len)) {
        note(s, bytes, len);
        return false;
    }
    again->may_keep = again->number == 0 || !s->events->again(s->current, again->number);
    if (!again->may_keep)
        s->current->message = again->message;
    return !again->may_keep;
}

bool h2_stream_may_keep(const struct h2_stream *st)
{
    const struct h2_session *s = st->session;

    return s->again.may_keep && s->decoder.nchanges == 0 && has_table(s);
}

void h2_stream_keep(struct h2_stream *st, uint64_t number)
{
    struct h2_again *again = &st->session->again;

    again->number = number;
    again->message = st->message;
}

/* ---- blocks ---- */

void h2_block_take(struct h2_session *s, const uint8_t *bytes, size_t len)
{
    size_t used;

    s->again.may_keep = false;
    if (is_whole(s, len) && repeat(s, bytes, len))
        return;
    if (h2_text_left(&s->part) == 0) {
        used = decode(s, bytes, len);
        if (!s->is_over && used < len)
            keep(s, bytes + used, len - used);
        return;
    }
    keep(s, bytes, len);
    if (!s->is_over)
        h2_text_use(&s->part,
                    decode(s, (const uint8_t *)s->part.p + s->part.at, h2_text_left(&s->part)));
}

static void end_trailers(struct h2_stream *st)
{
    const struct h2_events *events = st->session->events;

    h2_stream_end_input(st);
    events->end(st);
}

/* RFC 9113 section 8.1.1: the length must be that of what follows. */
static bool has_its_length(const struct h2_stream *st, bool ends)
{
    return !ends || st->message.content_length <= 0;
}

static void end_head(struct h2_stream *st, bool ends)
{
    int err;

    if (!h2_message_is_whole(&st->message) || !has_its_length(st, ends)) {
        h2_stream_refuse(st, H2_E_PROTOCOL_ERROR);
        return;
    }
    st->to_come = st->message.content_length;
    h2_stream_turn_to(st, ends ? H2_STREAM_HALF_REMOTE : H2_STREAM_OPEN);
    err = st->session->events->head(st);
    if (err == MK_E_NOMEM) {
        h2_stream_reset(st, H2_E_REFUSED_STREAM);
        (void)h2_session_pay(st->session, H2_PRICE_REFUSAL);
    } else if (err < 0) {
        h2_stream_refuse(st, H2_E_PROTOCOL_ERROR);
    }
}

/* ---- heads of responses ---- */

/* RFC 9113 section 8.1.1, RFC 9110 section 6.4.1: the length is that of another response, and nothing may follow. */
static bool has_no_content(const struct h2_stream *st)
{
    return st->is_head || st->status == 204 || st->status == 304;
}

/* Its Content-Length means nothing (RFC 9110 section 9.3.6), and no trailers follow (RFC 9113 section 8.5). */
static bool opens_tunnel(const struct h2_stream *st)
{
    return st->is_connect && st->status / 100 == 2;
}

/* One that has ended on both sides is told by its error alone. */
static void tell_head(struct h2_stream *st)
{
    int err = st->session->events->head(st);
    enum h2_error error = err == MK_E_NOMEM ? H2_E_INTERNAL_ERROR : H2_E_PROTOCOL_ERROR;

    if (err < 0 && h2_stream_is_closed(st))
        st->error = error;
    else if (err < 0)
        h2_stream_refuse(st, error);
}

/* RFC 9113 section 8.1 and 8.6. */
static void end_interim(struct h2_stream *st, bool ends)
{
    if (ends || st->status == 101)
        h2_stream_refuse(st, H2_E_PROTOCOL_ERROR);
    else if (h2_session_pay(st->session, H2_PRICE_INTERIM))
        tell_head(st);
}

static void end_final(struct h2_stream *st, bool ends)
{
    st->message.is_connect = opens_tunnel(st);
    st->to_come = st->message.is_connect ? -1 : has_no_content(st) ? 0 : st->message.content_length;
    if (ends && st->to_come > 0) {
        h2_stream_refuse(st, H2_E_PROTOCOL_ERROR);
        return;
    }
    h2_credit_earn(&st->session->credit, H2_CREDIT_A_REQUEST);
    if (ends)
        h2_stream_end_input(st);
    tell_head(st);
}

static void end_response(struct h2_stream *st, bool ends)
{
    if (!h2_message_is_whole(&st->message))
        h2_stream_refuse(st, H2_E_PROTOCOL_ERROR);
    else if (h2_stream_awaits_head(st))
        end_interim(st, ends);
    else
        end_final(st, ends);
}

void h2_block_end(struct h2_session *s)
{
    struct h2_stream *st = s->current;

    if (h2_text_left(&s->part) > 0) {
        fail(s, MK_E_BAD);
        return;
    }
    s->current = NULL;
    if (!st) {
        (void)h2_session_pay(s, H2_PRICE_IDLE);
        return;
    }
    if (st->message.is_trailer)
        end_trailers(st);
    else if (s->is_client)
        end_response(st, s->ends_stream);
    else
        end_head(st, s->ends_stream);
}
