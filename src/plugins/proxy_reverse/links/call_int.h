/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PROXY_CALL_INT_H
#define PROXY_CALL_INT_H

#include "links/call.h"

#include "kit/h2/channel.h"

#include <monkey/events.h>

struct proxy_conn;

#define PROXY_CALL_TO(state) (1U << PROXY_CALL_##state)

/** X(NAME, name, next, sentence) */
#define PROXY_CALL_STATES(X)                                                                       \
    X(WAITING, "waiting", PROXY_CALL_TO(READY) | PROXY_CALL_TO(OVER), "for a connection")          \
    X(READY, "ready", PROXY_CALL_TO(OPEN) | PROXY_CALL_TO(OVER),                                   \
      "it has a connection, and no stream of it")                                                  \
    X(OPEN, "open", PROXY_CALL_TO(OVER), "it has a stream")                                        \
    X(OVER, "over", 0, "its stream has closed, or its connection is lost")

enum proxy_call_state {
#define PROXY_CALL_ENUM(name, ...) PROXY_CALL_##name,
    PROXY_CALL_STATES(PROXY_CALL_ENUM)
#undef PROXY_CALL_ENUM
        PROXY_CALL_COUNT
};

extern const struct states proxy_call_states;

struct proxy_call {
    struct h2_stream base;
    struct proxy_conn *conn;            /* NULL: lost */
    struct proxy_call *next, **at;      /* of its connection's */
    struct proxy_call *told, **told_at; /* of those that are to be told; told_at NULL: it is not */
    proxy_called_fn called;             /* NULL: was called */
    mk_stream_fn fn;
    void *arg;
    struct mk_worker *worker;
    struct mk_alarm *alarm; /* NULL: no time was set yet */
    struct h2_text head;    /* of the answer, interim ones too, as HTTP/1 has it */
    struct h2_text body;    /* of the answer, as it came */
    struct h2_text after;   /* its trailers */
    struct h2_text out;     /* of the request's body, as far as it did not leave */
    struct h2_text last;    /* its trailers */
    struct h2_text opening; /* of a tunnel: lines that an answer of HTTP/1 has; empty: it is none */
    int64_t to_send;        /* of it, by its length; -1: until proxy_call_end_body */
    unsigned events;        /* to be told */
    uint8_t state;          /* enum proxy_call_state */
    bool has_length;        /* the answer's head */
    bool has_end;           /* of the answer */
    bool is_opened;         /* so: the tunnel */
    bool is_sent;           /* all of the request was written by its owner */
    bool is_full;           /* out was */
    bool is_held;           /* its owner counts what waits in out */
    bool was_refused;
    bool wants_fresh; /* no connection that was there before it */
    bool is_fresh;    /* its connection was not */
    bool is_traced;   /* changes of its state are logged */
    bool is_put;      /* by its owner: freed when its stream is swept */
};

/** A connection of a worker. */
struct proxy_conn {
    struct h2_channel channel;
    struct proxy_calls *all;
    struct proxy_conn *next, **at;
    struct proxy_call_way way;
    struct mk_upstream_wait *wait;    /* until it is connected */
    struct proxy_call *calls, **last; /* the oldest one first */
    struct proxy_call *told, **told_last;
    unsigned number;                      /* in the log: of its worker's, from 1 */
    unsigned ncalls;                      /* all of them */
    unsigned ncalls_in[PROXY_CALL_COUNT]; /* of them, by their states */
    unsigned timed_ms; /* until its stream's time expires, when that was set; 0: it is not */
    bool
        is_patient; /* its backend has not said how many streams it takes: one call at a time until then */
    bool has_carried; /* a call: one that never did is of no use to those that wait for it */
    bool has_told;    /* those that wait for its backend's settings */
    bool
        is_pinged; /* an answer to our PING is awaited: no further call is made over it meanwhile */
};

struct proxy_calls {
    struct mk_worker *worker;
    struct proxy_conn *conns;
    unsigned nmade;       /* connections so far */
    struct h2_desk *desk; /* NULL: no call was made yet */
    bool is_left;         /* freed with its last connection */
};

extern const struct h2_events proxy_call_events;

void proxy_call_turn_to(struct proxy_call *c, enum proxy_call_state state);
/** It is to be told after the present event of its connection. */
void proxy_call_note(struct proxy_call *c, unsigned events);
/** Tell those that were noted. */
void proxy_conn_tell(struct proxy_conn *conn);
/** Its connection is lost, or could not be made. */
void proxy_call_lose(struct proxy_call *c, int error);
void proxy_call_free(struct proxy_call *c);
/** From the list of its connection. */
void proxy_call_unlink(struct proxy_call *c);

/** One with room for a call is found, or begun. @return NULL: *error */
struct proxy_conn *proxy_conn_for(struct proxy_calls *calls, const struct proxy_call_way *way,
                                  bool fresh, int *error);
void proxy_conn_join(struct proxy_conn *conn, struct proxy_call *c);
void proxy_conn_part(struct proxy_conn *conn, struct proxy_call *c);
/** Is it alive? */
void proxy_conn_doubt(struct proxy_conn *conn);
/** Frames wait to be sent. */
void proxy_conn_wake(struct proxy_conn *conn);

/** A request's head, as HTTP/1 has it. All borrowed from its text. */
struct proxy_call_head {
    struct mk_str method, target, authority;
    struct mk_str fields;   /* lines */
    struct mk_str protocol; /* that Upgrade asks for; p NULL: none. The first one of several */
    struct mk_str key;      /* of WebSocket: WEBSOCKET_KEY_LEN bytes; p NULL: another protocol */
    int64_t to_send;        /* bytes of a body; -1: until it ends */
};

/** @return 0; MK_E_INVALID: it is none, or its key is (RFC 6455 section 4.2.1) */
int proxy_call_read_head(struct proxy_call_head *h, struct mk_str text) MK_MUST_USE;
/** Write it as a field block. @return 0, MK_E_NOMEM */
int proxy_call_write_head(struct h2_stream *st, const struct proxy_call_head *h,
                          bool is_secure) MK_MUST_USE;
/** The lines that tell a client of HTTP/1 of its tunnel (RFC 6455 section 4.2.2). @return 0, MK_E_NOMEM */
int proxy_call_write_opening(struct h2_text *to, const struct proxy_call_head *h) MK_MUST_USE;

#endif
