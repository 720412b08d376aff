/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP2_CONN_H
#define HTTP2_CONN_H

#include "ahead.h"
#include "local.h"
#include "stream.h"

#define HTTP2_CONN_TO(state) (1U << HTTP2_CONN_##state)

/** X(NAME, name, next, sentence) */
#define HTTP2_CONN_STATES(X)                                                                       \
    X(OPEN, "open", HTTP2_CONN_TO(NOTICED), "requests are welcome")                                \
    X(NOTICED, "noticed", HTTP2_CONN_TO(LEAVING),                                                  \
      "the server stops: its client was told, requests on their way are taken")                    \
    X(LEAVING, "leaving", 0, "no further request is taken; those under way are answered")

enum http2_conn_state {
#define HTTP2_CONN_ENUM(name, ...) HTTP2_CONN_##name,
    HTTP2_CONN_STATES(HTTP2_CONN_ENUM)
#undef HTTP2_CONN_ENUM
};

extern const struct states http2_conn_states;

/** A connection that speaks HTTP/2. Its server's part is the mk_conn; when its stream breaks, it goes. */
struct http2_conn {
    struct http2_local *local;
    struct mk_conn *conn;
    struct h2_channel channel;
    struct http2_ahead ahead;
    struct http2_stream *streams;
    int64_t idle_ms;                  /* since when it has no stream */
    int64_t tick_ms;                  /* when it is looked at; 0: no time was set */
    size_t held, booked;              /* in texts of it and its streams; as its server knows it */
    unsigned nrequests, max_requests; /* begun so far; MaxKeepAliveRequest */
    unsigned nstreams, njoined;       /* all of them; those that handlers took */
    uint32_t max_head;                /* bytes of a request's */
    uint8_t state;                    /* enum http2_conn_state */
    bool is_pinged;                   /* an answer to our PING is awaited */
    bool is_counted;                  /* as one that was flooded */
    bool is_traced;                   /* changes of states are logged */
};

static inline struct http2_conn *http2_conn_of(struct h2_session *session)
{
    return (struct http2_conn *)((char *)session - offsetof(struct http2_conn, channel.session));
}

/** mk_protocol.begin */
int http2_conn_begin(const struct mk_context *ctx, struct mk_conn *conn, struct mk_stream *stream);

/** There is something to send. */
void http2_conn_wake(struct http2_conn *c);
int64_t http2_conn_now_ms(const struct http2_conn *c);

#endif
