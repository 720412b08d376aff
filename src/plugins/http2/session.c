/* SPDX-License-Identifier: Apache-2.0 */
#include "conn.h"

/* What nghttp2 tells of frames. A failed callback ends the session, so each fault of a stream resets that alone. */

static struct h2_stream *find(struct h2_conn *c, int32_t id)
{
    return nghttp2_session_get_stream_user_data(c->session, id);
}

static int reset_for(struct h2_conn *c, int32_t id, int err)
{
    uint32_t code = err == MK_E_NOMEM ? NGHTTP2_INTERNAL_ERROR : NGHTTP2_PROTOCOL_ERROR;

    if (err == 0)
        return 0;
    (void)h2_conn_pay(c, H2_PRICE_FAULT);
    (void)nghttp2_submit_rst_stream(c->session, NGHTTP2_FLAG_NONE, id, code);
    return 0;
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    struct h2_conn *c = user;
    struct h2_stream *s;

    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST)
        return 0;
    c->watch.newest = frame->hd.stream_id;
    c->nrequests++;
    s = h2_stream_new(c, frame->hd.stream_id);
    if (!s) {
        (void)h2_conn_pay(c, H2_PRICE_REFUSAL);
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    }
    return nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, s);
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_len, const uint8_t *value, size_t value_len, uint8_t flags,
                     void *user)
{
    struct h2_conn *c = user;
    struct h2_stream *s = find(c, frame->hd.stream_id);
    int err;

    (void)session, (void)flags;
    if (!s)
        return 0;
    err = h2_stream_field(s, (struct mk_str){(const char *)name, name_len},
                          (struct mk_str){(const char *)value, value_len});
    if (err == 0)
        return 0;
    (void)reset_for(c, frame->hd.stream_id, err);
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

static int take_headers(struct h2_conn *c, const nghttp2_frame *frame)
{
    struct h2_stream *s = find(c, frame->hd.stream_id);
    bool has_end = frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
    int err;

    if (!s)
        return 0;
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) {
        h2_stream_end_input(s);
        return 0;
    }
    s->has_end = has_end;
    err = h2_stream_begin(s);
    if (err != MK_E_NOMEM)
        return reset_for(c, s->id, err);
    /* It may be sent again (RFC 9113 section 8.7). */
    (void)h2_conn_pay(c, H2_PRICE_REFUSAL);
    (void)nghttp2_submit_rst_stream(c->session, NGHTTP2_FLAG_NONE, s->id, NGHTTP2_REFUSED_STREAM);
    return 0;
}

static int take_data(struct h2_conn *c, const nghttp2_frame *frame)
{
    struct h2_stream *s = find(c, frame->hd.stream_id);

    if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) {
        if (s)
            h2_stream_end_input(s);
    } else if (frame->hd.length == frame->data.padlen) {
        (void)h2_conn_pay(c, H2_PRICE_EMPTY);
    }
    return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    struct h2_conn *c = user;

    (void)session;
    switch (frame->hd.type) {
    case NGHTTP2_HEADERS:
        return take_headers(c, frame);
    case NGHTTP2_DATA:
        return take_data(c, frame);
    case NGHTTP2_RST_STREAM:
        h2_count(c->local->row, H2_COUNT_RESETS_OF_CLIENTS, 1);
        (void)h2_conn_pay(c, H2_PRICE_RESET);
        return 0;
    case NGHTTP2_SETTINGS:
        if (!(frame->hd.flags & NGHTTP2_FLAG_ACK))
            (void)h2_conn_pay(c, H2_PRICE_SETTINGS);
        return 0;
    case NGHTTP2_PING:
        if (frame->hd.flags & NGHTTP2_FLAG_ACK)
            c->is_pinged = false;
        (void)h2_conn_pay(c, H2_PRICE_PING);
        return 0;
    case NGHTTP2_WINDOW_UPDATE:
        (void)h2_conn_pay(c, H2_PRICE_WINDOW);
        return 0;
    default:
        return 0;
    }
}

