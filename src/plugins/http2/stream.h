/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP2_STREAM_H
#define HTTP2_STREAM_H

#include "text.h"

#include <monkey/protocol.h>

#include <nghttp2/nghttp2.h>

struct h2_conn;

/** How a stream's request stands. X(NAME, sentence) */
#define H2_STREAM_STATES(X)                                                                        \
    X(HEAD, "its head arrives")                                                                    \
    X(ASKED, "its request is answered; no final head yet")                                         \
    X(SENDING, "a body leaves when its client takes it")                                           \
    X(STARVED, "a body leaves; its source has nothing now")                                        \
    X(ENDED, "all of its answer is with nghttp2, or it is given up")

enum h2_stream_state {
#define H2_STREAM_ENUM(name, sentence) H2_STREAM_##name,
    H2_STREAM_STATES(H2_STREAM_ENUM)
#undef H2_STREAM_ENUM
};

/** A part of a head. */
struct h2_part {
    uint32_t at, len;
};

/** A stream (RFC 9113 section 5): one request and its answer. */
struct h2_stream {
    struct h2_stream *next, **at; /* of its connection's */
    struct h2_conn *conn;
    struct mk_exchange *exchange; /* NULL: not begun, or ended */
    struct mk_tunnel *tunnel;     /* a handler took the stream; NULL: none did */
    struct h2_text head;          /* of the request, then its trailers */
    struct h2_text cookie;        /* its crumbs, joined (RFC 9113 section 8.2.3) */
    struct h2_text body;          /* what nobody has read */
    struct h2_text trailers;      /* of the answer */
    struct h2_part method, target, authority, protocol;
    char key[24];       /* of WebSocket, which the answer of HTTP/1.1 proves to know; "": none */
    uint32_t fields_at; /* of head; 0: no field that is not a pseudo-header has come */
    int32_t id;
    int32_t window, consumed; /* how much of its body may wait here; was read since that grew */
    int64_t content_length;   /* -1: unknown */
    int64_t moved_ms;         /* when its client last took something, or began to be waited for */
    uint8_t state;            /* enum h2_stream_state */
    bool expects_continue, takes_trailers;
    bool is_large;    /* its head has more than may be: the rest is not kept */
    bool has_end;     /* its client sends no more */
    bool is_pulled;   /* inside mk_exchange_pull */
    bool is_connect;  /* of CONNECT, extended or not: it has no body, its bytes are the handler's */
    bool is_joined;   /* a handler has it, and has not closed it */
    bool is_reset;    /* by us */
    bool is_answered; /* the frame that ends our side was written */
};

/** A head begins. @return NULL without memory. */
struct h2_stream *h2_stream_new(struct h2_conn *c, int32_t id) MK_MUST_USE;
/** Its request is broken off when it has not ended. */
void h2_stream_free(struct h2_stream *s);

/** A field of its head, or of its trailers. @return 0; MK_E_BAD: malformed (RFC 9113 section 8.1.1); MK_E_NOMEM. */
int h2_stream_field(struct h2_stream *s, struct mk_str name, struct mk_str value) MK_MUST_USE;
/** Its head is complete: the request begins. @return 0; MK_E_BAD, MK_E_NOMEM: it is to be reset. */
int h2_stream_begin(struct h2_stream *s) MK_MUST_USE;
/** Bytes of its body came. @return 0 or MK_E_NOMEM. */
int h2_stream_take(struct h2_stream *s, const uint8_t *bytes, size_t len) MK_MUST_USE;
/** Its client sends no more. */
void h2_stream_end_input(struct h2_stream *s);
/** Its answer has left. What its client still sends of the body nobody reads: it is reset (RFC 9113 section 8.1), but a tunnel,
    whose client ends its own side. */
void h2_stream_rest(struct h2_stream *s);
/** The server stops: a handler that took it is told. */
void h2_stream_stop(struct h2_stream *s);

/** nghttp2_data_source_read_callback. */
ssize_t h2_stream_give(nghttp2_session *session, int32_t id, uint8_t *buf, size_t length,
                       uint32_t *flags, nghttp2_data_source *source, void *user);

#endif
