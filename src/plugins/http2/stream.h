/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP2_STREAM_H
#define HTTP2_STREAM_H

#include "kit/h2/session.h"

#include <monkey/protocol.h>

struct http2_conn;

/** A part of a head. */
struct http2_part {
    uint32_t at, len;
};

/** A stream (RFC 9113 section 5): one request and its answer. */
struct http2_stream {
    struct h2_stream base;
    struct http2_stream *next, **at; /* of its connection's */
    struct http2_conn *conn;
    struct mk_exchange *exchange; /* NULL: not begun, or ended */
    struct mk_tunnel *tunnel;     /* a handler took the stream; NULL: none did */
    struct h2_text head;          /* of the request, then its trailers */
    struct h2_text cookie;        /* its crumbs, joined (RFC 9113 section 8.2.3) */
    struct h2_text body;          /* what nobody has read */
    struct h2_text trailers;      /* of the answer */
    struct http2_part method, target, authority, protocol;
    char key[24]; /* of WebSocket, which the answer of HTTP/1.1 proves to know; "": none */
    uint32_t
        text_at; /* of head: its text as HTTP/1.1 has it, from the request line on; parts are before it */
    uint32_t fields_at; /* of head; 0: no field that is not a pseudo-header has come */
    int64_t moved_ms;   /* when its client last took something, or began to be waited for */
    bool expects_continue, takes_trailers;
    bool is_large;   /* its head has more than may be: the rest is not kept */
    bool has_end;    /* its client sends no more, and its reader knows */
    bool is_pulled;  /* inside mk_exchange_pull */
    bool is_connect; /* of CONNECT, extended or not: it has no body, its bytes are the handler's */
    bool is_joined;  /* a handler has it, and has not closed it */
};

/** Of all sessions. */
extern const struct h2_events http2_stream_events;

/** Its request is broken off when it has not ended. */
void http2_stream_free(struct http2_stream *s);
/** Its connection brings no more: a handler that took it reads that, and a request that is not whole never will be. */
void http2_stream_cut_input(struct http2_stream *s);
/** The server stops: a handler that took it is told. */
void http2_stream_stop(struct http2_stream *s);

#endif