static int on_begin_frame(nghttp2_session *session, const nghttp2_frame_hd *hd, void *user)
{
    struct h2_conn *c = user;
    h2_fault fault = 0;

    (void)session;
    if (hd->type == NGHTTP2_HEADERS && !find(c, hd->stream_id))
        fault = h2_watch_closed(&c->watch, hd->stream_id, false);
    if (fault)
        h2_conn_fail(c, fault);
    return 0;
}

/*
 * The connection's window bounds what is under way, and is given back as bytes come: what waits to be read is bounded by the
 * windows of streams, so that one that nobody reads keeps no other one from being read (RFC 9113 section 5.2.2).
 */
static int renew(struct h2_conn *c, size_t len)
{
    int32_t most = (int32_t)c->local->set.connection_window;

    if (nghttp2_session_consume_connection(c->session, len) == NGHTTP2_ERR_NOMEM)
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    c->consumed += (int32_t)len;
    if (c->consumed < c->window || c->window > most / 2)
        return 0;
    c->window *= 2;
    c->consumed = 0;
    (void)nghttp2_session_set_local_window_size(c->session, NGHTTP2_FLAG_NONE, 0, c->window);
    return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *bytes,
                   size_t len, void *user)
{
    struct h2_conn *c = user;
    struct h2_stream *s = find(c, id);

    (void)session, (void)flags;
    h2_credit_move(&c->credit, len);
    if (renew(c, len) != 0)
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    return s ? reset_for(c, id, h2_stream_take(s, bytes, len)) : 0;
}

/* A frame that is malformed in a way that ends its stream alone. */
static int on_invalid_frame(nghttp2_session *session, const nghttp2_frame *frame, int code,
                            void *user)
{
    (void)session, (void)frame, (void)code;
    (void)h2_conn_pay(user, H2_PRICE_FAULT);
    return 0;
}

static bool ends_our_side(const nghttp2_frame *frame)
{
    return (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
           frame->hd.flags & NGHTTP2_FLAG_END_STREAM;
}

static int on_sent(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    struct h2_conn *c = user;
    struct h2_stream *s = find(c, frame->hd.stream_id);
    bool is_reset = frame->hd.type == NGHTTP2_RST_STREAM;

    (void)session;
    if (is_reset)
        h2_count(c->local->row, H2_COUNT_RESETS_OF_OURS, 1);
    if (s && is_reset)
        s->is_reset = true;
    if (s && ends_our_side(frame)) {
        s->is_answered = true;
        h2_stream_rest(s);
    }
    return 0;
}

static int on_close(nghttp2_session *session, int32_t id, uint32_t code, void *user)
{
    struct h2_stream *s = find(user, id);

    (void)code;
    if (!s)
        return 0;
    h2_watch_end(&s->conn->watch, id, s->is_reset && !s->has_end);
    (void)nghttp2_session_set_stream_user_data(session, id, NULL);
    h2_stream_free(s);
    return 0;
}

/* The bytes lie behind the room for their frame's head already. */
static int on_send_data(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *head,
                        size_t length, nghttp2_data_source *source, void *user)
{
    struct h2_local *l = ((struct h2_conn *)user)->local;

    (void)session, (void)frame, (void)source;
    memcpy(l->out + l->used, head, H2_FRAME_HEAD);
    l->used += H2_FRAME_HEAD + length;
    l->has_data = true;
    return NGHTTP2_ERR_PAUSE; /* one frame a call: is there room for another? */
}

nghttp2_session_callbacks *h2_session_callbacks(void)
{
    nghttp2_session_callbacks *cb;

    if (nghttp2_session_callbacks_new(&cb) != 0)
        return NULL;
    nghttp2_session_callbacks_set_on_begin_headers_callback(cb, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(cb, on_header);
    nghttp2_session_callbacks_set_on_frame_recv_callback(cb, on_frame);
    nghttp2_session_callbacks_set_on_begin_frame_callback(cb, on_begin_frame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(cb, on_data);
    nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(cb, on_invalid_frame);
    nghttp2_session_callbacks_set_on_frame_send_callback(cb, on_sent);
    nghttp2_session_callbacks_set_on_stream_close_callback(cb, on_close);
    nghttp2_session_callbacks_set_send_data_callback(cb, on_send_data);
    return cb;
}
