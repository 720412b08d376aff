/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP2_CONN_H
#define HTTP2_CONN_H

#include "blocks.h"
#include "credit.h"
#include "local.h"
#include "stream.h"
#include "watch.h"

/** X(NAME, sentence) */
#define H2_CONN_STATES(X)                                                                          \
    X(OPEN, "requests are welcome")                                                                \
    X(NOTICED, "the server stops: its client was told, requests on their way are taken")           \
    X(LEAVING, "no further request is taken; those under way are answered")                        \
    X(OVER, "its session is terminated: what waits is sent, then it is closed")

enum h2_conn_state {
#define H2_CONN_ENUM(name, sentence) H2_CONN_##name,
    H2_CONN_STATES(H2_CONN_ENUM)
#undef H2_CONN_ENUM
};

/** A connection that speaks HTTP/2. Its server's part is the mk_conn; when its stream breaks, it goes. */
struct h2_conn {
    struct h2_local *local;
    struct mk_conn *conn;
    struct mk_stream *stream;
    nghttp2_session *session;
    struct h2_blocks blocks; /* of the session */
    struct h2_stream *streams;
    struct h2_text left; /* bytes that the kernel did not take */
    struct h2_credit credit;
    struct h2_watch watch;
    int64_t moved_ms;                 /* when the client last took bytes, or a wait for it began */
    int64_t idle_ms;                  /* since when it has no stream */
    size_t max_head;                  /* bytes of a request's */
    size_t held, booked;              /* in texts of it and its streams; as its server knows it */
    unsigned nrequests, max_requests; /* begun so far; MaxKeepAliveRequest */
    unsigned nstreams, njoined;       /* all of them; those that handlers took */
    int32_t window,
        consumed;    /* of all bodies: how much may be under way, and came since that grew */
    int32_t widened; /* by how much the windows of its streams have grown */
    uint8_t state;   /* enum h2_conn_state */
    uint8_t depth;   /* calls of nghttp2 that are under way */
    bool has_ended;  /* its client sends no more */
    bool is_broken;  /* a call of nghttp2 failed: its session is not used any more */
    bool is_lost;    /* its stream is broken: it goes when depth is 0 */
    bool is_pinged;  /* an answer to our PING is awaited */
};

/** mk_protocol.begin */
int h2_conn_begin(const struct mk_context *ctx, struct mk_conn *conn, struct mk_stream *stream);

/** There is something to send. */
void h2_conn_wake(struct h2_conn *c);
/** A cheap frame came. @return false: too many; the session is terminated. */
bool h2_conn_pay(struct h2_conn *c, enum h2_price what);
/** A fault of the connection: its session is terminated. */
void h2_conn_fail(struct h2_conn *c, uint32_t code);
int64_t h2_conn_now_ms(const struct h2_conn *c);

/** The callbacks of all sessions. @return NULL without memory. */
nghttp2_session_callbacks *h2_session_callbacks(void) MK_MUST_USE;

#endif
